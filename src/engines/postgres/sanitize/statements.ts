import type { Statement } from '../../../sanitize/statement.ts';
import { type SplitStatement, splitQuery, statementRefused } from '../../shared/sanitize/query-refused.ts';
import { createSplitter } from '../restore/script/split.ts';

/**
 * Splits as the server's lexer: at semicolons outside quotes, comments, parentheses and bodies in standard SQL (BEGIN
 * ATOMIC … END).
 */
export function splitStatements(query: string): Statement[] {
  const statements = splitQuery(query, createSplitter());
  for (const statement of statements) refuse(statement);
  // The whole query is one transaction.
  const wanted = statements.filter(({ words }) => !TRANSACTION_BOUNDS.test(words.slice(0, 2).join(' ')));
  return wanted.map(({ number, line, text }) => ({ number, line, text }));
}

const TRANSACTION_BOUNDS = /^(BEGIN|START TRANSACTION|COMMIT|END)\b/;

const REFUSALS: { statement: RegExp; why: string }[] = [
  { statement: /^COPY .*\b(STDIN|STDOUT)\b/, why: 'rows cannot be part of a query: write INSERT … VALUES instead' },
  {
    statement:
      /^((CREATE|DROP) (DATABASE|TABLESPACE)|ALTER SYSTEM|(CREATE|DROP|ALTER) (ROLE|USER|GROUP))\b(?! MAPPING)/,
    why: 'it reaches beyond the database that is sanitized',
  },
  {
    statement: /^(ROLLBACK|ABORT)\b(?!.* TO\b)|^PREPARE TRANSACTION\b/,
    why: 'it would take back what the query has done',
  },
  { statement: /^SET .*\bSTANDARD_CONFORMING_STRINGS\b/, why: 'it would change where quotes end' },
];

function refuse({ words, ...statement }: SplitStatement): void {
  const text = words.join(' ');
  const refusal = REFUSALS.find((each) => each.statement.test(text));
  if (!refusal) return;
  throw statementRefused(statement, refusal.why);
}
