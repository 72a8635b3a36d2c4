import type { ColumnFacts } from '../../../sanitize/column-facts.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { CanaryRequest, InsertedCanaries } from '../../facets/sanitize.ts';
import { type NewRow, placeCanaries } from '../../shared/sanitize/place-canaries.ts';
import { connect } from '../connection/connect.ts';
import { asTable, quoteName, quoteText } from '../connection/quote.ts';
import { SqlError } from '../connection/session-errors.ts';
import { readForeignKeys } from './suggestion.ts';

export async function insertCanaries(context: EngineContext, request: CanaryRequest): Promise<InsertedCanaries> {
  await using session = await connect(context, request.url);
  const database = request.url.database ?? '';
  const schema = request.columns[0]?.schema ?? '';
  const keys = (await readForeignKeys(session, { database, schema })).map(({ pairs }) => pairs);
  await session.execute("SET sql_mode = 'STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO'");
  return await placeCanaries(
    {
      keys,
      async readRow(columns) {
        const list = columns.map((facts, at) => {
          const name = quoteName(facts.column);
          return `${isBytes(facts) ? `HEX(${name})` : `CAST(${name} AS CHAR)`} AS c${at}`;
        });
        const table = quoteName(columns[0]?.table ?? '');
        const [row] = await session.query<Record<string, string | null>>(
          `SELECT ${list.join(', ')} FROM ${asTable(table)} LIMIT 1`,
        );
        return row
          ? new Map(columns.map((facts, at) => [facts.column, literalOf(facts, row[`c${at}`] ?? null)]))
          : null;
      },
      async readNext({ table, column }) {
        const [row] = await session.query<{ next: string }>(
          `SELECT CAST(COALESCE(MAX(${quoteName(column)}), 0) + 1 AS CHAR) AS \`next\` FROM ${asTable(quoteName(table))}`,
        );
        return quoteText(row?.next ?? '1');
      },
      async insert(row, { isTrial }) {
        await session.execute('START TRANSACTION');
        try {
          await session.execute(insertText(row));
          await session.execute(isTrial ? 'ROLLBACK' : 'COMMIT');
          return true;
        } catch (error) {
          if (!(error instanceof SqlError)) throw error;
          await session.execute('ROLLBACK');
          return false;
        }
      },
    },
    request,
  );
}

/** Types whose values are no text. */
function isBytes({ family, type }: ColumnFacts): boolean {
  return family === 'binary' || /^bit/.test(type) || (family === 'other' && !/^(enum|set|uuid)/.test(type));
}

function literalOf(facts: ColumnFacts, value: string | null): string | null {
  if (value === null) return null;
  return isBytes(facts) ? `X${quoteText(value)}` : quoteText(value);
}

function insertText({ table, values }: NewRow): string {
  const names = values.map(({ facts }) => quoteName(facts.column)).join(', ');
  const given = values.map(({ value }) => ('mark' in value ? quoteText(value.mark) : (value.copied ?? 'NULL')));
  return `INSERT INTO ${quoteName(table.table)} (${names}) VALUES (${given.join(', ')})`;
}
