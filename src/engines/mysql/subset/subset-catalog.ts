import type { Relationship } from '../../../subset/graph.ts';
import type { SourceForeignKey, SourceSchema, SourceTable } from '../../../subset/source-schema.ts';
import { type CatalogTable, ownTablesIn, readTables } from '../catalog/tables.ts';
import type { MysqlSession } from '../connection/session.ts';
import { comparableFamily, familyOf, type KeyPart, keyPartOf, type SubsetColumn, wholeRowPart } from './keys.ts';
import { createRowNumbers, type RowNumbers } from './rows.ts';

export interface SubsetCatalog {
  facts: SourceSchema;
  tables: Map<string, SubsetTable>;
  references: Map<string, Reference>;
  /** Foreign keys to missing tables or columns. */
  dangling: string[];
}

export interface SubsetTable {
  name: string;
  catalog: CatalogTable;
  columns: Map<string, SubsetColumn>;
  primaryKey: SubsetColumn[];
  key: KeyPart[];
  unique: boolean;
  numbers: RowNumbers;
}

export interface Reference {
  from: SubsetTable;
  columns: SubsetColumn[];
  to: SubsetTable;
  refColumns: SubsetColumn[];
}

interface ColumnRow extends SubsetColumn {
  table_: string;
  nullable: 'YES' | 'NO';
}

interface IndexRow {
  table_: string;
  name: string;
  unique_: number;
  column_: string | null;
  part: number | null;
}

interface KeyRow {
  table_: string;
  name: string;
  column_: string;
  refers_to: string;
  ref_column: string;
}

export async function readSubsetCatalog(session: MysqlSession, database: string): Promise<SubsetCatalog> {
  const within = await ownTablesIn(session, database);
  const columns = Map.groupBy(await session.query<ColumnRow>(columnsQuery(within)), ({ table_ }) => table_);
  const indexes = Map.groupBy(await session.query<IndexRow>(indexesQuery(within)), ({ table_ }) => table_);
  const tables = new Map<string, SubsetTable>();
  const facts: SourceTable[] = [];
  const indexed = new Map<string, Set<string>>();
  for (const catalog of await readTables(session, database)) {
    const name = `${database}.${catalog.name}`;
    const rows = columns.get(catalog.name) ?? [];
    const own = [...Map.groupBy(indexes.get(catalog.name) ?? [], (index) => index.name).values()];
    const keys = own.filter(isUniqueKey).map((index) => index.map(({ column_ }) => column_ ?? ''));
    const generated = new Set(catalog.columns.filter((column) => column.generated).map((column) => column.name));
    tables.set(name, tableOf(name, { catalog, columns: rows, keys }));
    indexed.set(name, new Set(own.map(([first]) => first?.column_ ?? '')));
    facts.push({
      name,
      columns: rows.map((column) => ({
        name: column.name,
        nullable: column.nullable === 'YES',
        generated: generated.has(column.name),
        type: column.fullType,
        family: comparableFamily(column),
      })),
      keys,
      rows: catalog.rows,
      bytes: catalog.bytes,
    });
  }
  const dangling: string[] = [];
  const references = new Map<string, Reference>();
  const foreignKeys: SourceForeignKey[] = [];
  const keyRows = await session.query<KeyRow>(foreignKeysQuery(within));
  for (const [id, parts] of Map.groupBy(keyRows, ({ table_, name }) => `${table_}.${name}`)) {
    const [first] = parts;
    const from = `${database}.${first?.table_}`;
    const to = `${database}.${first?.refers_to}`;
    const named = {
      from,
      columns: parts.map(({ column_ }) => column_),
      to,
      refColumns: parts.map((p) => p.ref_column),
    };
    if (!isThere(tables, named)) {
      dangling.push(id);
      continue;
    }
    const isIndexed = indexed.get(from)?.has(named.columns[0] ?? '') ?? false;
    foreignKeys.push({ id, name: first?.name ?? '', ...named, matchFull: false, indexed: isIndexed });
    references.set(id, referenceIn(tables, named));
  }
  return { facts: { tables: facts, foreignKeys }, tables, references, dangling };
}

