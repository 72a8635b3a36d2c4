import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'vitest';
import { listSnapshots } from '../../src/operations/snapshots/snapshots.ts';
import { verify } from '../../src/operations/snapshots/verify/verify.ts';
import type { AnyServer } from '../helpers/databases/any-server.ts';
import { testContext } from '../helpers/postgres/postgres-server.ts';
import { stagingLeftovers } from '../helpers/storage/leftovers.ts';
import { oldNode, startTool, type ToolProcess } from '../helpers/terminal/tool-process.ts';
import type { Round } from '../helpers/trials.ts';

/** How an operation is ended: the whole group, the program alone, one program or session of it, or the server. */
const WAYS = ['group', 'group', 'program', 'child', 'session', 'server'] as const;
type Way = (typeof WAYS)[number];

/** Enough that each step of a load takes its time. */
const ROWS = 4000;
const FILL = [
  'CREATE TABLE parent (id integer PRIMARY KEY, name varchar(60) NOT NULL)',
  `INSERT INTO parent VALUES ${rows((id) => `(${id}, 'secret-${id}@real.example.org')`)}`,
  'CREATE TABLE child (id integer PRIMARY KEY, parent_id integer NOT NULL, note varchar(60), FOREIGN KEY (parent_id) REFERENCES parent (id))',
  `INSERT INTO child VALUES ${rows((id) => `(${id}, ${(id * 7) % ROWS}, 'note ${id}')`)}`,
  'CREATE INDEX by_note ON child (note)',
  'CREATE TABLE other (id integer PRIMARY KEY)',
  'INSERT INTO other VALUES (1), (2)',
];
const CHANGE = [
  "UPDATE child SET note = 'changed' WHERE id % 2 = 0",
  'CREATE TABLE extra (id integer PRIMARY KEY)',
  'CREATE INDEX by_name ON parent (name)',
];

function rows(row: (id: number) => string): string {
  return Array.from({ length: ROWS }, (_, id) => row(id)).join(',');
}

interface Operation {
  name: string;
  words: string[];
  /** The database that it replaces; null for a build. */
  database: 'copy' | 'small' | 'clean' | null;
  /** What a complete run leaves in it; null when the state is no fixed one. */
  wanted: string | null;
  /** What the next run is; the same unless that would lead elsewhere. */
  next?: { words: string[]; wanted: string };
}

/** A server, a configuration and two snapshots, over which operations are killed round by round. */
export interface KillWorld {
  round(round: Round): Promise<void>;
}

