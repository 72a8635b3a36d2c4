import { EXIT, UserError } from '../../errors.ts';
import type { Code, CodeDefinitions, Definitions } from './definitions.ts';
import { isReserved } from './names.ts';
import { definerLength, type LexicalMode, lexicalModeOf, type Token, tokensOf } from './tokens.ts';

/**
 * Rejects definitions that are anything but the CREATE statements of their objects: a snapshot, and another server, are
 * input. A table's statement may hold no query, no name of another database, nothing outside the data folder and no
 * engine that reaches another server. Bodies of views and stored programs are code by nature; their heads are checked.
 */
export function checkDefinitions(definitions: Definitions): void {
  const { tables, sequences } = definitions;
  for (const { name, create, indexes, foreignKeys } of tables) {
    const table = definitionOf(`table ${name}`, create);
    refuseReserved(table, name);
    checkTable(table, name);
    for (const clause of indexes.flat()) checkIndex(definitionOf(`index of table ${name}`, clause));
    for (const clause of foreignKeys) checkForeignKey(definitionOf(`foreign key of table ${name}`, clause));
  }
  for (const { name, create } of sequences) {
    const sequence = definitionOf(`sequence ${name}`, create);
    refuseReserved(sequence, name);
    checkSequence(sequence, name);
  }
  for (const { name } of definitions.views) refuseReserved(definitionOf(`view ${name}`, ''), name);
  checkCode(definitions);
}

/** As `checkDefinitions`, of views and stored programs alone; `database` is the only one that their heads may name. */
export function checkCode(
  { routines, views, triggers, events }: Pick<CodeDefinitions, 'routines' | 'views' | 'triggers' | 'events'>,
  database: string | null = null,
): void {
  for (const code of [...routines, ...views, ...triggers, ...events]) checkProgram(code, database);
}

interface Definition {
  /** For people: `table orders`. */
  what: string;
  tokens: Token[];
}

function definitionOf(what: string, sql: string, mode: LexicalMode = {}): Definition {
  const tokens = [...tokensOf(sql, mode)].filter(({ kind }) => kind !== 'space');
  return { what, tokens };
}

function refused({ what }: Pick<Definition, 'what'>, why: string): UserError {
  return new UserError(`The definition of ${what} was refused: ${why}`, {
    code: 'definition_refused',
    exit: EXIT.refused,
    hint: 'Nothing was changed. Build the snapshot again from a source you trust.',
  });
}

function refuseReserved(definition: Definition, name: string): void {
  if (isReserved(name)) throw refused(definition, 'the name is reserved for tables of the tool');
}

/** Engines that keep their rows in the server's own data folder. */
const ENGINES = new Set(
  'INNODB MYISAM ARIA MEMORY HEAP ARCHIVE CSV BLACKHOLE ROCKSDB TOKUDB COLUMNSTORE MROONGA NDB NDBCLUSTER'.split(' '),
);
/** Words that no SHOW CREATE of a table or sequence contains outside quotes. */
const FORBIDDEN = new Set(
  'SELECT INTO OUTFILE DUMPFILE INFILE LOAD_FILE UNION DIRECTORY CONNECTION SONAME EXECUTE'.split(' '),
);
/** What an entry of a table may begin with besides the quoted name of a column. */
const ENTRIES = new Set('PRIMARY UNIQUE KEY INDEX FULLTEXT SPATIAL VECTOR CONSTRAINT FOREIGN CHECK PERIOD'.split(' '));
/** Words after the entries that begin another statement or a query. */
const BEYOND_OPTIONS = new Set('AS VALUES REPLACE IGNORE LIKE TABLE'.split(' '));

function checkTable(definition: Definition, name: string): void {
  const [create, table, named, open] = definition.tokens;
  if (create?.value !== 'CREATE' || table?.value !== 'TABLE' || !isNamed(named, name) || open?.text !== '(') {
    throw refused(definition, 'it is not one CREATE TABLE of this name');
  }
  const tokens = checkedTokens(definition);
  const entries: Token[][] = [[]];
  let depth = 0;
  let end = tokens.length;
  for (const [at, token] of tokens.entries()) {
    if (at < 3) continue;
    if (token.text === '(') depth += 1;
    if (token.text === ')') depth -= 1;
    if (depth === 0) {
      end = at;
      break;
    }
    if (token.text === ',' && depth === 1) entries.push([]);
    else if (at > 3) entries.at(-1)?.push(token);
  }
  for (const entry of entries) checkEntry(definition, entry);
  checkOptions(definition, tokens.slice(end + 1));
}

