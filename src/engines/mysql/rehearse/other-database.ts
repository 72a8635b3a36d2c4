import { printable } from '../../../text/printable.ts';
import { type LexicalMode, significant, type Token } from '../catalog/definitions/tokens.ts';

/** Characters of a text that are read: a statement names its tables at its beginning. */
export const LONGEST_READ = 2 ** 20;
/** Characters of the name of a database. */
const LONGEST_NAME = 64;

export const OTHER_DATABASE_HINT = 'Name tables without their database, or with the name of the branch.';

export function otherDatabaseText(database: string): string {
  return `a rehearsal changes its branch only, and this changes database "${printable(database.slice(0, LONGEST_NAME))}"`;
}

/** The tokens of a text without a match are not read: it changes no other database. */
const MAY_NAME_ONE = /[.]|\b(?:database|schema|use)\b/i;

/**
 * Returns the other database that a statement of the text would change, by the server's tokens; `null` where none is
 * named. Other databases may be read. Every word counts, wherever it is: statements may be behind EXPLAIN, FOR or THEN.
 */
export function otherDatabaseIn(sql: string, database: string, mode: LexicalMode = {}): string | null {
  const beginning = sql.slice(0, LONGEST_READ);
  if (!MAY_NAME_ONE.test(beginning)) return null;
  const tokens = significant(beginning, mode);
  // The server reads a version comment, or skips it.
  for (const read of [withComments(tokens), withoutComments(tokens)]) {
    for (const statement of statementsOf(read)) {
      const other = changedBy(statement).find((name) => name !== database);
      if (other !== undefined) return other;
    }
  }
  return null;
}

function withComments(tokens: Token[]): Token[] {
  return tokens.filter(({ kind }) => kind !== 'version' && kind !== 'versionEnd');
}

function withoutComments(tokens: Token[]): Token[] {
  let isSkipped = false;
  return tokens.filter(({ kind }) => {
    if (kind === 'version') isSkipped = true;
    const was = isSkipped;
    if (kind === 'versionEnd') isSkipped = false;
    return !was;
  });
}

function statementsOf(tokens: Token[]): Token[][] {
  const statements: Token[][] = [[]];
  for (const token of tokens) {
    if (isSymbol(token, ';')) statements.push([]);
    else statements.at(-1)?.push(token);
  }
  return statements;
}

/** Words that a single name follows. */
const NAMED = new Set(
  'INTO INSERT REPLACE TRUNCATE TO RENAME REFERENCES CALL TABLE TABLES VIEW SEQUENCE TRIGGER PROCEDURE FUNCTION EVENT'.split(
    ' ',
  ),
);
/** Before a name, or before the word that it follows. */
const SKIPPED = new Set(
  'LOW_PRIORITY HIGH_PRIORITY DELAYED QUICK IGNORE INTO TABLE IF NOT EXISTS AS OJ LATERAL'.split(' '),
);
/** Words before TABLE or VIEW in statements with a list of names. */
const LISTING = new Set(
  'DROP TEMPORARY LOCK RENAME OPTIMIZE ANALYZE REPAIR CHECK CHECKSUM FLUSH LOCAL NO_WRITE_TO_BINLOG'.split(' '),
);
const DEFINING = new Set(['CREATE', 'DROP', 'ALTER', 'REPLACE']);
const OF_ROWS = new Set(['INSERT', 'UPDATE', 'DELETE']);
/** `ON UPDATE CASCADE`, `ON DUPLICATE KEY UPDATE`, `FOR UPDATE`. */
const NO_UPDATE = new Set(['ON', 'KEY', 'BEFORE', 'AFTER', 'OR']);
/** Begin what ALTER DATABASE changes, of the database in use. */
const OPTIONS = new Set('CHARACTER CHARSET COLLATE DEFAULT ENCRYPTION READ COMMENT'.split(' '));
const ENDS = new Set(['SET', 'WHERE', 'ORDER', 'LIMIT', 'RETURNING', 'SELECT', 'VALUES', 'VALUE']);

