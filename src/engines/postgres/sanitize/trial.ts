import { openingOf } from '../../../sanitize/suggestion.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { ReplacementTrial, TriedReplacement } from '../../facets/sanitize.ts';
import { SAMPLE_LENGTH } from '../../shared/sanitize/samples.ts';
import { connect, linesOf } from '../connection/connect.ts';
import { quoteNumber } from '../connection/quote.ts';
import { SqlError } from '../connection/session-errors.ts';
import { splitStatements } from './statements.ts';

/** In one transaction, which is rolled back: triggers and foreign keys are dropped as by the query. */
export async function tryReplacements(
  context: EngineContext,
  { url, query, choices, columns, rows }: ReplacementTrial,
): Promise<TriedReplacement[]> {
  const settings = { row_security: 'off', standard_conforming_strings: 'on', statement_timeout: '30s' };
  await using session = await connect(context, url, { settings });
  await session.execute('BEGIN');
  for (const { text } of splitStatements(openingOf(query, choices))) await session.execute(text);
  const tried: TriedReplacement[] = [];
  for (const { column, table, name, sql } of columns) {
    const some = `FROM ${table} WHERE ${name} IS NOT NULL LIMIT ${quoteNumber(rows)}`;
    const shown = (expression: string): string => `left((${expression}\n)::text, ${quoteNumber(SAMPLE_LENGTH)})`;
    let values: TriedReplacement['values'] = [];
    await session.execute('SAVEPOINT before_replacement');
    try {
      values = await session.query(`SELECT ${shown(name)} AS before, ${shown(sql)} AS after ${some}`);
      await session.execute(`UPDATE ${table} SET ${name} = ${sql}\n WHERE ctid = ANY (ARRAY(SELECT ctid ${some}))`);
      tried.push({ column, values, error: null });
    } catch (error) {
      if (!(error instanceof SqlError)) throw error;
      tried.push({ column, values, error: linesOf(error)[0] ?? error.sqlstate });
    }
    await session.execute('ROLLBACK TO SAVEPOINT before_replacement');
  }
  await session.execute('ROLLBACK');
  return tried;
}
