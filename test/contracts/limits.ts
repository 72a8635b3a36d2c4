import { execFile } from 'node:child_process';
import { mkdir, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { listSnapshots } from '../../src/operations/snapshots/snapshots.ts';
import { verify } from '../../src/operations/snapshots/verify/verify.ts';
import type { AnyServer } from '../helpers/databases/any-server.ts';
import { eventually, testContext } from '../helpers/postgres/postgres-server.ts';
import { stagingLeftovers } from '../helpers/storage/leftovers.ts';
import { startTool } from '../helpers/terminal/tool-process.ts';
import type { Round } from '../helpers/trials.ts';

const run = promisify(execFile);
const ROWS = 4000;
const KEY = 'ab'.repeat(16);
/** No operation here takes as long, unless its server waits. */
const WAITING_MS = 20_000;

/** Which of the machine's resources a program is short of. */
const LIMITS = ['files', 'memory', 'file size', 'disk', 'database', 'clock'] as const;

interface Limited {
  under: string[];
  environment: Record<string, string>;
  told: string;
  release(): Promise<void>;
}

export interface LimitWorld {
  round(round: Round): Promise<void>;
}

export interface SmallDisk {
  path: string;
  /** Takes all of it but so much, until the result is called. */
  leave(kilobytes: number): Promise<() => Promise<void>>;
  remove(): Promise<void>;
}

/** A file system of its own in memory. */
export async function smallDisk(path: string, megabytes: number): Promise<SmallDisk> {
  await mkdir(path, { recursive: true });
  await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=1777`, 'tmpfs', path]);
  const ballast = join(path, 'ballast');
  return {
    path,
    async leave(kilobytes) {
      // A server may take some of it meanwhile.
      await eventually(async () => {
        const { bavail, bsize } = await statfs(path);
        const size = Math.max(1, bavail * bsize - kilobytes * 1024);
        return run('fallocate', ['-l', `${size}`, ballast]).then(
          () => true,
          () => false,
        );
      });
      return () => rm(ballast, { force: true });
    },
    remove: async () => void (await run('umount', [path])),
  };
}

/** A server whose databases are on one small disk, and a configuration with two snapshots on another. */
export async function limitWorld(
  server: AnyServer,
  { folder, databases, disk }: { folder: string; databases: SmallDisk; disk: SmallDisk },
): Promise<LimitWorld> {
  const work = join(disk.path, 'work');
  await mkdir(work);
  await server.keepDatabasesIn(databases.path);
  const config = join(folder, 'tool.yml');
  const targets = {
    app: { snapshot: { src_url: server.url('source'), dst_url: server.url('copy') } },
    built: {
      snapshot: { src_url: server.url('source') },
      sanitize: { dst_url: server.url('clean'), override_query: "UPDATE person SET name = concat('p', id)" },
    },
  };
  const context = () => testContext({ settings: { working_directory: work, targets } });
  const tool = (words: string[], limited: Partial<Limited> = {}) => startTool({ config, words, ...limited }).ended;
  async function done(words: string[], at = ''): Promise<void> {
    const { code, output } = await tool(words);
    expect(code, `${at} ${words.join(' ')}\n${output.slice(-3000)}`).toBe(0);
  }

  await server.create('source');
  await server.run('source', [
    'CREATE TABLE person (id integer PRIMARY KEY, name varchar(300) NOT NULL)',
    // Random, so that it is not small in an object.
    `INSERT INTO person VALUES ${Array.from({ length: ROWS }, (_, id) => `(${id}, '${Array.from({ length: 6 }, (_, at) => Math.abs(Math.imul(id * 6 + at, 0x9e3779b1)).toString(36)).join('')}')`).join(',')}`,
  ]);
  await writeFile(config, JSON.stringify({ secret_key: KEY, working_directory: work, targets }), { mode: 0o600 });
  await done(['build', 'app']);
  const idOf = async (): Promise<string> => (await listSnapshots(context(), 'app')).snapshots[0]?.id ?? '';
  const older = { id: await idOf(), state: '' };
  await server.run('source', ["UPDATE person SET name = 'changed' WHERE id % 2 = 0"]);
  await done(['build', 'app']);
  const newer = { id: await idOf(), state: '' };
  await done(['build', 'built']);
  for (const one of [older, newer]) {
    await done(['load', 'app', one.id]);
    one.state = await server.content('copy');
  }

  /** A limit of a random size, from far too little to nearly enough. */
  async function limit({ random, oneOf }: Round, scratch: string): Promise<Limited> {
    const between = (low: number, high: number): number => Math.floor(low * (high / low) ** random());
    const kind = oneOf(LIMITS);
    const none = { under: [], environment: {}, release: async () => {} };
    if (kind === 'files') {
      const files = between(22, 80);
      return { ...none, told: `${files} file handles`, under: ['prlimit', `--nofile=${files}`] };
    }
    if (kind === 'memory') {
      const megabytes = between(100, 700);
      return { ...none, told: `${megabytes} MB of memory`, under: ['prlimit', `--data=${megabytes * 1e6}`] };
    }
    if (kind === 'file size') {
      const bytes = between(1000, 300_000);
      return { ...none, told: `files of ${bytes} bytes`, under: ['prlimit', `--fsize=${bytes}`] };
    }
    if (kind === 'clock') {
      const [days, after] = [Math.floor((random() - 0.5) * 2000), between(50, 3000)];
      const file = join(scratch, 'clock.mjs');
      await writeFile(file, clockThatJumps(days, after));
      const NODE_OPTIONS = `--import=${file}`;
      return { ...none, told: `a clock that jumps by ${days} days`, environment: { NODE_OPTIONS } };
    }
    if (kind === 'database') {
      // What a new database of PostgreSQL takes, and more.
      const kilobytes = between(8, 16_000);
      return { ...none, told: `${kilobytes} kB for the databases`, release: await databases.leave(kilobytes) };
    }
    const kilobytes = between(8, 3000);
    return {
      ...none,
      told: `${kilobytes} kB for its working directory`,
      environment: { TMPDIR: disk.path },
      release: await disk.leave(kilobytes),
    };
  }

  return {
    async round(round) {
      const present = await server.content('copy');
      const to = present === older.state ? newer : older;
      const words = round.oneOf([
        ['build', 'built'],
        ['load', 'app', to.id],
        ['load', 'app', to.id, '--keep-base'],
        ['sanitize', 'built'],
        ['export', 'app', '--output', join(folder, `${round.number}.zip`)],
        ...(server.kind === 'postgres' ? [['load', 'app', to.id, '--in-place']] : []),
      ]);
      const scratch = join(folder, `scratch-${round.number}`);
      await mkdir(scratch);
      await mkdir(join(work, 'staging'), { recursive: true });
      const limited = await limit(round, scratch);
      const at = `${words.join(' ')} with ${limited.told}`;
      const operation = tool(words, limited);
      // MySQL waits for space on a full disk, and goes on when there is some.
      await Promise.race([operation, setTimeout(WAITING_MS, undefined, { ref: false })]);
      await limited.release();
      const { code, signal, output } = await operation;
      await server.quiet();
      const isLoad = words[0] === 'load';
      const now = await server.content('copy');
      const isKnown = now === present || (isLoad && now === to.state);
      expect(isKnown, `${at}: the destination is neither old nor new\n${output.slice(-2000)}`).toBe(true);
      if (code === 0 && isLoad) expect(now === to.state, `${at}: exit code 0 without a load`).toBe(true);
      // Without memory or file handles a runtime may end before the program can say anything; else it says what it was.
      const isRuntime = signal !== null || /heap|out of memory|Fatal|EMFILE|bad_alloc/i.test(output);
      if (code !== 0 && !isRuntime) {
        const told = `${at}: exit code ${code}\n${output.slice(-2000)}`;
        expect(/"event":"error","code":"(?!unexpected)\w+"/.test(output), told).toBe(true);
        expect(output, `${at}: a stack trace`).not.toMatch(/^\s+at .*\.[jt]s:\d+/m);
      }
      for (const target of ['app', 'built']) {
        const { snapshots } = await listSnapshots(context(), target);
        for (const { id } of snapshots.slice(0, 3)) {
          expect(await verify(context(), { target, snapshot: id }), `${at}: ${target} ${id}`).toMatchObject({
            ok: true,
          });
        }
      }
      await rm(scratch, { recursive: true });
      await rm(join(folder, `${round.number}.zip`), { force: true });
      // Room for the next rounds.
      await done(['prune', 'built', '--keep-last', '2']);
      // A clock that was ahead may have given a snapshot of the future.
      await done(words, `after ${at}:`);
      if (isLoad) expect((await server.content('copy')) === to.state, `after ${at}: the next load`).toBe(true);
      expect(await stagingLeftovers(work), `after ${at}: leftovers`).toEqual([]);
      const left = (await server.databases()).filter((name) => name.includes('.tool-new-'));
      const own = isLoad ? 'copy' : 'clean';
      expect(
        left.filter((name) => name.startsWith(own)).filter(() => isLoad || words[0] === 'sanitize'),
        `after ${at}`,
      ).toEqual([]);
      await rm(join(folder, `${round.number}.zip`), { force: true });
    },
  };
}

/** A module that moves the clock of the process by days after some milliseconds. */
function clockThatJumps(days: number, after: number): string {
  return `const { now } = Date; const Real = Date; const began = now();
const ahead = () => (now() - began > ${after} ? ${days * 86_400_000} : 0);
globalThis.Date = class extends Real { constructor(...words) { if (words.length === 0) super(now() + ahead()); else super(...words); } static now() { return now() + ahead(); } };`;
}