function changedBy(tokens: Token[]): string[] {
  const [first] = tokens;
  const groups = groupEnds(tokens);
  if (!first || wordOf(first) === 'SHOW') return [];
  if (wordOf(first) === 'USE') return databaseAt(tokens, 1);
  return tokens.flatMap((token, at) => {
    const word = wordOf(token);
    const before = wordOf(tokens[at - 1]);
    if (OF_ROWS.has(word) && wordOf(tokens[at + 1]) === 'ON') return tableAt(tokens, at + 2);
    if (word === 'UPDATE' && (NO_UPDATE.has(before) || (before === 'FOR' && wordOf(first) !== 'SET'))) return [];
    if (beginsList(tokens, at)) return tablesFrom(tokens, at + 1, groups);
    if (word === 'DATABASE' || word === 'SCHEMA') return DEFINING.has(before) ? databaseAt(tokens, at + 1) : [];
    if (word === 'INDEX') return indexedAt(tokens, at + 1);
    // `TABLE name` reads it.
    return NAMED.has(word) && !(at === 0 && word === 'TABLE') ? tableAt(tokens, at + 1) : [];
  });
}

/** The name of a database, unless it is left out. */
function databaseAt(tokens: Token[], from: number): string[] {
  const token = tokens[behindSkipped(tokens, from)];
  if (!token || OPTIONS.has(wordOf(token))) return [];
  const name = nameOf(token);
  return name === null ? [] : [name];
}

/** The database of the table that is named there. */
function tableAt(tokens: Token[], from: number): string[] {
  const at = behindSkipped(tokens, from);
  const [token, dot, behind] = tokens.slice(at, at + 3);
  const name = token ? nameOf(token) : null;
  // `name.*` has the rows of a table.
  return name === null || !isSymbol(dot, '.') || isSymbol(behind, '*') ? [] : [name];
}

/** `INDEX name USING BTREE ON table`, of CREATE and DROP. */
function indexedAt(tokens: Token[], from: number): string[] {
  let at = behindSkipped(tokens, from) + 1;
  if (wordOf(tokens[at]) === 'USING') at += 2;
  return wordOf(tokens[at]) === 'ON' ? tableAt(tokens, at + 1) : [];
}

function beginsList(tokens: Token[], at: number): boolean {
  const [before, word] = [wordOf(tokens[at - 1]), wordOf(tokens[at])];
  return word === 'UPDATE' || word === 'DELETE' ? before !== 'ON' : NAMED.has(word) && LISTING.has(before);
}

/** The databases of a list of tables with their joins, until another one begins. */
function tablesFrom(tokens: Token[], from: number, groups: Map<number, number>): string[] {
  const found: string[] = [];
  let expects = true;
  let depth = 0;
  for (let at = from; at < tokens.length; at += 1) {
    const token = tokens[at];
    const word = wordOf(token);
    if (ENDS.has(word) || beginsList(tokens, at)) break;
    const begins = isSymbol(token, ',') || BEFORE_TABLES.has(word);
    if (isSymbol(token, '(')) {
      const isQuery = QUERIES.has(wordOf(tokens[at + 1]));
      if (!expects || isQuery) at = groups.get(at) ?? tokens.length;
      else depth += 1;
      expects &&= !isQuery;
    } else if (isSymbol(token, ')')) {
      depth -= 1;
      expects = false;
      if (depth < 0) break;
    } else if (begins) expects = at > from || word === 'FROM';
    else if (expects && !isSymbol(token, '{')) {
      at = behindSkipped(tokens, at);
      if (BEFORE_TABLES.has(wordOf(tokens[at]))) continue;
      found.push(...tableAt(tokens, at));
      expects = false;
    }
  }
  return found;
}

const BEFORE_TABLES = new Set(['JOIN', 'STRAIGHT_JOIN', 'FROM', 'USING', 'TO']);
const QUERIES = new Set(['SELECT', 'WITH', 'VALUES', 'TABLE']);

/** The closing parenthesis of each opening one. */
function groupEnds(tokens: Token[]): Map<number, number> {
  const ends = new Map<number, number>();
  const open: number[] = [];
  for (const [at, token] of tokens.entries()) {
    if (isSymbol(token, '(')) open.push(at);
    const begin = isSymbol(token, ')') ? open.pop() : undefined;
    if (begin !== undefined) ends.set(begin, at);
  }
  return ends;
}

function behindSkipped(tokens: Token[], from: number): number {
  let at = from;
  while (SKIPPED.has(wordOf(tokens[at])) && !isSymbol(tokens[at + 1], '.')) at += 1;
  return at;
}

/** Text in double quotes is a name in some modes. */
function nameOf({ kind, text, value }: Token): string | null {
  if (kind === 'word') return text;
  if (kind === 'name') return value;
  return kind === 'text' && text.startsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : null;
}

function wordOf(token: Token | undefined): string {
  return token?.kind === 'word' ? token.value : '';
}

function isSymbol(token: Token | undefined, symbol: string): boolean {
  return token?.kind === 'other' && token.text === symbol;
}
