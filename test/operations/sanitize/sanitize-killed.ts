import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { build } from '../../../src/operations/build.ts';
import { listSnapshots } from '../../../src/operations/snapshots/snapshots.ts';
import { verify } from '../../../src/operations/snapshots/verify.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { stagingLeftovers } from '../../helpers/leftovers.ts';
import { describeWithMysql, startMysql } from '../../helpers/mysql-server.ts';
import { describeWithPostgres, startPostgres, temporaryFolder, testContext } from '../../helpers/postgres-server.ts';

const MAIN = new URL('../../../src/main.ts', import.meta.url).pathname;

const FILL = [
  'CREATE TABLE person (id integer PRIMARY KEY, email varchar(80) NOT NULL)',
  `INSERT INTO person VALUES ${Array.from({ length: 300 }, (_, i) => `(${i}, 'secret-${i}@real.example.org')`).join()}`,
  'CREATE TABLE city (id integer PRIMARY KEY)',
];
const MASK = "UPDATE person SET email = concat('p', id, '@example.com')";

interface KilledServer {
  url(database: string): string;
  databases(): Promise<string[]>;
  run(database: string, statement: string): Promise<unknown>;
  count(database: string, statement: string): Promise<number>;
  stop(): Promise<void>;
  createDatabase(name: string): Promise<void>;
  /** For a moment. */
  sleeping: string;
}

/** Kills a sanitization with its whole process group at so many moments, on every engine. */
export function killSanitizations(moments: number): void {
  describeWithPostgres('a sanitization on PostgreSQL whose whole process group is killed', () => {
    killed(moments, async () => {
      const server = await startPostgres();
      const value = async (database: string, sql: string): Promise<string> =>
        (await server.psql(database, { sql })).trim();
      return {
        ...server,
        databases: async () => (await server.databases()).filter((name) => name !== 'postgres'),
        run: value,
        count: async (database, sql) => Number(await value(database, sql)),
        sleeping: 'SELECT pg_sleep(0.3)',
      };
    });
  });

  describeWithMysql('mariadb', { name: 'a sanitization whose whole process group is killed' }, () => {
    killed(moments, async () => {
      const server = await startMysql('mariadb');
      return {
        ...server,
        run: (database, sql) => server.sql(database, sql),
        count: async (database, sql) => Number(Object.values((await server.sql(database, sql))[0] ?? {})[0]),
        sleeping: 'DO SLEEP(0.3)',
      };
    });
  });
}

function killed(moments: number, startServer: () => Promise<KilledServer>): void {
  let server: KilledServer;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeAll(async () => {
    [server, folder] = await Promise.all([startServer(), temporaryFolder()]);
    await server.createDatabase('source');
    for (const statement of FILL) await server.run('source', statement);
    await build(context(), { target: 'app' });
    await writeFile(
      join(folder.path, 'tool.yml'),
      `secret_key: ${'ab'.repeat(16)}
working_directory: ${folder.path}
targets:
  app:
    snapshot: {src_url: '${server.url('source')}'}
    sanitize: {dst_url: '${server.url('clean')}', override_query: "${MASK}; ${server.sleeping}"}
`,
      { mode: 0o600 },
    );
  }, 120_000);

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  function context(): Context {
    const target = { snapshot: { src_url: server.url('source') } };
    return testContext({ settings: { working_directory: folder.path, targets: { app: target } } });
  }

  function start(): ChildProcess {
    const args = [MAIN, '--config', join(folder.path, 'tool.yml'), '--yes', '--json', 'sanitize', 'app'];
    return spawn(process.execPath, args, { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  }

  async function sanitizedSnapshots(): Promise<string[]> {
    const { snapshots } = await listSnapshots(context(), 'app');
    return snapshots.filter(({ sanitized }) => sanitized).map(({ id }) => id);
  }

  /** Of the database that is there under the name of the destination. */
  async function oldEmails(): Promise<number> {
    const there = (await server.databases()).includes('clean');
    return there ? server.count('clean', "SELECT count(*) FROM person WHERE email LIKE '%real.example.org'") : 0;
  }

  it(`publishes nothing at ${moments} moments, leaves the original whole, and the next run sweeps`, async () => {
    const timed = start();
    const exitOfTimed = ended(timed);
    await begun(timed);
    const started = performance.now();
    expect(await exitOfTimed).toBe(0);
    const duration = performance.now() - started;

    let published = await sanitizedSnapshots();
    expect(published).toHaveLength(1);
    let killed = 0;
    let sweepable = 0;
    for (let moment = 0; moment < moments; moment += 1) {
      const child = start();
      const exit = ended(child);
      await begun(child);
      // In the middle of each part of the time that a run takes.
      await Promise.race([exit, setTimeout((duration * (moment + 0.5)) / moments)]);
      killGroup(child);
      if ((await exit) === null) killed += 1;
      const now = await sanitizedSnapshots();
      expect(now, `moment ${moment}: one sanitized snapshot, the one before or the one after`).toHaveLength(1);
      if (now[0] !== published[0]) expect(await verify(context(), { target: 'app' })).toMatchObject({ ok: true });
      published = now;
      expect(await oldEmails(), `moment ${moment}: an original value is in the destination`).toBe(0);
      sweepable += (await server.databases()).filter((name) => name.includes('.tool-new-')).length;
    }
    // Moments that all fall before the work, or after it, would show nothing.
    expect(killed).toBeGreaterThan(moments / 4);
    expect(sweepable).toBeGreaterThan(0);

    expect(await ended(start())).toBe(0);
    expect(await server.databases()).toEqual(['clean', 'clean.tool-undo', 'source']);
    expect(await stagingLeftovers(folder.path)).toEqual([]);
    expect(await verify(context(), { target: 'app', original: true })).toMatchObject({ ok: true });
  }, 400_000);
}

/** Resolves with the first event: from here on it works. */
function begun(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => child.stdout?.once('data', () => resolve()));
}

function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once('exit', (code) => resolve(code)));
}

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It had ended already.
  }
}
