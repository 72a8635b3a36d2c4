import { inDatabase, quoteName, quotePath } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { SqlError } from '../../connection/session-errors.ts';
import { type ForeignKeyRow, readForeignKeys } from '../columns.ts';

/** The answers of SHOW CREATE TABLE, in the order of the names. */
export async function showTables(session: MysqlSession, database: string, names: string[]) {
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

/** MariaDB 11.8 does not double a backtick in the names of foreign keys and of their columns. */
async function withBackticks(session: MysqlSession, [database, table]: [string, string], create: string) {
  const own = `${inDatabase('TABLE_SCHEMA', database)} AND ${inDatabase('TABLE_NAME', table)}`;
  const keys = await readForeignKeys(session, own);
  return keys.reduce((text, key) => text.replace(clauseOf(key, asShown), () => clauseOf(key, quoteName)), create);
}

function asShown(name: string): string {
  return `\`${name}\``;
}

function clauseOf(key: ForeignKeyRow, quote: (name: string) => string): string {
  const { name, schema, otherSchema, otherTable } = key;
  const [from, to] = [key.columns, key.otherColumns].map((columns) => `(${columns.map(quote).join(', ')})`);
  const table = otherSchema === schema ? quoteName(otherTable) : quotePath(otherSchema, otherTable);
  return `CONSTRAINT ${quote(name)} FOREIGN KEY ${from} REFERENCES ${table} ${to}`;
}
