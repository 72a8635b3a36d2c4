import type { ExcludedRows } from '../../../results/excluded-rows.ts';
import type { Report } from '../../../runtime/events.ts';
import type { DumpRequest } from '../../facets/dump.ts';
import { assertNullable, chooseExcluded, nullifiedWarnings, type ReferencingKey } from '../../shared/excluded-rows.ts';
import { type CatalogTable, keysWithOwnRows } from '../catalog/tables.ts';
import { inDatabase, quoteName, quotePath } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';

interface KeyRow {
  table_: string;
  name: string;
  column_: string;
  refers_to: string;
  nullable: 'YES' | 'NO';
}

/** The rows that a dump leaves out, by `DumpRequest.excludeRows`. */
export interface Exclusion {
  /** All tables of the dump, with the columns that are read as NULL. */
  tables: CatalogTable[];
  excluded: Set<string>;
  details: ExcludedRows | null;
}

interface ExclusionOptions {
  tables: CatalogTable[];
  /** Name of the database in the snapshot, which patterns and messages write before a table. */
  schema: string;
  request: DumpRequest;
  report: Report;
}

/**
 * Finds the tables whose rows are not read, and the columns that are read as NULL because they reference these tables,
 * and counts the references shortly after the instant of the dump.
 */
export async function readExclusion(
  session: MysqlSession,
  { tables, schema, request, report }: ExclusionOptions,
): Promise<Exclusion> {
  const { excludeRows, url } = request;
  if (!excludeRows || excludeRows.patterns.length === 0) return { tables, excluded: new Set(), details: null };
  const database = url.database ?? '';
  const named = (table: string): string => `${schema}.${table}`;
  const byName = new Map(tables.map((table) => [named(table.name), table]));
  const chosen = chooseExcluded(excludeRows.patterns, { tables: [...byName.keys()], database: url.display });
  const excluded = new Set(chosen.flatMap((name) => byName.get(name)?.name ?? []));
  const within = await keysWithOwnRows(session, inDatabase('CONSTRAINT_SCHEMA', database));
  const rows = (await session.query<KeyRow>(foreignKeysQuery(within))).filter(
    ({ table_, refers_to }) => excluded.has(refers_to) && !excluded.has(table_),
  );
  const keys = [...Map.groupBy(rows, ({ table_, name }) => JSON.stringify([table_, name])).values()].flatMap(
    (parts) => {
      const [first] = parts;
      if (!first) return [];
      const columns = parts.map(({ column_ }) => column_);
      const required = parts.filter(({ nullable }) => nullable === 'NO').map(({ column_ }) => column_);
      const ends = { table: named(first.table_), references: named(first.refers_to) };
      return [{ ...ends, of: first.table_, name: first.name, columns, required }];
    },
  ) satisfies ReferencingKey[];
  assertNullable(keys, excludeRows);
  const nullified: ExcludedRows['nullified'] = [];
  for (const { of, table, columns, references } of keys) {
    const isNull = columns.map((column) => `${quoteName(column)} IS NULL`).join(' AND ');
    const [row] = await session.query<{ rows_: number | string }>(
      `SELECT COUNT(*) AS rows_ FROM ${quotePath(database, of)} WHERE NOT (${isNull})`,
    );
    nullified.push({ table, columns, references, rows: Number(row?.rows_ ?? 0) });
  }
  for (const warning of nullifiedWarnings(nullified)) report(warning);
  const nulled = Map.groupBy(keys, ({ of }) => of);
  return {
    tables: tables.map((table) => withNulled(table, nulled.get(table.name)?.flatMap(({ columns }) => columns) ?? [])),
    excluded,
    details: { tables: [...excluded].map(named).sort(), nullified },
  };
}

function withNulled(table: CatalogTable, nulled: string[]): CatalogTable {
  if (nulled.length === 0) return table;
  const columns = table.columns.map((column) => (nulled.includes(column.name) ? { ...column, nulled: true } : column));
  return { ...table, columns };
}

/** References to other databases are not followed. */
const foreignKeysQuery = (within: string): string => `
  SELECT k.TABLE_NAME AS table_, k.CONSTRAINT_NAME AS name, k.COLUMN_NAME AS column_, k.REFERENCED_TABLE_NAME AS refers_to,
    (SELECT c.IS_NULLABLE FROM information_schema.COLUMNS c WHERE c.TABLE_SCHEMA = k.TABLE_SCHEMA
      AND c.TABLE_NAME = k.TABLE_NAME AND c.COLUMN_NAME = k.COLUMN_NAME) AS nullable
  FROM information_schema.KEY_COLUMN_USAGE k WHERE ${within} AND k.REFERENCED_TABLE_SCHEMA = k.TABLE_SCHEMA
  ORDER BY k.TABLE_NAME, k.CONSTRAINT_NAME, k.ORDINAL_POSITION`;