function isThere(
  tables: SubsetCatalog['tables'],
  { to, refColumns }: Pick<Relationship, 'to' | 'refColumns'>,
): boolean {
  const columns = tables.get(to)?.columns;
  return columns !== undefined && refColumns.every((name) => columns.has(name));
}

export function referenceIn(
  tables: SubsetCatalog['tables'],
  { from, columns, to, refColumns }: Pick<Relationship, 'from' | 'columns' | 'to' | 'refColumns'>,
): Reference {
  const table = (name: string): SubsetTable => {
    const found = tables.get(name);
    if (!found) throw new Error(`the catalog has no table ${name}`);
    return found;
  };
  const column = ({ name, columns: all }: SubsetTable, wanted: string): SubsetColumn => {
    const found = all.get(wanted);
    if (!found) throw new Error(`the catalog has no column ${name}.${wanted}`);
    return found;
  };
  const [own, other] = [table(from), table(to)];
  return {
    from: own,
    columns: columns.map((name) => column(own, name)),
    to: other,
    refColumns: refColumns.map((name) => column(other, name)),
  };
}

/** Not over expressions or prefixes. */
function isUniqueKey(index: IndexRow[]): boolean {
  return index.every(({ unique_, column_, part }) => Number(unique_) === 1 && column_ !== null && part === null);
}

interface TableFacts {
  catalog: CatalogTable;
  columns: ColumnRow[];
  keys: string[][];
}

function tableOf(name: string, { catalog, columns: rows, keys }: TableFacts): SubsetTable {
  const columns = new Map(rows.map((column) => [column.name, column]));
  const named = (names: string[]): ColumnRow[] => names.flatMap((column) => columns.get(column) ?? []);
  const key = named(keys.find((names) => named(names).every(({ nullable }) => nullable === 'NO')) ?? []);
  return {
    name,
    catalog,
    columns,
    primaryKey: named(catalog.key),
    key: key.length > 0 ? key.map(keyPartOf) : [wholeRowPart(rows)],
    unique: key.length > 0,
    numbers: createRowNumbers(key.length === 1 && key.every((column) => familyOf(column) === 'integer')),
  };
}

const columnsQuery = (within: string): string => `
  SELECT TABLE_NAME AS table_, COLUMN_NAME AS name, LOWER(DATA_TYPE) AS type, LOWER(COLUMN_TYPE) AS fullType,
    IS_NULLABLE AS nullable, CHARACTER_SET_NAME AS charset, COLLATION_NAME AS collation,
    COALESCE(CHARACTER_OCTET_LENGTH, 0) AS octets
  FROM information_schema.COLUMNS WHERE ${within} ORDER BY TABLE_NAME, ORDINAL_POSITION`;

const indexesQuery = (within: string): string => `
  SELECT TABLE_NAME AS table_, INDEX_NAME AS name, NON_UNIQUE = 0 AS unique_, COLUMN_NAME AS column_, SUB_PART AS part
  FROM information_schema.STATISTICS WHERE ${within}
  ORDER BY TABLE_NAME, INDEX_NAME <> 'PRIMARY', INDEX_NAME, SEQ_IN_INDEX`;

/** References to other databases are not followed. */
const foreignKeysQuery = (within: string): string => `
  SELECT TABLE_NAME AS table_, CONSTRAINT_NAME AS name, COLUMN_NAME AS column_,
    REFERENCED_TABLE_NAME AS refers_to, REFERENCED_COLUMN_NAME AS ref_column
  FROM information_schema.KEY_COLUMN_USAGE WHERE ${within} AND REFERENCED_TABLE_SCHEMA = TABLE_SCHEMA
  ORDER BY TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION`;