function checkEntry(definition: Definition, entry: Token[]): void {
  const [first, , third] = entry;
  if (first?.kind !== 'name' && !(first?.kind === 'word' && ENTRIES.has(first.value))) {
    throw refused(definition, `${first?.text ?? 'nothing'} is neither a column nor a key`);
  }
  if (first.value === 'FOREIGN' || (first.value === 'CONSTRAINT' && third?.value === 'FOREIGN')) {
    return checkForeignKey({ ...definition, tokens: entry });
  }
  refuseQualified(definition, entry);
}

/** Everything after the entries: options and partitions. */
function checkOptions(definition: Definition, tokens: Token[]): void {
  refuseQualified(definition, tokens);
  let depth = 0;
  for (const [at, { kind, value, text }] of tokens.entries()) {
    if (text === '(') depth += 1;
    if (text === ')') depth -= 1;
    if (depth < 0) throw refused(definition, 'its parentheses are not balanced');
    if (depth > 0 || kind !== 'word') continue;
    const isQuery = value === 'WITH' && tokens[at + 1]?.value !== 'SYSTEM';
    if (BEYOND_OPTIONS.has(value) || isQuery) throw refused(definition, `${text} is no option of a table`);
  }
  if (depth !== 0) throw refused(definition, 'its parentheses are not balanced');
}

/** Words of index options, after the columns. */
const INDEX_OPTIONS = new Set(
  'USING BTREE HASH RTREE KEY_BLOCK_SIZE COMMENT WITH PARSER VISIBLE INVISIBLE IGNORED NOT CLUSTERING YES NO ENGINE_ATTRIBUTE SECONDARY_ENGINE_ATTRIBUTE M DISTANCE EUCLIDEAN COSINE'.split(
    ' ',
  ),
);

/** A clause of ALTER TABLE … ADD: one index and nothing after it. */
function checkIndex(definition: Definition): void {
  const tokens = checkedTokens(definition);
  const start = tokens.findIndex(({ text }) => text === '(');
  const head = tokens.slice(0, Math.max(0, start));
  const words = head.filter(({ kind }) => kind === 'word').map(({ value }) => value);
  if (!/^(UNIQUE |FULLTEXT |SPATIAL |VECTOR )?KEY( USING (BTREE|HASH|RTREE))?$/.test(words.join(' '))) {
    throw refused(definition, 'it is not one index');
  }
  refuseQualified(definition, tokens);
  const end = closing(tokens, start);
  for (const [at, { kind, value, text }] of tokens.slice(end + 1).entries()) {
    const isParser = tokens[end + at]?.value === 'PARSER';
    const isOption =
      kind === 'text' || kind === 'name' || text === '=' || /^\d+$/.test(text) || INDEX_OPTIONS.has(value);
    if (!isOption && !(isParser && kind === 'word')) throw refused(definition, `${text} is no option of an index`);
  }
}

/** The place of the parenthesis that closes the one at `start`; the last place where none does. */
function closing(tokens: Token[], start: number): number {
  let depth = 0;
  for (let at = start; at < tokens.length; at += 1) {
    if (tokens[at]?.text === '(') depth += 1;
    if (tokens[at]?.text === ')') depth -= 1;
    if (depth === 0) return at;
  }
  return tokens.length - 1;
}

const NAMES = '\\( N(?: , N)* \\)';
const ACTION = '(?:RESTRICT|CASCADE|SET NULL|NO ACTION|SET DEFAULT)';
const FOREIGN_KEY = new RegExp(
  `^(?:CONSTRAINT (?:N )?)?FOREIGN KEY (?:N )?${NAMES} REFERENCES N (?:\\. N )?${NAMES}(?: MATCH (?:FULL|PARTIAL|SIMPLE))?(?: ON (?:DELETE|UPDATE) ${ACTION})*$`,
);

/** The only place where a table may name another database. */
function checkForeignKey(definition: Definition): void {
  const shape = checkedTokens(definition).map(({ kind, value }) => (kind === 'name' ? 'N' : value));
  if (!FOREIGN_KEY.test(shape.join(' '))) throw refused(definition, 'it is not one foreign key');
}

const SEQUENCE =
  /^CREATE SEQUENCE N(?: AS [A-Z]+(?: UNSIGNED)?)?(?: (?:START WITH|MINVALUE|MAXVALUE|INCREMENT BY|CACHE)(?: - | )\d+| NO MINVALUE| NO MAXVALUE| NOCACHE| NOCYCLE| CYCLE| ENGINE(?: =)? [A-Z]+| COMMENT(?: =)? TEXT)*$/;

