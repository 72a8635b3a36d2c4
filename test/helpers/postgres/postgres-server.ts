import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe } from 'vitest';
import type { Settings } from '../../../src/config/schema/settings.ts';
import { anyClientTools } from '../../../src/engines/postgres/connection/tools.ts';
import { findServerPrograms, type ServerPrograms } from '../../../src/engines/postgres/server/server-programs.ts';
import { startThrowAwayServer } from '../../../src/engines/postgres/server/throw-away-server.ts';
import { localRunner } from '../../../src/process/local.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import type { Context } from '../../../src/runtime/context.ts';

export interface TestPostgres {
  port: number;
  url(database: string): string;
  createDatabase(name: string, owner?: string): Promise<void>;
  databases(): Promise<string[]>;
  /** Runs SQL or a file; rejects with what psql said. The result is its standard output. */
  psql(database: string, input: { sql: string } | { file: string }): Promise<string>;
  /** `pg_dump` of a database, without what differs from run to run, and without owners and grants. */
  dump(database: string, ...args: string[]): Promise<string>;
  stop(): Promise<void>;
}

const runner = localRunner({ environment: process.env, report: () => {} });

/** For tests that keep nothing: the run removes its temporary folder. */
const ownFolder = join(tmpdir(), `tool-test-${process.pid}`);

const available = await findServerPrograms(testContext({ settings: {} })).then(
  () => true,
  () => false,
);

export interface Needs {
  /** A folder or a file. */
  files?: string;
  /** Rights to run programs as another user. */
  root?: boolean;
}

/** A suite that needs a PostgreSQL server, and perhaps more: skipped by name where something is not there. */
export function describeWithPostgres(name: string, suite: () => void, { files, root }: Needs = {}): void {
  const needed = [
    { what: "PostgreSQL's server programs", there: available },
    { what: files, there: files === undefined || existsSync(files) },
    { what: 'root', there: !root || process.getuid?.() === 0 },
  ];
  const lacking = needed.find(({ there }) => !there)?.what;
  describe.skipIf(lacking)(lacking ? `${name} (needs ${lacking})` : name, suite);
}

export async function startPostgres(
  settings: Record<string, string> = {},
  programs?: ServerPrograms,
): Promise<TestPostgres> {
  const server = await startThrowAwayServer(testContext({ settings: {} }), { settings, ...(programs && { programs }) });
  const psql: TestPostgres['psql'] = (database, input) => psqlAt(server.url(database), input);
  return {
    port: server.port,
    url: server.url,
    psql,
    async createDatabase(name, owner = 'postgres') {
      await psql('postgres', { sql: `CREATE DATABASE "${name}" OWNER "${owner}"` });
    },
    async databases() {
      const names = await psql('postgres', {
        sql: 'SELECT datname FROM pg_database WHERE NOT datistemplate ORDER BY 1',
      });
      return names.trim().split('\n');
    },
    dump: (database, ...args) => dumpAt(server.url(database), ...args),
    stop: server.stop,
  };
}

/** As `TestPostgres.psql`, on any database. */
export function psqlAt(url: string, input: { sql: string } | { file: string }): Promise<string> {
  return runClient('psql', [
    ...['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-d', url],
    ...('sql' in input ? ['-c', input.sql] : ['-f', input.file]),
  ]);
}

/** As `TestPostgres.dump`, of any database. */
export async function dumpAt(url: string, ...args: string[]): Promise<string> {
  const text = await runClient('pg_dump', ['--no-owner', '--no-privileges', ...args, '-d', url]);
  return text.replaceAll(/^\\(un)?restrict .*$/gm, '');
}

async function runClient(program: string, args: string[]): Promise<string> {
  const tools = await anyClientTools(testContext({ settings: {} }));
  const result = await runner.run({ file: join(tools.directory, program), args });
  if (result.exitCode !== 0) throw new Error(`${program}: ${result.stderr}`);
  return result.stdout;
}

export interface TestContextOptions {
  settings: Partial<Settings>;
  events?: RunEvent[];
  signal?: AbortSignal;
}

/** A context as a command makes it, for settings that a test writes down. */
export function testContext({ settings, events = [], signal }: TestContextOptions): Context {
  return {
    configuration: {
      file: null,
      settings: {
        working_directory: join(ownFolder, 'missing'),
        defaults: {},
        override: {},
        storage_profiles: {},
        targets: {},
        saves: { keep: 20, max_duration: 10, before: [] },
        branches: { follow: 'tree' },
        ...settings,
      } as Settings,
      deferred: [],
    },
    report: (event) => void events.push(event),
    runner,
    signal: signal ?? new AbortController().signal,
    clock: () => new Date(),
    environment: process.env,
  };
}

/** With mode 0o1777 it does for `TMPDIR`, also for the user that root's servers run as. */
export async function temporaryFolder({ mode = 0o700 } = {}): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'tool-test-'));
  await chmod(path, mode);
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Waits until what is looked at is so; fails with the last look after the deadline. */
export async function eventually(look: () => Promise<boolean>, { deadline = 10_000 } = {}): Promise<void> {
  const end = Date.now() + deadline;
  while (!(await look())) {
    if (Date.now() > end) throw new Error('it did not come about in time');
    await setTimeout(20);
  }
}
