/**
 * `npm run bench -- worktree [--mb SIZE] [PROGRAM…]`: `git worktree add` in a linked repository, with and without a spare,
 * in turns with git alone, with a copy of the template alone, and with other builds (dist/tool.js of other working trees).
 * Then the processes of git and the connections of one hook.
 */
import { spawnSync } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { openDatabase } from '../../src/engines/open-database.ts';
import { parseUrl } from '../../src/engines/registry.ts';
import { startAnyServer } from '../helpers/databases/any-server.ts';
import { createRepository } from '../helpers/linked-repository.ts';
import { PROGRAM } from '../helpers/program.ts';

const ROUNDS = 15;
/** A word of each call by the program. */
const OWN = 'safe.bareRepository=explicit';
const { values, positionals } = parseArgs({
  options: { mb: { type: 'string', default: '0' } },
  allowPositionals: true,
});
const programs = positionals.length > 0 ? positionals : [PROGRAM];
/** Rows of about a kilobyte. */
const fill = `CREATE TABLE filler AS SELECT n, repeat(md5(n::text), 30) AS text FROM generate_series(1, ${Number(values.mb) * 1000}) n`;

const server = await startAnyServer('postgres');
try {
  await using repository = await createRepository(server, { fill: [fill] });
  const { git, path, link, prune, contextWith } = repository;
  await link();
  const times = new Map<string, number[]>();
  const measure = async (name: string, work: () => unknown): Promise<void> => {
    const started = performance.now();
    await work();
    times.set(name, [...(times.get(name) ?? []), performance.now() - started]);
  };
  const use = (program: string): Promise<void> =>
    writeFile(path('bin/tool'), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`, { mode: 0o755 });
  const add = (name: string): void => {
    const { status, stderr } = git('main', 'worktree', 'add', '--quiet', path(name), '-b', name);
    if (status !== 0 || !stderr.includes('has the database of new branch')) throw new Error(stderr);
  };
  const remove = (name: string) => git('main', 'worktree', 'remove', '--force', path(name));
  for (let round = -1; round < ROUNDS; round++) {
    // The first round fills caches.
    if (round === 0) times.clear();
    const template = 'CREATE DATABASE bench_copy TEMPLATE "shop_dev.tool-base"';
    await measure('copy of the template', () => server.run('postgres', [template]));
    await server.drop('bench_copy');
    const hookless = [
      '-c',
      'core.hooksPath=/dev/null',
      'worktree',
      'add',
      '--quiet',
      path('plain'),
      '-b',
      `p${round + 1}`,
    ];
    await measure('git without the hook', () => git('main', ...hookless));
    remove('plain');
    for (const [index, program] of programs.entries()) {
      await use(program);
      const name = `t${index}-${round + 1}`;
      await measure(program, () => add(name));
      remove(name);
      // Earlier programs do not take it.
      if (program !== PROGRAM) continue;
      await spare();
      await measure(`${program} with a spare`, () => add(`${name}s`));
      if ((await spares()) !== 0) throw new Error('the spare was not taken');
      remove(`${name}s`);
    }
    await prune();
  }
  for (const [name, all] of times) {
    const sorted = all.toSorted((one, other) => one - other);
    const at = (part: number): string => (sorted[Math.floor(part * (sorted.length - 1))] ?? Number.NaN).toFixed(0);
    console.log(`${name}: median ${at(0.5)} ms (fastest ${at(0)}, slowest ${at(1)})`);
  }
  for (const [index, program] of programs.entries()) {
    await use(program);
    const before = await sessions();
    // A hook finds git in its own folder first: a program of this name on the PATH would count nothing.
    const { env } = repository;
    const words = ['-C', path('main'), 'worktree', 'add', '--quiet', path(`c${index}`), '-b', `c${index}`];
    spawnSync('git', words, { env: { ...env, GIT_TRACE2_EVENT: path('trace') } });
    const events = (await readFile(path('trace'), 'utf8')).trim().split('\n');
    await rm(path('trace'));
    // The session of the first question is counted by the second.
    const connections = (await sessions()) - before - 1;
    const calls = events
      .map((line) => JSON.parse(line))
      .filter(({ event, argv }) => event === 'start' && argv.includes(OWN));
    console.log(`${program}: ${calls.length} processes of git, ${connections} sessions`);
  }

  async function spare(): Promise<void> {
    await openDatabase(contextWith(), parseUrl(server.url('shop_dev'))).branches.replaceTakenSpare();
    if ((await spares()) !== 1) throw new Error('there is no spare');
  }

  async function spares(): Promise<number> {
    return (await server.column('postgres', "SELECT 1 FROM pg_database WHERE datname = 'shop_dev.tool-spare'")).length;
  }

  async function sessions(): Promise<number> {
    return Number((await server.column('postgres', 'SELECT sum(sessions) FROM pg_stat_database'))[0]);
  }
} finally {
  await server.stop();
}
