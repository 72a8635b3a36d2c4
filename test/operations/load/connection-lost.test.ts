import { afterAll, beforeAll, expect, it } from 'vitest';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { type AnyServer, startAnyServer } from '../../helpers/databases/any-server.ts';
import {
  describeWithPostgres,
  eventually,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';

const COPIES = `SELECT pid FROM pg_stat_activity WHERE datname LIKE 'copy.%' AND query ILIKE '%from stdin%'`;

describeWithPostgres('a load whose connection is lost while rows arrive', () => {
  let server: AnyServer;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeAll(async () => {
    [server, folder] = await Promise.all([startAnyServer('postgres'), temporaryFolder()]);
    await server.create('source');
    await server.run('source', [
      'CREATE TABLE item AS SELECT i AS id, md5(i::text) FROM generate_series(1, 1000000) i',
    ]);
    await build(context(), { target: 'app' });
    await server.create('copy');
    await server.run('copy', ['CREATE TABLE mine (id integer)']);
  }, 120_000);

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  function context(report: Context['report'] = () => {}): Context {
    const snapshot = { src_url: server.url('source'), dst_url: server.url('copy') };
    const settings = { working_directory: folder.path, targets: { app: { snapshot } } };
    return { ...testContext({ settings }), report };
  }

  it.each([
    {
      what: 'session of the rows',
      end: async () => void (await server.column('', `SELECT pg_terminate_backend(pid) FROM (${COPIES}) AS found`)),
    },
    { what: 'server', end: () => server.crash() },
  ])('fails when the $what ends, leaves the destination unchanged, and the next load sweeps', async ({ end }) => {
    let ending: Promise<void> | undefined;
    const endWhenCopying = async () => {
      await eventually(async () => (await server.column('', COPIES)).length > 0);
      await end();
    };
    const losing = context((event) => {
      if (event.event === 'step' && event.step === 'restore' && event.state === 'started') ending = endWhenCopying();
    });
    const before = await server.content('copy');
    await expect(applyLoad(losing, await planLoad(losing, { target: 'app' }))).rejects.toMatchObject({
      code: 'connection_lost',
      exit: 4,
      message: expect.stringMatching(/^The connection to postgres:.*\/copy was lost$/),
      hint: expect.stringContaining('Is the server still running?'),
    });
    await ending;
    expect(await server.content('copy')).toBe(before);
    await applyLoad(context(), await planLoad(context(), { target: 'app' }));
    expect(await server.databases()).toEqual(['copy', 'copy.tool-undo', 'source']);
    await server.run('copy', ['CREATE TABLE mine (id integer)']);
  });
});
