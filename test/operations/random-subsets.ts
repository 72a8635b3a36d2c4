import { expect } from 'vitest';
import { planSubset, subset } from '../../src/operations/subset.ts';
import type { TestPostgres } from '../helpers/postgres-server.ts';
import { testContext } from '../helpers/postgres-server.ts';
import { type RandomWorld, randomWorld } from '../subset/random-world.ts';
import { referenceSubset } from '../subset/reference.ts';

const PERCENT_SEED = 7;

interface Checking {
  server: TestPostgres;
  directory: string;
  seeds: number[];
}

/** Worlds that know nothing of each other lie in one database, so that one run makes the subset of all of them. */
export async function checkWorlds({ server, directory, seeds }: Checking): Promise<void> {
  const name = `worlds_${seeds[0]}`;
  const worlds = seeds.map((seed) => randomWorld(seed, PERCENT_SEED));
  await server.createDatabase(name);
  for (const { sql } of worlds) await server.psql(name, { sql });
  const settings = {
    src_url: server.url(name),
    dst_url: server.url(`${name}_small`),
    ...Object.fromEntries(SECTIONS.map((section) => [section, worlds.flatMap((world) => world.settings[section])])),
  };
  const context = testContext({
    settings: { working_directory: directory, targets: { worlds: { subset: settings } } },
  });
  const planned = await planSubset(context, { target: 'worlds', seed: PERCENT_SEED, cpus: 2 });
  const { proof } = await subset(context, planned);
  expect(proof.filter(({ orphans }) => orphans !== 0)).toEqual([]);
  for (const world of worlds) expect(await rowsOf(server, `${name}_small`, world)).toEqual(expectedRows(world));
  await server.psql('postgres', { sql: `DROP DATABASE "${name}"` });
  await server.psql('postgres', { sql: `DROP DATABASE "${name}_small"` });
}

const SECTIONS = [
  'subset_tables',
  'copy_tables',
  'excluded_tables',
  'added_relationships',
  'excluded_relationships',
] as const;

/** Every table's rows with all their values, as the rules want them. */
function expectedRows({ world, choice, nulled }: RandomWorld): string[] {
  return [...referenceSubset(world, choice)]
    .map(({ table, values }) => {
      const shown = [...values].map(([column, value]) => (nulled.get(table)?.has(column) ? '' : (value ?? '')));
      return `${table}: (${shown.join(',')})`;
    })
    .sort();
}

async function rowsOf(server: TestPostgres, database: string, { world }: RandomWorld): Promise<string[]> {
  const queries = [...world.tables.keys()].map((table) => `SELECT '${table}: ' || t::text FROM ${table} t`);
  const rows = await server.psql(database, { sql: queries.join(' UNION ALL ') });
  return rows === '' ? [] : rows.trimEnd().split('\n').sort();
}
