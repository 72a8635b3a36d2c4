import type { Statement } from '../../../sanitize/statement.ts';
import { clientCommand, lineAt, statementRefused, unterminated } from '../../shared/sanitize/query-refused.ts';

interface Read extends Statement {
  words: string[];
}

/**
 * Splits as psql, which runs them: at semicolons outside quotes, comments, parentheses and bodies in standard SQL
 * (BEGIN ATOMIC … END).
 */
export function splitStatements(query: string): Statement[] {
  const statements = read(query);
  for (const statement of statements) refuse(statement);
  // The whole query is one transaction.
  const wanted = statements.filter(({ words }) => !TRANSACTION_BOUNDS.test(words.slice(0, 2).join(' ')));
  return wanted.map(({ number, line, text }) => ({ number, line, text }));
}

const LETTER = 'A-Za-z_\\u0080-\\uffff';
const TOKEN = new RegExp(
  [
    /(?<space>\s+|--[^\n]*)/.source,
    /(?<comment>\/\*)/.source,
    /(?<escaped>[eE]'(?:[^'\\]|\\[\s\S]|'')*')/.source,
    /(?<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*")/.source,
    `(?<dollar>\\$(?:[${LETTER}][${LETTER}0-9]*)?\\$)`,
    `(?<word>[${LETTER}][${LETTER}0-9$]*)`,
    // So that the `$` of `1$a$` starts no quote.
    `(?<number>[0-9][${LETTER}0-9$.]*)`,
    /(?<open>')|(?<openName>")/.source,
    /(?<other>[\s\S])/.source,
  ].join('|'),
  'y',
);

function read(query: string): Read[] {
  const statements: Read[] = [];
  let begin = -1;
  let words: string[] = [];
  let parentheses: number[] = [];
  let bodies = 0;
  let number = 0;

  const end = (at: number): void => {
    if (begin !== -1) {
      number += 1;
      statements.push({ number, line: lineAt(query, begin), text: query.slice(begin, at).trimEnd(), words });
    }
    begin = -1;
    words = [];
    parentheses = [];
    bodies = 0;
  };

  for (let at = 0; at < query.length; ) {
    TOKEN.lastIndex = at;
    const groups = TOKEN.exec(query)?.groups ?? {};
    const start = at;
    at = TOKEN.lastIndex;
    if (groups.space !== undefined) continue;
    if (groups.comment !== undefined) {
      at = endOfComment(query, start);
      continue;
    }
    if (groups.other === ';' && parentheses.length === 0 && bodies === 0) {
      end(start);
      continue;
    }
    if (begin === -1) begin = start;
    if (groups.open !== undefined || groups.openName !== undefined) throw unterminated(query, start, 'quote');
    if (groups.dollar !== undefined) {
      const close = query.indexOf(groups.dollar, at);
      if (close === -1) throw unterminated(query, start, 'dollar quote');
      at = close + groups.dollar.length;
    }
    if (groups.word !== undefined) {
      const word = groups.word.toUpperCase();
      words.push(word);
      if (parentheses.length === 0 && DEFINES_ROUTINE.test(words.slice(0, 4).join(' ')))
        bodies += bodyChange(word, bodies);
    }
    if (groups.other === '(') parentheses.push(start);
    if (groups.other === ')') parentheses.pop();
    if (groups.other === '\\') throw clientCommand(query, start, { client: 'psql', why: 'only SQL is run' });
  }
  const [open] = parentheses;
  if (open !== undefined) throw unterminated(query, open, 'parenthesis');
  if (bodies > 0) throw unterminated(query, begin, 'function body');
  end(query.length);
  return statements;
}

const DEFINES_ROUTINE = /^CREATE (OR REPLACE )?(FUNCTION|PROCEDURE)\b/;

/** As psql counts: BEGIN opens a body, CASE in it needs its own END. */
function bodyChange(word: string, bodies: number): number {
  if (word === 'BEGIN' || (word === 'CASE' && bodies > 0)) return 1;
  return word === 'END' && bodies > 0 ? -1 : 0;
}

/** Comments nest in PostgreSQL. */
function endOfComment(query: string, start: number): number {
  const edge = /\/\*|\*\//g;
  edge.lastIndex = start;
  let depth = 0;
  for (let match = edge.exec(query); match; match = edge.exec(query)) {
    depth += match[0] === '/*' ? 1 : -1;
    if (depth === 0) return edge.lastIndex;
  }
  throw unterminated(query, start, 'comment');
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

function refuse({ words, ...statement }: Read): void {
  const text = words.join(' ');
  const refusal = REFUSALS.find((each) => each.statement.test(text));
  if (!refusal) return;
  throw statementRefused(statement, refusal.why);
}
