import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { build } from '../../../../src/operations/build/build.ts';
import { localRepository } from '../../../../src/operations/snapshots/local-repository.ts';
import {
  describeWithPostgres,
  eventually,
  psqlAt,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../../helpers/postgres/postgres-server.ts';
import { type Standby, startStandby } from '../../../helpers/postgres/postgres-standby.ts';
import { startTcpProxy } from '../../../helpers/proxies/tcp-proxy.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

describeWithPostgres('a standby as source', () => {
  const primary = suiteResource(() => startPostgres());
  let standby: Standby;

  beforeAll(async () => {
    await primary.createDatabase('shop');
    await primary.psql('shop', { sql: 'CREATE TABLE a AS SELECT g AS id FROM generate_series(1, 1000) g' });
    await primary.psql('shop', { sql: 'CREATE TABLE z (id integer) PARTITION BY HASH (id)' });
    standby = await startStandby(primary, { max_standby_streaming_delay: '0' });
  }, 60_000);

  afterAll(async () => {
    await standby?.stop();
  });

  /** What the standby answers. */
  const asked = async (sql: string): Promise<string> => (await psqlAt(standby.url('shop'), { sql })).trim();

  /** `interrupt` runs while the dump waits for a lock of the primary. */
  async function buildMeanwhile(directory: string, interrupt: () => Promise<unknown>): Promise<void> {
    const target = { snapshot: { src_url: standby.url('shop') } };
    const context = testContext({ settings: { working_directory: directory, targets: { shop: target } } });
    const lock = primary.psql('shop', { sql: 'BEGIN; LOCK TABLE z IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(60)' });
    lock.catch(() => {});
    // What an open transaction has written is sent when its segment ends.
    await eventually(async () => {
      await primary.psql('shop', { sql: 'SELECT pg_switch_wal()' });
      return (await asked(`SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock'`)) !== '0';
    });
    try {
      const built = build(context, { target: 'shop' });
      built.catch(() => {});
      await eventually(async () => (await asked(`SELECT count(*) FROM pg_locks WHERE NOT granted`)) !== '0');
      await interrupt();
      await built;
    } finally {
      await primary.psql('postgres', {
        sql: `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid()`,
      });
      await lock.catch(() => {});
    }
  }

  test('is built from', async () => {
    await using folder = await temporaryFolder();
    const target = { snapshot: { src_url: standby.url('shop') } };
    const context = testContext({ settings: { working_directory: folder.path, targets: { shop: target } } });
    expect(await build(context, { target: 'shop' })).toMatchObject({ rows: 1000 });
  });

  test('is not mixed with its primary by the address of a load balancer, which is refused with both addresses', async () => {
    await using folder = await temporaryFolder();
    const [own, other] = [primary.url('shop'), standby.url('shop')].map((url) => Number(new URL(url).port));
    const proxy = await startTcpProxy(own ?? 0, other ?? 0);
    onTestFinished(() => proxy.stop());
    const src_url = primary.url('shop').replace(`:${own}/`, `:${proxy.port}/`);
    const targets = { shop: { snapshot: { src_url } } };
    const context = testContext({ settings: { working_directory: folder.path, targets } });
    await expect(build(context, { target: 'shop' })).rejects.toMatchObject({
      code: 'servers_differ',
      details: [`127.0.0.1, port ${own}`, `127.0.0.1, port ${other}`].sort(),
    });
    expect(await localRepository(context).list('shop')).toEqual([]);
  });

  test.for([
    // The standby ends pg_dump or a session that reads, whichever it meets first.
    [
      'the dump',
      /^(?:dump_failed|connection_lost)$/,
      () => primary.psql('shop', { sql: 'ALTER TABLE a ADD COLUMN later integer' }),
    ],
    [
      'the session',
      /^connection_lost$/,
      () =>
        asked(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'shop' AND pid <> pg_backend_pid()`,
        ),
    ],
  ] as const)('warns that a standby may end %s', async ([, code, interrupt]) => {
    await using folder = await temporaryFolder();
    await expect(buildMeanwhile(folder.path, interrupt)).rejects.toMatchObject({
      code: expect.stringMatching(code),
      hint: expect.stringContaining('hot_standby_feedback'),
    });
  });
});