function checkSequence(definition: Definition, name: string): void {
  const tokens = checkedTokens(definition);
  const shape = tokens.map(({ kind, value }) => (kind === 'name' ? 'N' : kind === 'text' ? 'TEXT' : value)).join(' ');
  if (!isNamed(tokens[2], name) || !SEQUENCE.test(shape)) {
    throw refused(definition, 'it is not one CREATE SEQUENCE of this name');
  }
}

/** The tokens of a table, a clause or a sequence with what versions read of it; refuses what none of them contains. */
function checkedTokens(definition: Definition): Token[] {
  const { tokens } = definition;
  let versioned: number | null = null;
  let depth = 0;
  for (const [at, { kind, text, value }] of tokens.entries()) {
    if (kind === 'comment') throw refused(definition, 'it holds a comment');
    if (kind === 'open') throw refused(definition, 'a quote or comment in it never ends');
    if (kind === 'other' && /[;@\\\p{Cc}]/u.test(text)) {
      throw refused(definition, text === ';' ? 'it is more than one statement' : 'it holds a character that it cannot');
    }
    if (text === '(') depth += 1;
    if (text === ')') depth -= 1;
    // Whatever a version reads of it, quotes and parentheses are the same.
    if (kind === 'version' ? versioned !== null : kind === 'versionEnd' && versioned !== depth) {
      throw refused(definition, 'a comment in it hides a part of another');
    }
    if (kind === 'version') versioned = depth;
    if (kind === 'versionEnd') versioned = null;
    if (versioned !== null && depth < versioned) throw refused(definition, 'a comment in it hides a part of another');
    if (kind !== 'word') continue;
    if (FORBIDDEN.has(value)) throw refused(definition, `it holds ${value}`);
    if (value === 'ENGINE' || value === 'TYPE') checkEngine(definition, tokens.slice(at + 1));
  }
  if (versioned !== null) throw refused(definition, 'a comment in it never ends');
  return tokens.filter(({ kind }) => kind !== 'version' && kind !== 'versionEnd');
}

function checkEngine(definition: Definition, [first, second]: Token[]): void {
  const engine = first?.text === '=' ? second : first;
  const name = (engine?.kind === 'text' ? engine.text.slice(1, -1) : (engine?.value ?? '')).toUpperCase();
  if (!ENGINES.has(name)) throw refused(definition, `its storage engine ${name} is not one that keeps its own rows`);
}

/** Numbers have a point as well. */
function refuseQualified(definition: Definition, tokens: Token[]): void {
  for (const [at, { kind, text }] of tokens.entries()) {
    const before = tokens[at - 1];
    if (kind !== 'other' || text !== '.' || !before) continue;
    const isName = before.kind === 'name' || (before.kind === 'word' && !/^\d+$/.test(before.text));
    if (isName) throw refused(definition, `it names the database ${before.text}`);
  }
}

function isNamed(token: Token | undefined, name: string): boolean {
  if (token?.kind === 'name') return token.value === name;
  return token?.kind === 'word' && token.text === name;
}

/** What stands before the name; the name and whatever follows it are checked in turn. */
const HEADS: Record<string, RegExp> = {
  VIEW: /^(OR REPLACE )?(ALGORITHM = \w+ )?(SQL SECURITY (DEFINER|INVOKER) )?VIEW$/,
  TRIGGER: /^(OR REPLACE )?TRIGGER$/,
  EVENT: /^(OR REPLACE )?EVENT$/,
  PROCEDURE: /^(OR REPLACE )?PROCEDURE$/,
  FUNCTION: /^(OR REPLACE )?(AGGREGATE )?FUNCTION$/,
  PACKAGE: /^(OR REPLACE )?PACKAGE$/,
  'PACKAGE BODY': /^(OR REPLACE )?PACKAGE BODY$/,
};

