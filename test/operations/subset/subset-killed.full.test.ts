import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { fastFolder } from '../../helpers/fast-folder.ts';
import { stagingLeftovers } from '../../helpers/leftovers.ts';
import { describeWithMysql, startMysql, type TestFlavour } from '../../helpers/mysql-server.ts';
import { describeWithPostgres, eventually, startPostgres, temporaryFolder } from '../../helpers/postgres-server.ts';

const MAIN = new URL('../../../src/main.ts', import.meta.url).pathname;
const FLAVOURS: TestFlavour[] = ['mariadb', 'mysql'];
const MOMENTS = 30;
const LIMIT = 600_000;

/** A server on which subsets of two databases are made in one place, and how it is looked at. */
interface Killing {
  prefix(database: string): string;
  url(database: string): string;
  databases(): Promise<string[]>;
  /** Whether nobody else is connected: a statement goes on for a while when whoever sent it is gone. */
  isQuiet(): Promise<boolean>;
  dump(database: string): Promise<string>;
  stop(): Promise<void>;
}

function fill(name: string): string[] {
  const numbers = Array.from({ length: 5000 }, (_, id) => id);
  return [
    'CREATE TABLE account (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL)',
    'CREATE TABLE letter (id INTEGER PRIMARY KEY, account_id INTEGER NOT NULL, FOREIGN KEY (account_id) REFERENCES account (id))',
    'CREATE INDEX letter_account ON letter (account_id)',
    `INSERT INTO account VALUES ${numbers.map((id) => `(${id}, '${name} ${id}')`).join(',')}`,
    `INSERT INTO letter VALUES ${numbers.map((id) => `(${id}, ${(id * 7) % 5000})`).join(',')}`,
  ];
}

function suite(start: (directory: string) => Promise<Killing>): void {
  let server: Killing;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  /** What is there when the subset of each source has been made, and how long the last took. */
  let red: string;
  let blue: string;
  let duration: number;

  beforeAll(async () => {
    vi.stubEnv('TMPDIR', fastFolder());
    folder = await temporaryFolder();
    server = await start(folder.path);
    const target = (source: string): string => `  ${source}:
    subset:
      src_url: ${server.url(source)}
      dst_url: ${server.url('small')}
      subset_tables: [{table: ${server.prefix(source)}.account, percent: 50}]
`;
    const head = `secret_key: ${'ab'.repeat(16)}\nworking_directory: ${folder.path}/work\ndefaults: {cpus: 2}\ntargets:\n`;
    await writeFile(join(folder.path, 'tool.yml'), head + target('red') + target('blue'), { mode: 0o600 });
    expect(await ended(startSubset('red'))).toBe(0);
    red = await whatIsThere();
    const timed = startSubset('blue');
    const exit = ended(timed);
    await begun(timed);
    const started = performance.now();
    expect(await exit).toBe(0);
    duration = performance.now() - started;
    blue = await whatIsThere();
    expect(blue).not.toBe(red);
  }, LIMIT);

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
    vi.unstubAllEnvs();
  });

  function startSubset(source: string): ChildProcess {
    const args = [MAIN, '--config', join(folder.path, 'tool.yml'), '--yes', '--json', 'subset', source];
    return spawn(process.execPath, args, { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  }

  async function whatIsThere(): Promise<string> {
    await eventually(() => server.isQuiet(), { deadline: 60_000 });
    return server.dump('small');
  }

  it(
    `that is killed leaves the destination old or new, at ${MOMENTS} moments, and the next run sweeps`,
    async () => {
      let present = blue;
      let finished = 0;
      for (let moment = 0; moment < MOMENTS; moment += 1) {
        const [source, wanted] = present === blue ? ['red', red] : ['blue', blue];
        const child = startSubset(source as string);
        const exit = ended(child);
        await begun(child);
        await Promise.race([exit, setTimeout((duration * (moment + 0.5)) / MOMENTS)]);
        signalGroup(child, 'SIGKILL');
        await exit;
        const now = await whatIsThere();
        expect([present, wanted].includes(now), `moment ${moment}: the destination is neither old nor new`).toBe(true);
        if (now === wanted) finished += 1;
        present = now;
      }
      // Moments that all fall after the swap would show nothing.
      expect(finished).toBeLessThan(MOMENTS);
      expect(await ended(startSubset('red'))).toBe(0);
      expect(await whatIsThere()).toBe(red);
      expect(await server.databases()).toEqual(['blue', 'red', 'small', 'small.tool-undo']);
      expect(await stagingLeftovers(join(folder.path, 'work'))).toEqual([]);
    },
    LIMIT,
  );

  it(
    'that Ctrl-C ends leaves the destination as it was, and nothing else',
    async () => {
      const before = await whatIsThere();
      for (const step of ['read', 'copy', 'prove']) {
        const child = startSubset(before === red ? 'blue' : 'red');
        const exit = ended(child);
        await said(child, `"step":"${step}","state":"started"`);
        signalGroup(child, 'SIGINT');
        expect(await exit).toBe(130);
        expect(await whatIsThere()).toBe(before);
        expect(await server.databases()).toEqual(['blue', 'red', 'small', 'small.tool-undo']);
        expect(await stagingLeftovers(join(folder.path, 'work'))).toEqual([]);
      }
    },
    LIMIT,
  );
}

describeWithPostgres('a subset of PostgreSQL', () => {
  suite(async (directory) => {
    const server = await startPostgres();
    for (const name of ['red', 'blue']) {
      await server.createDatabase(name);
      const file = join(directory, `${name}.sql`);
      await writeFile(file, `${fill(name).join(';\n')};`);
      await server.psql(name, { file });
    }
    const others = `SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`;
    return {
      prefix: () => 'public',
      url: server.url,
      databases: async () => (await server.databases()).filter((name) => name !== 'postgres'),
      isQuiet: async () => (await server.psql('postgres', { sql: others })).trim() === '0',
      dump: (database) => server.dump(database),
      stop: server.stop,
    };
  });
});

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'a subset' }, () => {
    suite(async () => {
      const server = await startMysql(flavour);
      for (const name of ['red', 'blue']) {
        await server.createDatabase(name);
        await server.sql(name, ...fill(name));
      }
      const others = `SELECT 1 FROM information_schema.PROCESSLIST WHERE USER = 'root' AND ID <> CONNECTION_ID()`;
      return {
        prefix: (database) => database,
        url: (database) => server.url(database),
        databases: server.databases,
        isQuiet: async () => (await server.sql('', others)).length === 0,
        dump: (database) => server.dump(database),
        stop: server.stop,
      };
    });
  });
}

/** Resolves with the first event: from here on it works. */
function begun(child: ChildProcess): Promise<void> {
  return said(child, '{');
}

function said(child: ChildProcess, words: string): Promise<void> {
  return new Promise((resolve) => {
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk;
      if (text.includes(words)) resolve();
    });
    child.once('exit', () => resolve());
  });
}

function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once('exit', (code) => resolve(code)));
}

/** Never one that has ended: its number may be another group's by now. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  const isOver = child.exitCode !== null || child.signalCode !== null;
  if (!isOver && child.pid !== undefined) process.kill(-child.pid, signal);
}
