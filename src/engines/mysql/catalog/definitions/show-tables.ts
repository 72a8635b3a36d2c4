import { inDatabase, quoteName, quotePath } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { SqlError } from '../../connection/session-errors.ts';

/** The answers of SHOW CREATE TABLE, in the order of the names. */
export async function showTables(
  session: MysqlSession,
  database: string,
  names: string[],
): Promise<(string | SqlError)[]> {
  const answers = await session.queryEach<Record<string, string | null>>(
    names.map((name) => `SHOW CREATE TABLE ${quotePath(database, name)}`),
  );
  const shown: (string | SqlError)[] = [];
  for (const [at, answer] of answers.entries()) {
    const create = answer instanceof SqlError ? answer : (answer[0]?.['Create Table'] ?? '');
    const isDoubtful = typeof create === 'string' && create.replaceAll(PLAIN_KEY, '').includes('FOREIGN KEY');
    shown.push(isDoubtful ? await withBackticks(session, [database, names[at] ?? ''], create) : create);
  }
  return shown;
}

const NAMES = '\\((?:`[^`]+`(?:, )?)+\\)';
const PLAIN_KEY = new RegExp(`CONSTRAINT \`[^\`]+\` FOREIGN KEY ${NAMES} REFERENCES \`[^\`]+\` ${NAMES}`, 'g');

interface KeyColumn {
  name: string;
  own: string;
  own_column: string;
  other: string;
  other_table: string;
  other_column: string;
}

/** MariaDB 11.8 does not double a backtick in the names of foreign keys and of their columns. */
async function withBackticks(
  session: MysqlSession,
  [database, table]: [string, string],
  create: string,
): Promise<string> {
  const columns = await session.query<KeyColumn>(`
    SELECT CONSTRAINT_NAME AS name, TABLE_SCHEMA AS own, COLUMN_NAME AS own_column,
      REFERENCED_TABLE_SCHEMA AS other, REFERENCED_TABLE_NAME AS other_table, REFERENCED_COLUMN_NAME AS other_column
    FROM information_schema.KEY_COLUMN_USAGE
    WHERE ${inDatabase('TABLE_SCHEMA', database)} AND ${inDatabase('TABLE_NAME', table)} AND REFERENCED_TABLE_NAME IS NOT NULL
    ORDER BY CONSTRAINT_NAME, ORDINAL_POSITION`);
  const keys = [...Map.groupBy(columns, ({ name }) => name).values()];
  return keys.reduce((text, key) => text.replace(clauseOf(key, asShown), () => clauseOf(key, quoteName)), create);
}

function asShown(name: string): string {
  return `\`${name}\``;
}

function clauseOf(columns: KeyColumn[], quote: (name: string) => string): string {
  const [{ name, own, other, other_table }] = columns as [KeyColumn];
  const list = (names: string[]): string => `(${names.map(quote).join(', ')})`;
  const from = list(columns.map(({ own_column }) => own_column));
  const to = list(columns.map(({ other_column }) => other_column));
  const table = other === own ? quoteName(other_table) : quotePath(other, other_table);
  return `CONSTRAINT ${quote(name)} FOREIGN KEY ${from} REFERENCES ${table} ${to}`;
}
