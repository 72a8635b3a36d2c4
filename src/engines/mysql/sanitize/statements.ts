import type { Statement } from '../../../sanitize/statement.ts';
import { clientCommand, lineAt, statementRefused, unterminated } from '../../shared/sanitize/query-refused.ts';
import { createLexer, tokensOf } from '../definitions/tokens.ts';

/**
 * Splits as the client programs do: at delimiters outside quotes and comments; a DELIMITER line sets another one, for
 * bodies with semicolons.
 */
export function splitStatements(query: string): Statement[] {
  const statements = read(query);
  for (const statement of statements) refuse(statement);
  return statements;
}

const DELIMITER_COMMAND = /[^\S\n]*delimiter(?:[^\S\n]+(\S+))?[^\n]*(?:\n|$)/iy;
const CLIENT_COMMAND = /(?:source|system|pager|tee|notee|nopager|edit|prompt|rehash)(?=[ \t\n]|$)[^\n]*/iy;

function read(query: string): Statement[] {
  const statements: Statement[] = [];
  const lexer = createLexer();
  let delimiter = ';';
  let begin = -1;

  const end = (at: number): void => {
    if (begin !== -1) {
      const text = query.slice(begin, at).trimEnd();
      statements.push({ number: statements.length + 1, line: lineAt(query, begin), text });
    }
    begin = -1;
  };

  for (let at = 0; at < query.length; ) {
    if (begin === -1) {
      const command = matchAt(DELIMITER_COMMAND, query, at);
      if (command) {
        if (command[1] === undefined)
          throw clientCommand(query, at, {
            client: 'the client',
            why: 'DELIMITER needs the new delimiter in its line',
          });
        delimiter = command[1];
        at += command[0].length;
        continue;
      }
      if (matchAt(CLIENT_COMMAND, query, at))
        throw clientCommand(query, at, { client: 'the client', why: 'only SQL is run' });
    }
    if (query.startsWith(delimiter, at)) {
      end(at);
      at += delimiter.length;
      continue;
    }
    const { kind, text } = lexer(query, at);
    const start = at;
    // The client accepts a delimiter anywhere outside quotes, as in END$$.
    const cut = kind === 'word' ? text.indexOf(delimiter) : -1;
    at += cut === -1 ? text.length : cut;
    if (kind === 'space' || kind === 'comment') continue;
    if (kind === 'open') throw unterminated(query, start, text === '/*' ? 'comment' : 'quote');
    if (text === '\\') throw clientCommand(query, start, { client: 'the client', why: 'only SQL is run' });
    if (begin === -1) begin = start;
  }
  end(query.length);
  return statements;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

export interface Words {
  words: string[];
  /** Unquoted names before a dot: databases, tables, aliases. */
  qualifiers: string[];
}

export function wordsOf(statement: string): Words {
  const words: string[] = [];
  const qualifiers: string[] = [];
  let last: string | null = null;
  for (const { kind, text, value } of tokensOf(statement)) {
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

function refuse(statement: Statement): void {
  const text = wordsOf(statement.text).words.join(' ');
  const refusal = OTHER_QUOTES.test(statement.text)
    ? { why: 'it would change where quotes end' }
    : REFUSALS.find((each) => each.statement.test(text));
  if (refusal) throw statementRefused(statement, refusal.why);
}
