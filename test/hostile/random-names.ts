import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Settings } from '../../src/config/schema/settings.ts';
import { build } from '../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../src/operations/load/load.ts';
import { applySanitize, planSanitize } from '../../src/operations/sanitize/sanitize.ts';
import { applySubset, planSubset } from '../../src/operations/subset/subset.ts';
import { UserError } from '../../src/runtime/errors.ts';
import { fc } from '../helpers/fast-check.ts';
import { testContext } from '../helpers/postgres/postgres-server.ts';

/** A server of one engine, and the SQL that names a database's objects with given names. */
export interface NamedWorlds {
  url(database: string): string;
  /** Fills a new database with an object of every kind and a table of rows, whose key is the column `names[2]`. */
  create(database: string, names: string[]): Promise<void>;
  /** How the configuration names the table of rows. */
  table(database: string, names: string[]): string;
  dump(database: string): Promise<string>;
  databases(): Promise<string[]>;
  drop(databases: string[]): Promise<void>;
  /** Longest name in bytes, and the characters that the server itself refuses. */
  bytes: number;
  refused: RegExp;
}

/** What runs a program where a name ends a line or a statement. */
const PROGRAMS = (canary: string): string[] => [
  `\n\\! touch ${canary}\n`,
  `\n\\.\n\\! touch ${canary}\n`,
  `\\! touch ${canary}`,
  `\`touch ${canary}\``,
  `$(touch ${canary})`,
];

/** What ends a statement, a literal, a comment, a line or a meta-command. */
const FRAGMENTS = [
  `'; CREATE TABLE pwned (); --`,
  '"; DROP TABLE victim; --',
  '`; DROP TABLE victim; -- ',
  '*/ DROP TABLE victim; /*',
  '$check$; DROP TABLE victim; $check$',
  "$'",
  '$&',
  '$`',
  ':SQLSTATE',
  ":'HOST'",
  '\\gexec',
  '\\\\',
  '%s%n',
  '{{ "HOME" | env }}',
  '--help',
  '../../x',
  'a.b',
  ' ',
  '\t',
  '\r\n',
  '\x1b[2J',
  '\x01',
  '\x7f',
  '\u0085',
  '\u202e',
  'é',
  '表',
  '"',
  "'",
  '`',
  '\\',
  ';',
];

/** Distinct names of random bytes and of fragments that mean something to a program on the way. */
function namesOf(
  seed: number,
  { count, canary, world }: { count: number; canary: string; world: NamedWorlds },
): string[] {
  const piece = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...FRAGMENTS) },
    { weight: 2, arbitrary: fc.constantFrom(...PROGRAMS(canary)) },
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 0xff }).map((code) => String.fromCharCode(code)) },
    { weight: 1, arbitrary: fc.constantFrom('a', 'B', '0') },
  );
  const name = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(''));
  const usable = name.filter((text) => Buffer.byteLength(text) <= world.bytes - 2 && !world.refused.test(text));
  const names = fc.uniqueArray(usable, {
    minLength: count,
    maxLength: count,
    selector: (text) => text.toLowerCase().normalize('NFKD').replace(/\p{M}/gu, '').trim(),
  });
  const sampled = fc.sample(names, { seed, numRuns: 1 })[0] ?? [];
  // Each way of running a program has its turn in the name of a column.
  const programs = PROGRAMS(canary).filter((text) => !world.refused.test(text));
  return sampled.with(2, `x${programs[seed % programs.length]}y`);
}

/** What an operation came to: it worked, or it was refused by an error that a person understands. */
async function outcome(work: () => Promise<unknown>): Promise<'done' | 'refused'> {
  try {
    await work();
    return 'done';
  } catch (thrown) {
    if (!(thrown instanceof UserError)) throw thrown;
    return 'refused';
  }
}

/**
 * Builds, loads, subsets and sanitizes databases whose names are random bytes. Each operation gives an equal database
 * or a clear error; no name runs a program, changes the source or leaves a database behind.
 */
export async function checkNames({
  world,
  directory,
  seeds,
}: {
  world: NamedWorlds;
  directory: string;
  seeds: number[];
}) {
  const done = { build: 0, load: 0, subset: 0, sanitize: 0 };
  for (const seed of seeds) {
    const canary = join('/tmp', `c${seed}`);
    await rm(canary, { force: true });
    const source = `names_${seed}`;
    const copies = [`${source}_copy`, `${source}_small`, `${source}_clean`];
    const [copy = '', small = '', clean = ''] = copies;
    const names = namesOf(seed, { count: NAMES, canary, world });
    const before = await world.databases();
    await world.create(source, names);
    const original = await world.dump(source);
    const target = {
      snapshot: { src_url: world.url(source), dst_url: world.url(copy), schema_config: { use_default_schema: false } },
      subset: {
        src_url: world.url(source),
        dst_url: world.url(small),
        subset_tables: [{ table: world.table(source, names), percent: 100 }],
      },
      sanitize: { dst_url: world.url(clean), override_query: 'SELECT 1' },
    };
    const settings = {
      working_directory: await mkdtemp(join(directory, 'names-')),
      targets: { app: target },
    } as unknown as Partial<Settings>;
    const context = testContext({ settings });
    const told = `seed ${seed}: ${JSON.stringify(names)}`;
    const built = await outcome(() => build(context, { target: 'app', cpus: 2 }));
    if (built === 'done') {
      done.build += 1;
      // What was built must be loadable.
      await applyLoad(context, await planLoad(context, { target: 'app', cpus: 2 }));
      expect(await world.dump(copy), told).toBe(original);
      done.load += 1;
      const sanitized = await outcome(async () =>
        applySanitize(context, await planSanitize(context, { target: 'app', cpus: 2 })),
      );
      if (sanitized === 'done') done.sanitize += 1;
    }
    const reduced = await outcome(async () =>
      applySubset(context, await planSubset(context, { target: 'app', cpus: 2 })),
    );
    if (reduced === 'done') done.subset += 1;
    expect(existsSync(canary), `${told} ran a program`).toBe(false);
    expect(await world.dump(source), `${told} changed the source`).toBe(original);
    const left = (await world.databases()).filter((name) => !before.includes(name));
    expect(copies.concat(source), told).toEqual(expect.arrayContaining(left));
    await world.drop(left);
  }
  return done;
}

/** Kinds of objects that are named. */
const NAMES = 16;
