import type { Statement } from '../../../sanitize/statement.ts';
import { splitQuery, statementRefused } from '../../shared/sanitize/query-refused.ts';
import { type LexicalMode, tokensOf } from '../catalog/definitions/tokens.ts';
import { assertNoClientCommand } from '../restore/script/accept-statement.ts';
import { createSplitter, type MysqlStatement } from '../restore/script/split.ts';

/** Splits as the server's lexer: at delimiters outside quotes and comments, which a DELIMITER line sets. */
export function splitStatements(query: string): Statement[] {
  const splitter = createSplitter({
    accept(statement) {
      assertNoClientCommand(statement);
      refuse(statement);
      return statement;
    },
  });
  return splitQuery(query, splitter).map(({ number, line, text }) => ({ number, line, text }));
}

export interface Words {
  words: string[];
  /** Unquoted names before a dot: databases, tables, aliases. */
  qualifiers: string[];
}

export function wordsOf(statement: string, mode: LexicalMode): Words {
  const words: string[] = [];
  const qualifiers: string[] = [];
  let last: string | null = null;
  for (const { kind, text, value } of tokensOf(statement, mode)) {
    if (kind === 'space' || kind === 'comment' || kind === 'version' || kind === 'versionEnd') continue;
    if (text === '.' && last !== null) qualifiers.push(last);
    // Depending on the mode, double quotes are for names too.
    const isNumber = kind === 'word' && /^\d+$/.test(text);
    last = kind === 'word' && !isNumber ? text : kind === 'name' ? value : kind === 'text' ? text.slice(1, -1) : null;
    if (kind === 'word' && !isNumber) words.push(value);
  }
  return { words, qualifiers };
}

const BEYOND = 'it reaches beyond the database that is sanitized';

const REFUSALS: { statement: RegExp; why: string }[] = [
  { statement: /^USE\b/, why: 'the query runs in a copy, and in no other database' },
  {
    statement: /^(CREATE|DROP|ALTER) (OR REPLACE )?(DATABASE|SCHEMA|USER|ROLE|TABLESPACE|SERVER|LOGFILE)\b/,
    why: BEYOND,
  },
  { statement: /^(GRANT|REVOKE|RENAME USER|SET PASSWORD|SET (DEFAULT )?ROLE)\b/, why: BEYOND },
  { statement: /^SET .*\b(GLOBAL|PERSIST|PERSIST_ONLY)\b/, why: BEYOND },
  { statement: /^(SHUTDOWN|RESTART|RESET|PURGE|CHANGE|START (SLAVE|REPLICA)|STOP (SLAVE|REPLICA))\b/, why: BEYOND },
  { statement: /^(INSTALL|UNINSTALL|CLONE|FLUSH)\b/, why: BEYOND },
  { statement: /^LOAD (DATA|XML)\b/, why: 'rows cannot be read from a file: write INSERT … VALUES instead' },
  { statement: /\bINTO (OUTFILE|DUMPFILE)\b/, why: 'it would write the original values into a file' },
  { statement: /^ROLLBACK\b(?!.* TO\b)/, why: 'it would take back what the query has done' },
];

const OTHER_QUOTES = /\bsql_mode\b[\s\S]*\bNO_BACKSLASH_ESCAPES\b/i;

function refuse({ words, isOptional, number, line, bytes }: MysqlStatement): void {
  const text = bytes.toString('utf8');
  const refusal = OTHER_QUOTES.test(text)
    ? { why: 'it would change where quotes end' }
    : REFUSALS.find((each) => readings({ words, isOptional }).some((reading) => each.statement.test(reading)));
  if (refusal) throw statementRefused({ number, line, text }, refusal.why);
}

/** The words as servers of several versions read them. */
function readings({ words, isOptional }: Pick<MysqlStatement, 'words' | 'isOptional'>): string[] {
  const first = isOptional.indexOf(false);
  const beginnings = words.slice(0, first === -1 ? words.length : first + 1).slice(0, MOST_BEGINNINGS);
  return [
    ...beginnings.map((_, at) => words.slice(at).join(' ')),
    words.filter((_, at) => isOptional[at] === false).join(' '),
  ];
}

const MOST_BEGINNINGS = 32;
