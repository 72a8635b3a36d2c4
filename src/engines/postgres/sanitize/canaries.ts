import type { ColumnFacts } from '../../../sanitize/column-facts.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { CanaryRequest, InsertedCanaries } from '../../facets/sanitize.ts';
import { type NewRow, placeCanaries } from '../../shared/sanitize/place-canaries.ts';
import { connect } from '../connection/connect.ts';
import { quoteName, quotePath, quoteText } from '../connection/quote.ts';
import { SqlError } from '../connection/session-errors.ts';
import { readForeignKeys } from './suggestion.ts';

export async function insertCanaries(context: EngineContext, request: CanaryRequest): Promise<InsertedCanaries> {
  const settings = { row_security: 'off', standard_conforming_strings: 'on', statement_timeout: '30s' };
  await using session = await connect(context, request.url, { settings });
  const keys = (await readForeignKeys(session)).map(({ pairs }) => pairs);
  await session.execute('BEGIN');
  const inserted = await placeCanaries(
    {
      keys,
      async readRow(columns) {
        const list = columns.map(({ column }, at) => `${quoteName(column)}::text AS c${at}`);
        const [table] = columns;
        const [row] = await session.query<Record<string, string | null>>(
          `SELECT ${list.join(', ')} FROM ${nameOf(table)} LIMIT 1`,
        );
        return row ? new Map(columns.map(({ column }, at) => [column, row[`c${at}`] ?? null])) : null;
      },
      async readNext(column) {
        const [row] = await session.query<{ next: string }>(
          `SELECT (coalesce(max(${quoteName(column.column)}), 0) + 1)::text AS next FROM ${nameOf(column)}`,
        );
        return row?.next ?? '1';
      },
      async insert(row, { isTrial }) {
        await session.execute('SAVEPOINT canary');
        try {
          await session.execute(insertText(row));
          // Deferred keys would refuse the row later.
          await session.execute('SET CONSTRAINTS ALL IMMEDIATE');
          if (isTrial) await session.execute('ROLLBACK TO SAVEPOINT canary');
          return true;
        } catch (error) {
          if (!(error instanceof SqlError)) throw error;
          await session.execute('ROLLBACK TO SAVEPOINT canary');
          return false;
        }
      },
    },
    request,
  );
  await session.execute('COMMIT');
  return inserted;
}

function nameOf(facts: Pick<ColumnFacts, 'schema' | 'table'> | undefined): string {
  return quotePath(facts?.schema ?? '', facts?.table ?? '');
}

function insertText({ table, values }: NewRow): string {
  if (values.length === 0) return `INSERT INTO ${nameOf(table)} DEFAULT VALUES`;
  const names = values.map(({ facts }) => quoteName(facts.column)).join(', ');
  const given = values.map(({ value }) => {
    if ('mark' in value) return quoteText(value.mark);
    return value.copied === null ? 'NULL' : quoteText(value.copied);
  });
  return `INSERT INTO ${nameOf(table)} (${names}) OVERRIDING SYSTEM VALUE VALUES (${given.join(', ')})`;
}
