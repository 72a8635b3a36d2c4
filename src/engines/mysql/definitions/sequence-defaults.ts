import { type MysqlSession, quoteName, tablesIn } from '../connection/session.ts';
import { type Definitions, type SequenceDefault, type TableDefinition, withoutDatabase } from './definitions.ts';
import { entriesOf, joinEntries } from './table-entries.ts';
import { significant } from './tokens.ts';

/** The definitions without their own database's name before sequences, and the columns that draw from them. */
export function withSequencesOwn<Given extends Definitions>(definitions: Given, database: string): Given {
  const tables = definitions.tables.map((table) => withoutDatabaseOfSequences(table, database));
  const defaults = tables.flatMap(({ name, create }) =>
    sequenceColumns(create).map((column) => ({ table: name, column })),
  );
  return { ...definitions, tables, defaults };
}

export function withoutDatabaseOfSequences(table: TableDefinition, database: string): TableDefinition {
  if (sequenceColumns(table.create).length === 0) return table;
  const { head, entries, tail } = entriesOf(table.create);
  const own = entries.map((entry) => (draws(entry) ? withoutDatabase(entry, database) : entry));
  return { ...table, create: joinEntries({ head, entries: own, tail }) };
}

function sequenceColumns(create: string): string[] {
  // Most tables have none, and are not read token by token.
  return /val\s*\(/i.test(create) ? entriesOf(create).entries.filter(draws) : [];
}

function draws(entry: string): boolean {
  if (!entry.startsWith('`')) return false;
  return significant(entry).some(({ kind, value }) => kind === 'word' && ['NEXTVAL', 'LASTVAL'].includes(value));
}

/** Those of a database; MySQL has no sequences. */
export async function readSequenceDefaults(session: MysqlSession, database: string): Promise<SequenceDefault[]> {
  const tables = await session.query<{ name: string }>(`
    SELECT DISTINCT CAST(TABLE_NAME AS BINARY) AS name FROM information_schema.COLUMNS
    WHERE ${tablesIn(database)} AND COLUMN_DEFAULT LIKE '%val(%'`);
  const found: SequenceDefault[] = [];
  for (const { name: bytes } of tables) {
    const table = bytes.toString();
    const [row = {}] = await session.query<Record<string, string>>(
      `SHOW CREATE TABLE ${quoteName(database)}.${quoteName(table)}`,
    );
    const columns = sequenceColumns(row['Create Table'] ?? '');
    found.push(...columns.map((column) => ({ table, column: withoutDatabase(column, database) })));
  }
  return found;
}

/** Draws from the sequences of the session's database; no row is touched. */
export async function setSequenceDefaults(session: MysqlSession, defaults: SequenceDefault[]): Promise<void> {
  for (const statement of defaultStatements(defaults)) await session.execute(statement);
}

export function defaultStatements(defaults: SequenceDefault[]): string[] {
  if (defaults.length === 0) return [];
  // The server wants every sequence of a table to be there when one of its columns is changed.
  const changes = [...Map.groupBy(defaults, ({ table }) => table)].map(([table, columns]) => {
    const clauses = columns.map(({ column }) => `MODIFY COLUMN ${column}`);
    return `ALTER TABLE ${quoteName(table)} ${clauses.join(', ')}`;
  });
  return [
    'SET @tool_history = @@system_versioning_alter_history, system_versioning_alter_history = KEEP',
    ...changes,
    'SET system_versioning_alter_history = @tool_history',
  ];
}
