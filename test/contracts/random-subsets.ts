import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { applySubset, planSubset } from '../../src/operations/subset/subset.ts';
import type { SubsetSettings } from '../../src/subset/graph.ts';
import type { TestMysql } from '../helpers/mysql/mysql-server.ts';
import { type TestPostgres, testContext } from '../helpers/postgres/postgres-server.ts';
import { type Making, type RandomWorld, randomWorld } from '../subset/random-world.ts';
import { referenceSubset } from '../subset/reference.ts';

const PERCENT_SEED = 7;

/** A server on which random worlds are made, and how its SQL differs. */
export interface WorldServer {
  hash: Making['hash'];
  url(database: string): string;
  /** Begins the names of a world's tables. */
  prefix(database: string, seed: number): string;
  /** A new database with the worlds. */
  create(database: string, worlds: { prefix: string; sql: string }[]): Promise<void>;
  /** `table: (1,2,)` for each row of the tables. */
  rows(database: string, worlds: RandomWorld[]): Promise<string[]>;
  drop(database: string): Promise<void>;
}

interface Checking {
  server: WorldServer;
  directory: string;
  seeds: number[];
}

/** Worlds that know nothing of each other lie in one database, so that one run makes the subset of all of them. */
export async function checkWorlds({ server, directory, seeds }: Checking): Promise<void> {
  const name = `worlds_${seeds[0]}_${seeds.length}`;
  const worlds = seeds.map((seed) => {
    const prefix = server.prefix(name, seed);
    return { ...randomWorld(seed, { percentSeed: PERCENT_SEED, prefix, hash: server.hash }), prefix };
  });
  await server.create(name, worlds);
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
    settings: { working_directory: join(directory, 'work'), targets: { worlds: { subset: section } } },
  });
  const planned = await planSubset(context, { target: 'worlds', seed: PERCENT_SEED, cpus: 2 });
  const { proof } = await applySubset(context, planned);
  expect(proof.filter(({ orphans }) => orphans !== 0)).toEqual([]);
  expect(await server.rows(`${name}_small`, worlds)).toEqual(worlds.flatMap(expectedRows).sort());
  await server.drop(name);
  await server.drop(`${name}_small`);
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

export function worldsOnPostgres(server: TestPostgres, directory: string): WorldServer {
  /** By a file: an argument has not so much room. */
  async function run(database: string, sql: string): Promise<string> {
    const file = join(directory, 'statements.sql');
    await writeFile(file, sql);
    return server.psql(database, { file });
  }

  return {
    hash: 'md5',
    url: server.url,
    prefix: (_, seed) => `world_${seed}.`,
    async create(database, worlds) {
      await server.createDatabase(database);
      const sql = worlds.map((world) => `CREATE SCHEMA ${world.prefix.slice(0, -1)};\n${world.sql}`).join('\n');
      await run(database, sql);
    },
    async rows(database, worlds) {
      const tables = worlds.flatMap(({ world }) => [...world.tables.keys()]);
      const queries = tables.map((table) => `SELECT '${table}: ' || t::text FROM ${table} t`);
      const rows = await run(database, `${queries.join(' UNION ALL ')};`);
      return rows === '' ? [] : rows.trimEnd().split('\n').sort();
    },
    async drop(database) {
      await server.psql('postgres', { sql: `DROP DATABASE "${database}"` });
    },
  };
}

export function worldsOnMysql(server: TestMysql): WorldServer {
  return {
    hash: 'sha256',
    url: (database) => server.url(database),
    prefix: (database, seed) => `${database}.w${seed}_`,
    async create(database, worlds) {
      await server.createDatabase(database);
      await server.sql(database, 'SET foreign_key_checks = 0', ...worlds.flatMap(({ sql }) => sql.split('\n')));
    },
    async rows(database, worlds) {
      const tables = worlds.flatMap(({ world }) => [...world.tables]);
      const queries = tables.map(([table, rows]) => {
        const columns = [...(rows[0]?.values.keys() ?? [])].map((column) => `IFNULL(${column}, '')`);
        const name = table.slice(table.indexOf('.') + 1);
        return `SELECT CONCAT('${table}: (', CONCAT_WS(',', ${columns.join(', ')}), ')') AS line FROM ${name}`;
      });
      const rows = await server.sql<{ line: string }>(database, queries.join(' UNION ALL '));
      return rows.map(({ line }) => line).sort();
    },
    async drop(database) {
      await server.sql('', `DROP DATABASE ${database}`);
    },
  };
}
