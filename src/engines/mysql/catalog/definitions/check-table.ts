import { UserError } from '../../../../runtime/errors.ts';
import { firstLines } from '../../../shared/verify.ts';
import { engineAfter, permitsEngine, type RowStorage, unionIn } from '../table-traits.ts';
import { checkColumnAt } from './check-column.ts';
import { checkConstraintAt, checkKeyAt } from './check-key.ts';
import { type Definition, isNamed, refused } from './checked-definition.ts';
import { TokenCursor } from './token-cursor.ts';
import { isWord, type Token } from './tokens.ts';

/** Never in SHOW CREATE of a table or sequence, outside quotes. */
const FORBIDDEN = new Set(
  'SELECT INTO OUTFILE DUMPFILE INFILE LOAD_FILE UNION DIRECTORY CONNECTION SONAME EXECUTE'.split(' '),
);
/** The first words of a key. */
const KEYS = new Set('PRIMARY UNIQUE KEY FULLTEXT SPATIAL VECTOR'.split(' '));

/** `kind`: the storage that the caller permits; `remote` only by name. */
export function checkTable(given: Definition, name: string, kind: RowStorage = 'own'): void {
  const definition = { ...given, kind, tokens: withoutUnion(given.tokens, kind) };
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

export function checkColumn(definition: Definition): void {
  const tokens = checkedTokens(definition);
  assertUnqualified(definition, tokens);
  checkColumnAt(new TokenCursor(definition, tokens, 'a column'), { isRemote: false });
}

/** Without the list of a MERGE table, which `traitsOf` has checked. */
function withoutUnion(tokens: Token[], kind: RowStorage): Token[] {
  const union = kind === 'merged' || kind === 'remote' ? unionIn(tokens) : null;
  return union ? tokens.toSpliced(union.from, union.to - union.from + 1) : tokens;
}

function checkEntry(definition: Definition, entry: Token[]): void {
  const [first, , third] = entry;
  const isForeignKey = third?.value === 'FOREIGN' && third.kind === 'word';
  if (first?.kind === 'word' && first.value === 'CONSTRAINT' && isForeignKey) {
    checkForeignKey({ ...definition, tokens: entry });
    return;
  }
  assertUnqualified(definition, entry);
  const cursor = (part: string): TokenCursor => new TokenCursor(definition, entry, part);
  if (first?.kind === 'name') checkColumnAt(cursor('a column'), { isRemote: definition.kind === 'remote' });
  else if (first?.kind === 'word' && KEYS.has(first.value)) checkKeyAt(cursor('a key'));
  else checkConstraintAt(cursor('a table'));
}

function checkOptions(definition: Definition, tokens: Token[]): void {
  assertUnqualified(definition, tokens);
  const parted = tokens.findIndex((token) => isWord(token, 'PARTITION'));
  checkTableOptions(definition, parted === -1 ? tokens : tokens.slice(0, parted));
  if (parted !== -1) checkPartitions(definition, tokens.slice(parted));
}

/** A value or a word follows each. */
const TABLE_OPTIONS = new Set(
  [
    'ENGINE TYPE AUTO_INCREMENT AVG_ROW_LENGTH CHARSET COLLATE CHECKSUM COMMENT COMPRESSION DELAY_KEY_WRITE',
    'ENCRYPTION ENGINE_ATTRIBUTE SECONDARY_ENGINE_ATTRIBUTE SECONDARY_ENGINE INSERT_METHOD KEY_BLOCK_SIZE MAX_ROWS',
    'MIN_ROWS PACK_KEYS PAGE_CHECKSUM ROW_FORMAT STATS_AUTO_RECALC STATS_PERSISTENT STATS_SAMPLE_PAGES STORAGE',
    'TRANSACTIONAL AUTOEXTEND_SIZE NODEGROUP PAGE_COMPRESSED PAGE_COMPRESSION_LEVEL ENCRYPTED ENCRYPTION_KEY_ID',
    'TABLESPACE SEQUENCE',
  ].flatMap((words) => words.split(' ')),
);
/** Tablespaces of every server; others may be of somebody else, and have files anywhere. */
const TABLESPACES = new Set(['innodb_file_per_table', 'innodb_system']);

/** `[DEFAULT] NAME [=] VALUE …`; MariaDB quotes the names of options that only an engine knows. */
function checkTableOptions(definition: Definition, tokens: Token[]): void {
  const isRemote = definition.kind === 'remote';
  const wordAt = (at: number): string => (tokens[at]?.kind === 'word' ? (tokens[at]?.value ?? '') : '');
  for (let at = 0; at < tokens.length; ) {
    if (wordAt(at) === 'WITH' && wordAt(at + 1) === 'SYSTEM' && wordAt(at + 2) === 'VERSIONING') {
      at += 3;
      continue;
    }
    if (wordAt(at) === 'DEFAULT') at += 1;
    const isCharset = wordAt(at) === 'CHARACTER' && wordAt(at + 1) === 'SET';
    const option = tokens[at];
    const isKnown =
      isCharset || option?.kind === 'name' || TABLE_OPTIONS.has(wordAt(at)) || (isRemote && wordAt(at) !== '');
    if (!option || !isKnown) throw refusedOption(definition, option, 'a table');
    at += isCharset ? 2 : 1;
    if (tokens[at]?.text === '=') at += 1;
    const value = tokens[at];
    if (!value || value.kind === 'other') throw refusedOption(definition, value ?? option, 'a table');
    if (option.value === 'TABLESPACE' && option.kind === 'word') checkTablespace(definition, value);
    at += 1;
  }
}

function checkTablespace(definition: Definition, { kind, value, text }: Token): void {
  const name = kind === 'text' ? text.slice(1, -1) : kind === 'name' ? value : text;
  if (TABLESPACES.has(name)) return;
  const where = `${definition.what} (tablespace ${name})`;
  if (!definition.elsewhere) throw inTablespaces([where]);
  definition.elsewhere.add(where);
}

export function inTablespaces(tables: string[]): UserError {
  return new UserError(
    'content_refused',
    'The definitions of tables in tablespaces that not every server has were refused',
    {
      details: firstLines(tables),
      hint: 'Nothing was changed. Move the tables in the source (ALTER TABLE … TABLESPACE innodb_file_per_table), then build again.',
    },
  );
}

function refusedOption(definition: Definition, token: Token | undefined, what: string): UserError {
  return refused(definition, `${token?.text ?? 'nothing'} is not an option of ${what}`);
}

/** Parentheses after these hold expressions and values. */
const BEFORE_VALUES = new Set('HASH KEY RANGE LIST COLUMNS THAN IN'.split(' '));
const PARTITION_WORDS = new Set(
  [
    'PARTITION PARTITIONS SUBPARTITION SUBPARTITIONS BY LINEAR HASH KEY RANGE LIST COLUMNS ALGORITHM VALUES LESS THAN IN',
    'MAXVALUE DEFAULT ENGINE STORAGE COMMENT MAX_ROWS MIN_ROWS NODEGROUP SYSTEM_TIME INTERVAL LIMIT STARTS AUTO HISTORY',
    'CURRENT TIMESTAMP MICROSECOND SECOND MINUTE HOUR DAY WEEK MONTH QUARTER YEAR TABLESPACE',
  ].flatMap((words) => words.split(' ')),
);

function checkPartitions(definition: Definition, tokens: Token[]): void {
  const isAfter = (at: number): boolean => {
    const before = tokens[at - 1];
    if (before?.kind === 'word' && /^[12]$/.test(before.text)) return tokens[at - 3]?.value === 'ALGORITHM';
    return before?.kind === 'word' && BEFORE_VALUES.has(before.value);
  };
  for (let at = 0, depth = 0; at < tokens.length; at += 1) {
    const { kind, text, value } = tokens[at] as Token;
    if (text === '(' && isAfter(at)) {
      at = closing(tokens, at);
      continue;
    }
    if (text === '(') depth += 1;
    else if (text === ')') depth -= 1;
    else if (kind === 'other' && text !== ',' && text !== '=')
      throw refusedOption(definition, tokens[at], 'a partition');
    const isNumber = /^\d+$/.test(text);
    if (kind === 'word' && !isNumber && !PARTITION_WORDS.has(value) && !isNameOrEngine(tokens, at)) {
      throw refusedOption(definition, tokens[at], 'a partition');
    }
    if (kind === 'word' && value === 'TABLESPACE') {
      const next = tokens[tokens[at + 1]?.text === '=' ? at + 2 : at + 1];
      if (next) checkTablespace(definition, next);
    }
    if (depth < 0 || (depth === 0 && text === ',')) throw refusedOption(definition, tokens[at], 'a partition');
  }
}

/** MySQL does not quote plain names of partitions; an engine is checked with all others. */
function isNameOrEngine(tokens: Token[], at: number): boolean {
  if (/^(?:SUB)?PARTITION$/.test(tokens[at - 1]?.value ?? '') && tokens[at - 1]?.kind === 'word') return true;
  const before = tokens[at - 1]?.text === '=' ? tokens[at - 2] : tokens[at - 1];
  return before?.kind === 'word' && (before.value === 'ENGINE' || before.value === 'NODEGROUP');
}

export function checkIndex(definition: Definition): void {
  const tokens = checkedTokens(definition);
  assertUnqualified(definition, tokens);
  checkKeyAt(new TokenCursor(definition, tokens, 'an index'));
}

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

/** The only clause that may name another database. */
export function checkForeignKey(definition: Definition): void {
  const shape = checkedTokens(definition).map(({ kind, value }) => (kind === 'name' ? 'N' : value));
  if (!FOREIGN_KEY.test(shape.join(' '))) throw refused(definition, 'it is not one foreign key');
}

const SEQUENCE =
  /^CREATE SEQUENCE N(?: AS [A-Z]+(?: UNSIGNED)?)?(?: (?:START WITH|MINVALUE|MAXVALUE|INCREMENT BY|CACHE)(?: - | )\d+| NO MINVALUE| NO MAXVALUE| NOCACHE| NOCYCLE| CYCLE| ENGINE(?: =)? [A-Z]+| COMMENT(?: =)? TEXT)*$/;

export function checkSequence(definition: Definition, name: string): void {
  const tokens = checkedTokens(definition);
  const shape = tokens.map(({ kind, value }) => (kind === 'name' ? 'N' : kind === 'text' ? 'TEXT' : value)).join(' ');
  if (!isNamed(tokens[2], name) || !SEQUENCE.test(shape)) {
    throw refused(definition, 'it is not one CREATE SEQUENCE of this name');
  }
}

/** Tokens without version comments; refuses those that no definition contains. */
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
    // Quotes and parentheses must be balanced with and without the versioned part.
    if (kind === 'version' ? versioned !== null : kind === 'versionEnd' && versioned !== depth) {
      throw refused(definition, 'a comment in it hides a part of another');
    }
    if (kind === 'version') versioned = depth;
    if (kind === 'versionEnd') versioned = null;
    if (versioned !== null && depth < versioned) throw refused(definition, 'a comment in it hides a part of another');
    if (kind !== 'word') continue;
    const isAddress = value === 'CONNECTION' && definition.kind === 'remote';
    if (FORBIDDEN.has(value) && !isAddress) throw refused(definition, `it holds ${value}`);
    if (value === 'ENGINE' || value === 'TYPE') checkEngine(definition, engineAfter(tokens, at));
  }
  if (versioned !== null) throw refused(definition, 'a comment in it never ends');
  return tokens.filter(({ kind }) => kind !== 'version' && kind !== 'versionEnd');
}

function checkEngine(definition: Definition, name: string): void {
  if (permitsEngine(definition.kind ?? 'own', name)) return;
  throw refused(definition, `its storage engine ${name} is not one that keeps its own rows`);
}

/** A dot may also be part of a number. */
function assertUnqualified(definition: Definition, tokens: Token[]): void {
  for (const [at, { kind, text }] of tokens.entries()) {
    const before = tokens[at - 1];
    if (kind !== 'other' || text !== '.' || !before) continue;
    if (isOwnSequence(definition, tokens.slice(Math.max(0, at - 3), at + 2))) continue;
    const isName = before.kind === 'name' || (before.kind === 'word' && !/^\d+$/.test(before.text));
    if (isName) throw refused(definition, `it names the database ${before.text}`);
  }
}

function isOwnSequence({ own }: Definition, [draw, open, database, , sequence]: Token[]): boolean {
  const draws = draw?.kind === 'word' && ['NEXTVAL', 'LASTVAL'].includes(draw.value) && open?.text === '(';
  return draws && own?.database != null && isNamed(database, own.database) && own.sequences.has(sequence?.value ?? '');
}
