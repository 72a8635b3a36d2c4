import { redact } from '../../../process/redact.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { ReplacementTrial, TriedReplacement } from '../../facets/sanitize.ts';
import { SAMPLE_LENGTH } from '../../shared/sanitize/samples.ts';
import { connect } from '../connection/connect.ts';
import { asTable, inDatabase, quoteName } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { SqlError } from '../connection/session-errors.ts';
import { detailsOf } from '../details.ts';
import { assertOwnDatabaseOnly, SETTINGS } from './query.ts';
import { DROP_FUNCTIONS } from './replacements.ts';
import { splitStatements } from './statements.ts';

/** Each column in a transaction, which is rolled back, without checks of foreign keys. */
export async function tryReplacements(
  context: EngineContext,
  { url, manifest, query, columns, rows }: ReplacementTrial,
): Promise<TriedReplacement[]> {
  const database = url.database ?? '';
  await using session = await connect(context, url);
  const statements = columns.map(({ table, name, sql }, index) => {
    return { number: index + 1, line: 1, text: `UPDATE ${table} SET ${name} = ${sql}` };
  });
  await assertOwnDatabaseOnly(session, statements, { copy: database, original: detailsOf(manifest).database });
  for (const setting of [...SETTINGS, 'SET foreign_key_checks = 0']) await session.execute(setting);
  const rollsBack = await tablesThatRollBack(session, database);
  const drop = DROP_FUNCTIONS.map((statement) => statement.replace('DROP FUNCTION', 'DROP FUNCTION IF EXISTS'));
  for (const statement of drop) await session.execute(statement);
  for (const { text } of splitStatements(query.functions)) await session.execute(text);
  const limit = Math.trunc(rows);
  const tried: TriedReplacement[] = [];
  for (const { column, table, name, sql } of columns) {
    const some = `WHERE ${name} IS NOT NULL LIMIT ${limit}`;
    let values: TriedReplacement['values'] = [];
    await session.execute('START TRANSACTION');
    try {
      const read = `SELECT ${shown(name)} AS \`before\`, ${shown(sql)} AS \`after\` FROM ${asTable(table)} ${some}`;
      values = await session.query(read);
      if (rollsBack.has(table)) await session.execute(`UPDATE ${asTable(table)} SET ${name} = ${sql}\n ${some}`);
      tried.push({ column, values, error: null });
    } catch (error) {
      if (!(error instanceof SqlError)) throw error;
      tried.push({ column, values, error: redact(error.message) });
    }
    await session.execute('ROLLBACK');
  }
  for (const statement of drop) await session.execute(statement);
  return tried;
}

/** Bytes that are no text are `(binary)`. */
function shown(expression: string): string {
  const value = `(${expression}\n)`;
  return `IF(${value} IS NULL, NULL, coalesce(left(cast(${value} AS CHAR), ${SAMPLE_LENGTH}), '(binary)'))`;
}

/** An UPDATE of another table would stay. */
async function tablesThatRollBack(session: MysqlSession, database: string): Promise<Set<string>> {
  const rows = await session.query<{ name: string }>(`
    SELECT t.TABLE_NAME AS name FROM information_schema.TABLES t JOIN information_schema.ENGINES e ON e.ENGINE = t.ENGINE
    WHERE e.TRANSACTIONS = 'YES' AND ${inDatabase('t.TABLE_SCHEMA', database)}`);
  return new Set(rows.map(({ name }) => quoteName(name)));
}
