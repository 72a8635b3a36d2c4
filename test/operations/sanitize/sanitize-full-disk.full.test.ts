import { execFileSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { build } from '../../../src/operations/build/build.ts';
import { applySanitize, planSanitize } from '../../../src/operations/sanitize/sanitize.ts';
import { listSnapshots } from '../../../src/operations/snapshots/snapshots.ts';
import { verify } from '../../../src/operations/snapshots/verify/verify.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { describeWithMysql, startMysql } from '../../helpers/mysql/mysql-server.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

describeWithPostgres(
  'a full disk under a throw-away PostgreSQL',
  () => {
    it('ends the query with the words of the server, or the server before it starts', async () => {
      const server = await startPostgres();
      await using _server = { [Symbol.asyncDispose]: server.stop };
      await server.createDatabase('source');
      await server.psql('source', { sql: 'CREATE TABLE person AS SELECT 1 AS id' });
      await expectErrors({
        source: server.url('source'),
        query: 'CREATE TABLE filler AS SELECT i, md5(i::text) FROM generate_series(1, 100000000) i',
        megabytes: 160,
        filling: 'CREATE TABLE filler AS SELECT i, md5(i::text) FROM generate_series(1, 700000) i',
      });
    }, 240_000);
  },
  { root: true },
);

describeWithMysql('mariadb', { name: 'a full disk under a throw-away server' }, () => {
  it.skipIf(process.getuid?.() !== 0)(
    'ends the query with the words of the server, or the server before it starts',
    async () => {
      const server = await startMysql('mariadb');
      await using _server = { [Symbol.asyncDispose]: server.stop };
      await server.createDatabase('source');
      await server.sql('source', 'CREATE TABLE person AS SELECT 1 AS id');
      await expectErrors({
        source: server.url('source'),
        query: `CREATE TABLE filler AS WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
        SELECT repeat(md5(a.i), 100) FROM n a, n b`,
        megabytes: 240,
        filling: `CREATE TABLE filler AS WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 500)
        SELECT sha2(a.i * 1000 + b.i, 512) FROM n a, n b`,
      });
    },
    240_000,
  );
});

interface FullDisks {
  source: string;
  /** Writes more than there is room for. */
  query: string;
  megabytes: number;
  /** Fits into the database, but not into the working directory. */
  filling: string;
}

/** On a disk that the query fills, on one that is too small for a server, and with no room for the snapshot. */
async function expectErrors({ source, query, megabytes, filling }: FullDisks) {
  await using folder = await temporaryFolder();
  const contextOf = (working_directory: string, override_query: string): Context => {
    const target = { snapshot: { src_url: source }, sanitize: { override_query } };
    return testContext({ settings: { working_directory, targets: { app: target } } });
  };
  const context = contextOf(folder.path, query);
  await build(context, { target: 'app' });
  const disks: { size: number; error: object }[] = [
    { size: megabytes, error: { code: 'query_failed', exit: 1, message: expect.stringContaining('statement 1') } },
    { size: 8, error: { code: 'server_not_started', exit: 1, hint: expect.stringContaining('room') } },
  ];
  for (const { size, error } of disks) {
    await using disk = await smallDisk(size);
    vi.stubEnv('TMPDIR', disk.path);
    await expect(run(context), `${size} MB`).rejects.toMatchObject(error);
    vi.unstubAllEnvs();
    expect(await readdir(disk.path)).toEqual([]);
    const { snapshots } = await listSnapshots(context, 'app');
    expect(snapshots).toEqual([expect.objectContaining({ sanitized: false })]);
    expect(await verify(context, { target: 'app' })).toMatchObject({ ok: true });
  }
  await using disk = await smallDisk(8);
  const crowded = contextOf(disk.path, filling);
  await build(crowded, { target: 'app' });
  await expect(run(crowded), 'the working directory is full').rejects.toMatchObject({ exit: 1, code: 'dump_failed' });
  const { snapshots } = await listSnapshots(crowded, 'app');
  expect(snapshots).toEqual([expect.objectContaining({ sanitized: false })]);
  expect(await verify(crowded, { target: 'app' })).toMatchObject({ ok: true });
}

async function run(context: Context): Promise<unknown> {
  return applySanitize(context, await planSanitize(context, { target: 'app' }));
}

/** A file system of its own, that everybody may write to. */
async function smallDisk(megabytes: number): Promise<{ path: string } & AsyncDisposable> {
  const folder = await temporaryFolder();
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=1777`, 'tmpfs', folder.path]);
  return {
    path: folder.path,
    async [Symbol.asyncDispose]() {
      execFileSync('umount', [folder.path]);
      await folder[Symbol.asyncDispose]();
    },
  };
}