function checkProgram(code: Code, database: string | null): void {
  const { kind, name, create, sql_mode } = code;
  const mode = lexicalModeOf(sql_mode);
  const definition = definitionOf(`${kind.toLowerCase()} ${name}`, create, mode);
  if (definition.tokens.some((token) => token.kind === 'open')) {
    throw refused(definition, 'a quote or comment in it never ends');
  }
  const tokens = definition.tokens.filter((token) => token.kind !== 'comment');
  const notOne = `it is not one CREATE ${kind} of this name`;
  const start = headEnd(tokens, kind);
  if (start === -1 || tokens[0]?.value !== 'CREATE') throw refused(definition, notOne);
  const head = tokens.slice(1, start).filter((_, at) => !inDefiner(tokens, at + 1));
  const words = head.map((token) => (token.kind === 'word' || token.text === '=' ? token.value : '?'));
  if (!HEADS[kind]?.test(words.join(' '))) throw refused(definition, notOne);
  const [named, ...rest] = withoutOwn(afterExists(tokens.slice(start)), database);
  if (!isNamed(named, name)) throw refused(definition, notOne);
  if (rest[0]?.text === '.') throw refused(definition, `it names the database ${named?.text}`);
  BODIES[kind]?.({ ...definition, tokens: rest }, database);
  refuseSeveral(definition, rest);
}

/** The place after the words that name the kind; -1 without them. */
function headEnd(tokens: Token[], kind: string): number {
  const words = kind.split(' ');
  const at = tokens.findIndex(
    (token, index) => token.value === words[0] && token.kind === 'word' && !inDefiner(tokens, index),
  );
  const isWhole = words.every(
    (word, index) => tokens[at + index]?.kind === 'word' && tokens[at + index]?.value === word,
  );
  return at === -1 || !isWhole ? -1 : at + words.length;
}

/** Whether the token is of `DEFINER = user@host`, which is left out or is the caller's wish. */
function inDefiner(tokens: Token[], at: number): boolean {
  const from = tokens.findIndex(({ kind, value }) => kind === 'word' && value === 'DEFINER');
  if (from === -1 || tokens[from + 1]?.text !== '=') return false;
  return at >= from && at < from + definerLength(tokens.slice(from));
}

/** Without the name of the own database before the first. */
function withoutOwn(tokens: Token[], database: string | null): Token[] {
  const isOwn = database !== null && tokens[1]?.text === '.' && isNamed(tokens[0], database);
  return isOwn ? tokens.slice(2) : tokens;
}

function afterExists(tokens: Token[]): Token[] {
  const words = tokens.slice(0, 3).map(({ kind, value }) => (kind === 'word' ? value : ''));
  return words.join(' ') === 'IF NOT EXISTS' ? tokens.slice(3) : tokens;
}

/** What follows the name. */
const BODIES: Record<string, (definition: Definition, database: string | null) => void> = {
  VIEW(definition) {
    for (const { kind, value, text } of definition.tokens) {
      if (kind === 'version' || kind === 'versionEnd') throw refused(definition, 'it holds a comment');
      if (text === ';') throw refused(definition, 'it is more than one statement');
      if (kind === 'word' && ['INTO', 'OUTFILE', 'DUMPFILE'].includes(value))
        throw refused(definition, `it holds ${value}`);
    }
  },
  TRIGGER(definition, database) {
    const [time, what, on, ...target] = definition.tokens;
    const [, after] = withoutOwn(target, database);
    const isTrigger = /^(BEFORE|AFTER) (INSERT|UPDATE|DELETE) ON$/.test(
      [time, what, on].map((one) => one?.value).join(' '),
    );
    if (!isTrigger) throw refused(definition, 'it is not one CREATE TRIGGER of this name');
    if (after?.text === '.') throw refused(definition, 'it names the database of its table');
  },
  EVENT(definition) {
    const [on, schedule] = definition.tokens;
    if (on?.value !== 'ON' || schedule?.value !== 'SCHEDULE') {
      throw refused(definition, 'it is not one CREATE EVENT of this name');
    }
  },
  // Without parameters it is a function of a library: RETURNS … SONAME.
  FUNCTION(definition) {
    const [first] = definition.tokens;
    if (first?.text !== '(' && first?.value !== 'RETURN') throw refused(definition, 'it has no parameters');
  },
};

const COMPOUND = new Set('BEGIN LOOP IF CASE WHILE REPEAT FOR AS IS'.split(' '));

/** Only a compound statement holds semicolons, and it ends with END. The server runs one statement at a time as well. */
function refuseSeveral(definition: Definition, tokens: Token[]): void {
  const last = tokens.at(-1)?.text === ';' ? tokens.slice(0, -1) : tokens;
  const end = last.findLastIndex(({ text }) => text === ';');
  if (end === -1) return;
  const first = last.findIndex(({ text }) => text === ';');
  const isCompound = last.slice(0, first).some(({ kind, value }) => kind === 'word' && COMPOUND.has(value));
  if (!isCompound || last[end + 1]?.value !== 'END') throw refused(definition, 'it is more than one statement');
}
