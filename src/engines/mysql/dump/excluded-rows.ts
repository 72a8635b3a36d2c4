import type { ExcludedRows } from '../../../results/excluded-rows.ts';
import type { Report } from '../../../runtime/events.ts';
import type { DumpRequest } from '../../facets/dump.ts';
import { chooseExcluded, nullifiedWarnings, referencesToNull } from '../../shared/rows/excluded-rows.ts';
import { type ForeignKey, nullConditions, referencing, type TableColumns } from '../../shared/rows/null-references.ts';
import { type ForeignKeyRow, readColumns, readForeignKeys, readIndexes } from '../catalog/columns.ts';
import { type CatalogTable, keysWithOwnRows, ownTablesIn } from '../catalog/tables.ts';
import { asTable, inDatabase, quoteName, quotePath } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';

/** The rows that a dump leaves out, by `DumpRequest.excludeRows`. */
export interface Exclusion {
  /** All tables of the dump, with the columns that are read as NULL. */
  tables: CatalogTable[];
  excluded: Set<string>;
  details: ExcludedRows | null;
}

/**
 * Finds the tables whose rows are not read, and the columns that are read as NULL because they reference these tables,
 * and counts the references shortly after the instant of the dump.
 */
export async function readExclusion(
  session: MysqlSession,
  { tables, schema, request, report }: { tables: CatalogTable[]; schema: string; request: DumpRequest; report: Report },
): Promise<Exclusion> {
  const { excludeRows, url } = request;
  if (!excludeRows || excludeRows.patterns.length === 0) return { tables, excluded: new Set(), details: null };
  const database = url.database ?? '';
  const named = (table: string): string => `${schema}.${table}`;
  const byName = new Map(tables.map((table) => [named(table.name), table]));
  const chosen = chooseExcluded(excludeRows.patterns, { tables: [...byName.keys()], database: url.display });
  const excluded = new Set(chosen.flatMap((name) => byName.get(name)?.name ?? []));
  const within = await keysWithOwnRows(session, inDatabase('CONSTRAINT_SCHEMA', database));
  const keys = (await readForeignKeys(session, within))
    .filter(({ table }) => !excluded.has(table))
    .map((key) => foreignKey(key, byName, named));
  const dangling = await referencesToNull(keys, {
    excluded: new Set([...excluded].map(named)),
    nullify: excludeRows.nullify,
    readColumns: () => readNeeds(session, { database, named, keys }),
  });
  const nullified: ExcludedRows['nullified'] = [];
  for (const { table, columns, nulled, references } of dangling) {
    const [row] = await session.query<{ rows_: number | string }>(
      `SELECT COUNT(*) AS rows_ FROM ${asTable(quotePath(database, byName.get(table)?.name ?? ''))} WHERE ${referencing(columns, quoteName)}`,
    );
    nullified.push({ table, columns: nulled, references, rows: Number(row?.rows_ ?? 0) });
  }
  for (const warning of nullifiedWarnings(nullified)) report(warning);
  const conditions = nullConditions(dangling, quoteName);
  return {
    tables: tables.map((table) => withNulled(table, conditions.get(named(table.name)))),
    excluded,
    details: { tables: [...excluded].map(named).sort(), nullified },
  };
}

function withNulled(table: CatalogTable, conditions: Map<string, string> | undefined): CatalogTable {
  if (!conditions) return table;
  const columns = table.columns.map((column) => {
    const nulledWhere = conditions.get(column.name);
    return nulledWhere === undefined ? column : { ...column, nulledWhere };
  });
  return { ...table, columns };
}

/** Names of columns in a key may differ from those of the table in upper and lower case. */
function foreignKey(key: ForeignKeyRow, byName: Map<string, CatalogTable>, named: (table: string) => string) {
  const [table, references] = [named(key.table), named(key.otherTable)];
  const columnsIn = (of: string, columns: string[]): string[] =>
    columns.map(
      (column) =>
        byName.get(of)?.columns.find(({ name }) => name.toLowerCase() === column.toLowerCase())?.name ?? column,
    );
  return {
    name: key.name,
    tables: [table],
    columns: columnsIn(table, key.columns),
    // References to other databases are not followed.
    references: key.otherSchema === key.schema ? [references] : [],
    referencedColumns: columnsIn(references, key.otherColumns),
    isFull: false,
  };
}

/** Expressions name columns in quotes: one that only contains such text counts, too. */
async function readNeeds(
  session: MysqlSession,
  { database, named, keys }: { database: string; named: (table: string) => string; keys: ForeignKey[] },
): Promise<Map<string, TableColumns>> {
  const ownTables = await ownTablesIn(session, database);
  const columns = await readColumns(session, ownTables);
  const unique = (await readIndexes(session, ownTables)).filter(({ isUnique }) => isUnique);
  const checks = Map.groupBy(await readChecks(session, database), ({ table_ }) => table_);
  const uniqueIn = Map.groupBy(unique, ({ table }) => table);
  const inKeys = new Set(
    keys.flatMap((key) => key.tables.flatMap((table) => key.columns.map((name) => `${table}.${name}`))),
  );
  return new Map(
    [...Map.groupBy(columns, ({ table }) => table)].map(([table, own]) => {
      const generated = own.filter(({ expression }) => (expression ?? '') !== '');
      const needing = [
        ...generated
          .filter(({ name, nullable }) => nullable === 'NO' || inKeys.has(`${named(table)}.${name}`))
          .map(({ name, expression }) => ({ why: `generated column ${name}`, expression: expression ?? '' })),
        ...(checks.get(table) ?? []).map(({ name, expression }) => ({ why: `check constraint ${name}`, expression })),
      ];
      const required = own.flatMap((column): [string, string][] => {
        if (column.nullable === 'NO') return [[column.name, '']];
        if (generated.includes(column)) return [[column.name, 'generated column']];
        const quoted = quoteName(column.name).toLowerCase();
        const need = needing.find(({ expression }) => expression.toLowerCase().includes(quoted));
        return need ? [[column.name, need.why]] : [];
      });
      const parts = (uniqueIn.get(table) ?? []).flatMap((index) => index.columns);
      return [named(table), { required: new Map(required), unique: new Set(parts.flatMap(({ name }) => name ?? [])) }];
    }),
  );
}

interface CheckRow {
  table_: string;
  name: string;
  expression: string;
}

/** MySQL 5.7 has no checks; names of MariaDB's are unique within a table, those of MySQL's in a database. */
async function readChecks(session: MysqlSession, database: string): Promise<CheckRow[]> {
  const known = await session.query<{ name: string }>(`
    SELECT UPPER(COLUMN_NAME) AS name FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = 'information_schema' AND TABLE_NAME = 'CHECK_CONSTRAINTS'`);
  if (known.length === 0) return [];
  const within = inDatabase('c.CONSTRAINT_SCHEMA', database);
  const [table, join] = known.some(({ name }) => name === 'TABLE_NAME')
    ? ['c.TABLE_NAME', '']
    : ['t.TABLE_NAME', 'JOIN information_schema.TABLE_CONSTRAINTS t USING (CONSTRAINT_SCHEMA, CONSTRAINT_NAME)'];
  return session.query<CheckRow>(`
    SELECT ${table} AS table_, CONSTRAINT_NAME AS name, CHECK_CLAUSE AS expression
    FROM information_schema.CHECK_CONSTRAINTS c ${join} WHERE ${within}`);
}