export async function killWorld(server: AnyServer, folder: string): Promise<KillWorld> {
  const config = join(folder, 'tool.yml');
  const work = join(folder, 'work');
  const prefix = server.prefix('source');
  const [src_url, dst_url] = [server.url('source'), server.url('copy')];
  const subsetOf = (percent: number) => ({
    subset: { src_url, dst_url: server.url('small'), subset_tables: [{ table: `${prefix}.parent`, percent }] },
  });
  const targets = {
    app: { snapshot: { src_url, dst_url } },
    built: {
      snapshot: { src_url },
      sanitize: { dst_url: server.url('clean'), override_query: "UPDATE parent SET name = concat('p', id)" },
    },
    some: subsetOf(20),
    more: subsetOf(60),
  };
  const durations = new Map<string, number>();

  const context = () => testContext({ settings: { working_directory: work, targets } });
  const state = async (database: string): Promise<string> => {
    await server.quiet();
    return (await server.databases()).includes(database) ? server.content(database) : 'no database';
  };
  const launching = oldNode();
  const start = (words: string[], node?: string): ToolProcess =>
    startTool({ config, words, ...(node !== undefined && { node }) });
  const done = async (words: string[]): Promise<void> => {
    const { code, output } = await start(words).ended;
    expect(code, `${words.join(' ')}\n${output.slice(-3000)}`).toBe(0);
  };
  const idOf = async (): Promise<string> => (await listSnapshots(context(), 'app')).snapshots[0]?.id ?? '';

  await server.create('source');
  await server.run('source', FILL);
  const settings = { secret_key: 'ab'.repeat(16), working_directory: work, defaults: { cpus: 2 }, targets };
  await writeFile(config, JSON.stringify(settings), { mode: 0o600 });
  await done(['build', 'app']);
  const older = { id: await idOf(), state: '', some: '' };
  await server.run('source', CHANGE);
  await done(['build', 'app']);
  const newer = { id: await idOf(), state: '', some: '' };
  await done(['build', 'built']);
  const tables = `${prefix}.child`;
  for (const one of [older, newer]) {
    await done(['load', 'app', one.id, '--tables', tables]);
    one.some = await state('copy');
    await done(['load', 'app', one.id]);
    one.state = await state('copy');
  }
  await done(['subset', 'some']);
  const some = await state('small');
  await done(['subset', 'more']);
  const more = await state('small');
  await done(['sanitize', 'built']);
  const source = await state('source');
  expect(new Set([older.state, newer.state, older.some, newer.some, some, more]).size).toBe(6);

  const load = (one: typeof older, ...flags: string[]): Operation => ({
    name: ['load', ...flags].join(' '),
    words: ['load', 'app', one.id, ...flags],
    database: 'copy',
    wanted: one.state,
  });

  async function operation({ oneOf }: Round): Promise<Operation> {
    const present = await state('copy');
    const [to, from] = present === older.state ? [newer, older] : [older, newer];
    const kinds: (() => Promise<Operation>)[] = [
      async () => ({ name: 'build', words: ['build', 'built'], database: null, wanted: null }),
      async () => load(to),
      async () => load(to, '--keep-base'),
      async () => ({
        ...load(to),
        name: 'table load',
        words: ['load', 'app', to.id, '--tables', tables],
        wanted: to.some,
      }),
      async () => {
        await done(load(from).words);
        await done(load(to).words);
        return {
          ...load(from),
          name: 'undo',
          words: ['undo', 'app'],
          next: { words: load(from).words, wanted: from.state },
        };
      },
      async () => {
        await done(load(to, '--keep-base').words);
        await server.run('copy', ['CREATE TABLE mine (id integer)', 'DELETE FROM child WHERE id % 3 = 0']);
        return { ...load(to), name: 'reset', words: ['reset', 'app'] };
      },
      async () => ({ name: 'sanitize', words: ['sanitize', 'built'], database: 'clean', wanted: null }),
      async () => {
        const [target, wanted] = (await state('small')) === some ? ['more', more] : ['some', some];
        return { name: 'subset', words: ['subset', target], database: 'small', wanted };
      },
      ...(server.kind === 'postgres' ? [async () => load(to, '--in-place')] : []),
    ];
    return oneOf(kinds)();
  }

  async function end(way: Way, { run, round }: { run: ToolProcess; round: Round }): Promise<void> {
    const pick = (count: number): number => Math.floor(round.random() * count);
    if (way === 'server') return server.crash();
    if (way === 'session' && (await server.killSession(pick))) return;
    if (way === 'child') {
      const children = run.descendants();
      const victim = children[pick(children.length)];
      if (victim !== undefined) {
        try {
          process.kill(victim, 'SIGKILL');
        } catch {
          // It had ended already.
        }
        return;
      }
    }
    if (way === 'program') run.child.kill('SIGKILL');
    else run.killGroup();
  }

  async function expectSound(at: string): Promise<void> {
    for (const target of ['app', 'built']) {
      const { snapshots } = await listSnapshots(context(), target);
      for (const { id } of target === 'app' ? snapshots : snapshots.slice(0, 2)) {
        expect(await verify(context(), { target, snapshot: id }), `${at}: snapshot ${id}`).toMatchObject({ ok: true });
      }
    }
    if ((await server.databases()).includes('clean')) {
      const original = "SELECT count(*) FROM parent WHERE name LIKE '%real.example.org'";
      expect(await server.column('clean', original), `${at}: an original value in the sanitized database`).toEqual([
        '0',
      ]);
    }
    expect(await server.content('source'), `${at}: the source was changed`).toBe(source);
  }

  return {
    async round(round) {
      const { name, words, database, wanted, next = { words, wanted } } = await operation(round);
      const way = round.oneOf(WAYS);
      const before = database && (await state(database));
      // As a user starts it where the launcher hands over to another Node.
      const run = start(words, launching !== null && round.random() < 0.5 ? launching : undefined);
      await run.begun;
      const moment = 1.1 * round.fraction * (durations.get(name) ?? 1500);
      const at = `${name}, ${way} ended after ${Math.round(moment)} ms`;
      await Promise.race([run.ended, setTimeout(moment)]);
      await end(way, { run, round });
      const { code, output } = await run.ended;
      const now = database && (await state(database));
      if (wanted !== null) {
        const isKnown = now === before || now === wanted;
        expect(isKnown, `${at}: the destination is neither old nor new\n${output.slice(-2000)}`).toBe(true);
        if (code === 0) expect(now === wanted, `${at}: exit code 0, but the destination is the old one`).toBe(true);
      }
      await expectSound(at);
      const again = start(next.words);
      await again.begun;
      const begun = performance.now();
      const { code: nextCode, output: nextOutput } = await again.ended;
      expect(nextCode, `${at}: the next run\n${nextOutput.slice(-3000)}`).toBe(0);
      if (!durations.has(name)) durations.set(name, performance.now() - begun);
      if (database && next.wanted !== null) {
        expect((await state(database)) === next.wanted, `${at}: the next run left another state`).toBe(true);
      }
      const left = (await server.databases()).filter(
        (one) => one.includes('.tool-new-') && one.startsWith(database ?? ' '),
      );
      expect(left, `${at}: leftovers after the next run`).toEqual([]);
      expect(await stagingLeftovers(work), `${at}: leftovers in staging`).toEqual([]);
    },
  };
}
