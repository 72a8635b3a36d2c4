import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { planSubset, subset } from '../../src/operations/subset.ts';
import type { SubsetSettings } from '../../src/subset/graph.ts';
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
  const file = join(directory, `${name}.sql`);
  await writeFile(file, worlds.map(({ sql }) => sql).join('\n'));
  await server.psql(name, { file });
  const section: SubsetSettings = {
    src_url: server.url(name),
    dst_url: server.url(`${name}_small`),
    subset_tables: worlds.flatMap(({ settings }) => settings.subset_tables),
    copy_tables: worlds.flatMap(({ settings }) => settings.copy_tables),
    excluded_tables: worlds.flatMap(({ settings }) => settings.excluded_tables),
    added_relationships: worlds.flatMap(({ settings }) => settings.added_relationships),
    excluded_relationships: worlds.flatMap(({ settings }) => settings.excluded_relationships),
  };
  const context = testContext({
    settings: { working_directory: directory, targets: { worlds: { subset: section } } },
  });
  const planned = await planSubset(context, { target: 'worlds', seed: PERCENT_SEED, cpus: 2 });
  const { proof } = await subset(context, planned);
  expect(proof.filter(({ orphans }) => orphans !== 0)).toEqual([]);
  for (const world of worlds) expect(await rowsOf(server, `${name}_small`, world)).toEqual(expectedRows(world));
  await server.psql('postgres', { sql: `DROP DATABASE "${name}"` });
  await server.psql('postgres', { sql: `DROP DATABASE "${name}_small"` });
}

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
