import { quoteName, quotePath, tablesIn } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';
import type { Definitions, SequenceDefault, TableDefinition } from './definitions.ts';
import { withoutDatabase } from './statement-text.ts';
import { entriesOf, joinEntries } from './table-entries.ts';
import { significant } from './tokens.ts';

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
  // Skips the lexer for most tables.
  return /val\s*\(/i.test(create) ? entriesOf(create).entries.filter(draws) : [];
}

function draws(entry: string): boolean {
  if (!entry.startsWith('`')) return false;
  return significant(entry).some(({ kind, value }) => kind === 'word' && ['NEXTVAL', 'LASTVAL'].includes(value));
}

export async function readSequenceDefaults(session: MysqlSession, database: string): Promise<SequenceDefault[]> {
  const tables = await session.query<{ name: string }>(`
    SELECT DISTINCT CAST(TABLE_NAME AS BINARY) AS name FROM information_schema.COLUMNS
    WHERE ${tablesIn(database)} AND COLUMN_DEFAULT LIKE '%val(%'`);
  const found: SequenceDefault[] = [];
  for (const { name: bytes } of tables) {
    const table = bytes.toString();
    const [row = {}] = await session.query<Record<string, string>>(`SHOW CREATE TABLE ${quotePath(database, table)}`);
    const columns = sequenceColumns(row['Create Table'] ?? '');
    found.push(...columns.map((column) => ({ table, column: withoutDatabase(column, database) })));
  }
  return found;
}

export function defaultStatements(defaults: SequenceDefault[]): string[] {
  if (defaults.length === 0) return [];
  // When a column changes, the server needs every sequence of its table.
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
