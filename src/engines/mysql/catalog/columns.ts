import type { MysqlSession } from '../connection/session.ts';

export interface ColumnRow {
  table: string;
  name: string;
  /** In lower case; `full_type` as the server writes it. */
  type: string;
  full_type: string;
  nullable: 'YES' | 'NO';
  extra: string;
  /** The expression of a generated column. */
  expression: string | null;
  charset: string | null;
  collation: string | null;
  characters: number | string | null;
  octets: number | string | null;
}

/** `within`: a condition on `TABLE_SCHEMA` and `TABLE_NAME`. */
export function readColumns(session: MysqlSession, within: string): Promise<ColumnRow[]> {
  return session.query<ColumnRow>(`
    SELECT TABLE_NAME AS \`table\`, COLUMN_NAME AS name, LOWER(DATA_TYPE) AS type, COLUMN_TYPE AS full_type,
      IS_NULLABLE AS nullable, EXTRA AS extra, GENERATION_EXPRESSION AS expression, CHARACTER_SET_NAME AS charset,
      COLLATION_NAME AS collation, CHARACTER_MAXIMUM_LENGTH AS characters, CHARACTER_OCTET_LENGTH AS octets
    FROM information_schema.COLUMNS WHERE ${within} ORDER BY TABLE_NAME, ORDINAL_POSITION`);
}

export interface TableIndex {
  table: string;
  name: string;
  isUnique: boolean;
  /** Without a name where it is an expression; `part` of a prefix. */
  columns: { name: string | null; part: number | null }[];
}

/** The primary key of a table is first. */
export async function readIndexes(session: MysqlSession, within: string): Promise<TableIndex[]> {
  const rows = await session.query<Omit<TableIndex, 'columns'> & TableIndex['columns'][number] & { index: string }>(`
    SELECT TABLE_NAME AS \`table\`, INDEX_NAME AS \`index\`, NON_UNIQUE = 0 AS isUnique, COLUMN_NAME AS name,
      SUB_PART AS part
    FROM information_schema.STATISTICS WHERE ${within}
    ORDER BY TABLE_NAME, INDEX_NAME <> 'PRIMARY', INDEX_NAME, SEQ_IN_INDEX`);
  // Grouped here: the server would merge `Case1` and `case1`.
  return [...Map.groupBy(rows, ({ table, index }) => JSON.stringify([table, index])).values()].flatMap((parts) =>
    parts.slice(0, 1).map(({ table, index, isUnique }) => ({
      ...{ table, name: index, isUnique: Number(isUnique) === 1 },
      columns: parts.map(({ name, part }) => ({ name, part })),
    })),
  );
}

export interface ForeignKeyRow {
  name: string;
  schema: string;
  table: string;
  columns: string[];
  otherSchema: string;
  otherTable: string;
  otherColumns: string[];
}

export async function readForeignKeys(session: MysqlSession, within: string): Promise<ForeignKeyRow[]> {
  const rows = await session.query<Omit<ForeignKeyRow, 'columns' | 'otherColumns'> & Record<'own' | 'other', string>>(`
    SELECT CONSTRAINT_NAME AS name, TABLE_SCHEMA AS \`schema\`, TABLE_NAME AS \`table\`, COLUMN_NAME AS own,
      REFERENCED_TABLE_SCHEMA AS otherSchema, REFERENCED_TABLE_NAME AS otherTable, REFERENCED_COLUMN_NAME AS other
    FROM information_schema.KEY_COLUMN_USAGE WHERE REFERENCED_TABLE_NAME IS NOT NULL AND ${within}
    ORDER BY TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION`);
  const keys = Map.groupBy(rows, ({ schema, table, name }) => JSON.stringify([schema, table, name]));
  return [...keys.values()].flatMap((parts) =>
    parts.slice(0, 1).map(({ own: _, other: __, ...key }) => ({
      ...key,
      columns: parts.map(({ own }) => own),
      otherColumns: parts.map(({ other }) => other),
    })),
  );
}
