import type { Relationship } from '../../../subset/graph.ts';
import type { SourceForeignKey, SourceSchema, SourceTable } from '../../../subset/source-schema.ts';
import { type ColumnRow, readColumns, readForeignKeys, readIndexes, type TableIndex } from '../catalog/columns.ts';
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

export async function readSubsetCatalog(session: MysqlSession, database: string): Promise<SubsetCatalog> {
  const within = await ownTablesIn(session, database);
  const columns = Map.groupBy(await readColumns(session, within), ({ table }) => table);
  const indexes = Map.groupBy(await readIndexes(session, within), ({ table }) => table);
  const tables = new Map<string, SubsetTable>();
  const facts: SourceTable[] = [];
  const indexed = new Map<string, Set<string>>();
  for (const catalog of await readTables(session, database)) {
    const name = `${database}.${catalog.name}`;
    const rows = (columns.get(catalog.name) ?? []).map(
      (row): CatalogRow => ({ ...row, fullType: row.full_type.toLowerCase(), octets: Number(row.octets ?? 0) }),
    );
    const own = indexes.get(catalog.name) ?? [];
    const keys = own.filter(isUniqueKey).map((index) => index.columns.map((column) => column.name ?? ''));
    const generated = new Set(catalog.columns.filter((column) => column.generated).map((column) => column.name));
    tables.set(name, tableOf(name, { catalog, columns: rows, keys }));
    indexed.set(name, new Set(own.map((index) => index.columns[0]?.name ?? '')));
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
  // References to other databases are not followed.
  for (const key of await readForeignKeys(session, `${within} AND REFERENCED_TABLE_SCHEMA = TABLE_SCHEMA`)) {
    const id = `${key.table}.${key.name}`;
    const [from, to] = [`${database}.${key.table}`, `${database}.${key.otherTable}`];
    const named = { from, columns: key.columns, to, refColumns: key.otherColumns };
    if (!isThere(tables, named)) {
      dangling.push(id);
      continue;
    }
    const isIndexed = indexed.get(from)?.has(named.columns[0] ?? '') ?? false;
    foreignKeys.push({ id, name: key.name, ...named, matchFull: false, indexed: isIndexed });
    references.set(id, referenceIn(tables, named));
  }
  return { facts: { tables: facts, foreignKeys }, tables, references, dangling };
}

function isThere(tables: SubsetCatalog['tables'], { to, refColumns }: Pick<Relationship, 'to' | 'refColumns'>) {
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
function isUniqueKey({ isUnique, columns }: TableIndex): boolean {
  return isUnique && columns.every(({ name, part }) => name !== null && part === null);
}

interface CatalogRow extends SubsetColumn {
  nullable: ColumnRow['nullable'];
}

interface TableFacts {
  catalog: CatalogTable;
  columns: CatalogRow[];
  keys: string[][];
}

function tableOf(name: string, { catalog, columns: rows, keys }: TableFacts): SubsetTable {
  const columns = new Map(rows.map((column) => [column.name, column]));
  const named = (names: string[]): CatalogRow[] => names.flatMap((column) => columns.get(column) ?? []);
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
