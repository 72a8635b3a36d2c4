import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { lazyOperations, type Operations } from '../../screens/app/operations.ts';
import { buildOperation } from '../../src/operations/build/operation.ts';
import { loadOperation } from '../../src/operations/load/operation.ts';
import type { RunEvent } from '../../src/results/events.ts';
import type { TargetRow } from '../../src/results/results.ts';
import { createContext } from '../../src/runtime/context.ts';
import type { UserError } from '../../src/runtime/errors.ts';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
} from '../helpers/postgres/postgres-server.ts';

const SECRET = 'Zebra!Quartz7';

/** A server that refuses everybody with a message of its own. */
function refusing(message: string): Server {
  const fields = ['SFATAL', 'VFATAL', 'C28000', `M${message}`].map((field) => `${field}\0`).join('');
  const length = Buffer.alloc(4);
  length.writeUInt32BE(4 + Buffer.byteLength(fields) + 1);
  const answer = Buffer.concat([Buffer.from('E'), length, Buffer.from(`${fields}\0`)]);
  return createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(answer));
  });
}

describeWithPostgres('a secret that a server repeats', () => {
  let server: TestPostgres;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let operations: Operations;
  const liar = refusing(`no entry for "${SECRET}"`);
  const events: RunEvent[] = [];
  const session = { report: (event: RunEvent) => void events.push(event), signal: new AbortController().signal };

  beforeAll(async () => {
    [server, folder] = await Promise.all([startPostgres(), temporaryFolder()]);
    await new Promise<void>((resolve) => liar.listen(0, '127.0.0.1', resolve));
    await server.createDatabase('planted');
    await server.psql('planted', {
      sql: `CREATE TABLE "${SECRET}" AS SELECT 1 AS id;
        CREATE FUNCTION noted() RETURNS text LANGUAGE plpgsql AS $$ BEGIN
          IF current_database() <> 'planted' THEN RAISE EXCEPTION 'near "${SECRET}"'; END IF; RETURN 'x'; END $$;
        CREATE MATERIALIZED VIEW stored AS SELECT noted() AS note`,
    });
    const file = join(folder.path, 'own.yml');
    const { port } = liar.address() as AddressInfo;
    const src_url = `postgres://app:${encodeURIComponent(SECRET)}@127.0.0.1:${port}/app?sslmode=disable`;
    const settings = {
      working_directory: join(folder.path, 'work'),
      secret_key: 'ab'.repeat(16),
      targets: {
        app: { snapshot: { src_url: server.url('planted'), dst_url: server.url('planted_dev') } },
        liar: { snapshot: { src_url } },
      },
    };
    await writeFile(file, JSON.stringify(settings), { mode: 0o600 });
    const place = { environment: { ...process.env }, cwd: folder.path, clock: () => new Date() };
    operations = lazyOperations((given) => createContext({ ...place, config: file, ...given }), { ...place, file });
  }, 60_000);

  afterAll(async () => {
    liar.close();
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  it('is hidden in the events of a run, in plans and in errors', async () => {
    const built = await operations.plan(session, buildOperation, { target: 'app' });
    await operations.apply(session, buildOperation, built.sealed);
    expect(JSON.stringify(events)).toContain('public.***');
    const { shown, sealed } = await operations.plan(session, loadOperation, { target: 'app' });
    const failure: UserError = await operations.apply(session, loadOperation, sealed).then(
      () => expect.fail('the load has succeeded'),
      (thrown) => thrown,
    );
    expect(failure).toMatchObject({ code: 'restore_failed' });
    expect(failure.details.join('\n')).toContain('near "***"');
    expect(JSON.stringify([events, shown, failure, failure.message])).not.toContain(SECRET);
    // What was planned is done under its own name.
    expect(await server.psql('planted', { sql: `SELECT count(*) FROM "${SECRET}"` })).toBe('1\n');
  });

  it('is hidden while a first configuration is made', async () => {
    const url = `postgres://app:${encodeURIComponent(SECRET)}@127.0.0.1:${(liar.address() as AddressInfo).port}/app?sslmode=disable`;
    const failures = [operations.trySource(session, url), operations.listDatabases(session, url)];
    for (const failure of await Promise.allSettled(failures)) {
      const { message = '', details = [] } = failure.status === 'rejected' ? failure.reason : {};
      expect([message, ...details].join('\n')).toContain('no entry for "***"');
    }
  });

  it.each([false, true])('is hidden in the state of a target (in a thread: %s)', async (apart) => {
    const rows: TargetRow[] = [];
    await operations.refreshTargets(session, { apart, listed: async (all) => all, take: (row) => rows.push(row) });
    const { error } = rows.find(({ name }) => name === 'liar') ?? {};
    expect(error).toContain('no entry for "***"');
    expect(JSON.stringify(rows)).not.toContain(SECRET);
  });
});
