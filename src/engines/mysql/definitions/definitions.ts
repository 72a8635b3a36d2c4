import { isAscii, isUtf8 as isUtf8Text } from 'node:buffer';
import * as v from 'valibot';
import { bytesOfText, hasTokensOf, isUtf8, textOfBytes } from '../client-bytes.ts';
import { type MysqlSession, SqlError } from '../connection/session.ts';
import { readCollations } from '../introspect.ts';
import { WRONG_MERGE } from '../own-rows.ts';
import { inDatabase, plainWord, plainWords, quoteName, quotePath, quoteText, tablesIn } from '../quote.ts';
import { entriesOf, joinEntries, referredTable, withoutTexts } from './table-entries.ts';
import { definerLength, isWord, type LexicalMode, lexicalModeOf, significant, type Token, tokensOf } from './tokens.ts';

/** These values go into SQL unquoted. */
const wordSchema = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_]+$/));
const sqlModeSchema = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_,]*$/));
const timeZoneSchema = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_+:/-]*$/));

/** Rows are loaded before the indexes are built: one sort is faster than many inserts. */
const tableSchema = v.object({
  name: v.string(),
  create: v.string(),
  indexes: v.array(v.array(v.string())),
  foreignKeys: v.array(v.string()),
});
export type TableDefinition = v.InferOutput<typeof tableSchema>;

const codeSchema = <const Kinds extends string[]>(kinds: Kinds) =>
  v.object({
    kind: v.picklist(kinds),
    name: v.string(),
    create: v.string(),
    sql_mode: v.nullable(sqlModeSchema),
    charset: v.nullable(wordSchema),
    collation: v.nullable(wordSchema),
    time_zone: v.nullable(timeZoneSchema),
    /** Base64 of the statement in `charset`, where `create` in UTF-8 would be another statement. */
    bytes: v.optional(v.pipe(v.string(), v.base64())),
    /** Collation of the database at creation: the default for texts in the code. */
    database_collation: v.optional(v.nullable(wordSchema)),
    invalid: v.optional(v.boolean()),
  });
export interface Code {
  kind: string;
  name: string;
  create: string;
  sql_mode: string | null;
  charset: string | null;
  collation: string | null;
  time_zone: string | null;
  bytes?: string | undefined;
  database_collation?: string | null | undefined;
  invalid?: boolean | undefined;
}

const sequenceSchema = v.object({ name: v.string(), create: v.string(), next: v.pipe(v.string(), v.regex(/^-?\d+$/)) });

const collations = { charset: wordSchema, collation: wordSchema };
const programs = {
  routines: v.array(codeSchema(['PROCEDURE', 'FUNCTION', 'PACKAGE', 'PACKAGE BODY'])),
  views: v.array(codeSchema(['VIEW'])),
  triggers: v.array(codeSchema(['TRIGGER'])),
  events: v.array(codeSchema(['EVENT'])),
};

/** Objects to create again when tables move to another database. */
export const codeDefinitionsSchema = v.object({
  ...collations,
  ...programs,
  dangling: v.optional(v.array(v.object({ table: v.string(), name: v.string(), clause: v.string() }))),
  defaults: v.optional(v.array(v.object({ table: v.string(), column: v.string() }))),
});

/** The file `definitions.json`: everything but the rows. */
export const definitionsSchema = v.object({
  ...collations,
  tables: v.array(tableSchema),
  sequences: v.array(sequenceSchema),
  ...programs,
});
export interface Definitions extends CodeDefinitions {
  tables: TableDefinition[];
  sequences: v.InferOutput<typeof sequenceSchema>[];
}

/**
 * A foreign key to a missing table, made with `foreign_key_checks = 0`. It stores the name of its database and would
 * not follow its table: it is dropped before the move and created again after it.
 */
export interface DanglingKey {
  table: string;
  name: string;
  clause: string;
}

/**
 * A MariaDB column with a default from a sequence. The server stores the sequence's database, which a move does not
 * change: the column is defined again after it.
 */
export interface SequenceDefault {
  table: string;
  column: string;
}

export interface CodeDefinitions {
  charset: string;
  collation: string;
  routines: Code[];
  views: Code[];
  triggers: Code[];
  events: Code[];
  dangling?: DanglingKey[] | undefined;
  defaults?: SequenceDefault[] | undefined;
}

export type Unreadable = (what: string, why: string, object: Listed & { error: Error }) => void;

export async function readDefinitions(
  session: MysqlSession,
  database: string,
  unreadable: Unreadable,
): Promise<Definitions> {
  const named = await session.query<{ name: string; type: string }>(
    `SELECT TABLE_NAME AS name, TABLE_TYPE AS type FROM information_schema.TABLES WHERE ${tablesIn(database)} ORDER BY TABLE_NAME`,
  );
  const ofTables = named.filter(({ type }) => type !== 'SEQUENCE' && type !== 'VIEW' && type !== 'SYSTEM VIEW');
  const shown = await session.queryEach<Record<string, string | null>>(
    ofTables.map(({ name }) => `SHOW CREATE TABLE ${quotePath(database, name)}`),
  );
  const tables = ofTables.flatMap(({ name }, at) => {
    const answer = shown[at] ?? [];
    if (!(answer instanceof SqlError)) return [splitTable(name, statementOf(answer[0] ?? {}) ?? '')];
    if (answer.errno !== WRONG_MERGE) throw answer;
    unreadable(`table ${name}`, answer.message, { kind: 'TABLE', name, error: answer });
    return [];
  });
  const sequences: Definitions['sequences'] = [];
  for (const { name, type } of named) {
    if (type === 'SEQUENCE') sequences.push(await readSequence(session, { name, database }));
  }
  return { ...(await readCode(session, database, unreadable)), tables, sequences };
}

/** Queries in the order of creation. */
const CODE: Record<'routines' | 'views' | 'triggers' | 'events', (database: string) => string> = {
  routines: (database) =>
    `SELECT ROUTINE_TYPE AS kind, ROUTINE_NAME AS name, ROUTINE_COMMENT AS comment, DTD_IDENTIFIER AS returns
     FROM information_schema.ROUTINES WHERE ${inDatabase('ROUTINE_SCHEMA', database)} ORDER BY ROUTINE_TYPE, ROUTINE_NAME`,
  views: (database) =>
    `SELECT 'VIEW' AS kind, TABLE_NAME AS name FROM information_schema.VIEWS WHERE ${inDatabase('TABLE_SCHEMA', database)} ORDER BY TABLE_NAME`,
  triggers: (database) =>
    `SELECT 'TRIGGER' AS kind, TRIGGER_NAME AS name, EVENT_OBJECT_TABLE AS table_ FROM information_schema.TRIGGERS WHERE ${inDatabase('TRIGGER_SCHEMA', database)}
     ORDER BY EVENT_OBJECT_TABLE, EVENT_MANIPULATION, ACTION_TIMING, ACTION_ORDER`,
  events: (database) =>
    `SELECT 'EVENT' AS kind, EVENT_NAME AS name, EVENT_COMMENT AS comment FROM information_schema.EVENTS WHERE ${inDatabase('EVENT_SCHEMA', database)} ORDER BY EVENT_NAME`,
};

export interface Listed extends Pick<Code, 'kind' | 'name'> {
  table_?: string | null;
  comment?: string | null;
  returns?: string | null;
}

/** All views and stored programs, readable or not, in the order of drops. */
export async function listCode(session: MysqlSession, database: string): Promise<Listed[]> {
  const listed: Listed[] = [];
  for (const kind of ['events', 'triggers', 'views', 'routines'] as const) {
    listed.push(...(await session.query<Listed>(CODE[kind](database))));
  }
  return listed;
}

export async function readCode(
  session: MysqlSession,
  database: string,
  unreadable: Unreadable,
): Promise<CodeDefinitions> {
  const collations = await readCollations(session, database);
  const spellings = await spellingsOf(session, database);
  const read = async (kind: keyof typeof CODE): Promise<Code[]> => {
    const listed = await session.query<Listed>(CODE[kind](database));
    const codes: Code[] = [];
    for (const each of listed) {
      const code = await readOne(session, { ...each, database, spellings }).catch((error: Error) => {
        unreadable(`${each.kind.toLowerCase()} ${each.name}`, error.message, { ...each, error });
        return null;
      });
      if (code) codes.push(code);
    }
    return codes;
  };
  // Code in other character sets is read as raw bytes.
  await session.execute('SET character_set_results = NULL');
  try {
    return {
      charset: collations?.charset ?? 'utf8mb4',
      collation: collations?.collation ?? 'utf8mb4_general_ci',
      routines: await read('routines'),
      views: await read('views'),
      triggers: await read('triggers'),
      events: await read('events'),
    };
  } finally {
    await session.execute('SET character_set_results = utf8mb4').catch(() => {});
  }
}

/** The given name, and the server's own spelling where it ignores case. */
async function spellingsOf(session: MysqlSession, database: string): Promise<string[]> {
  const rows = await session.query<{ name: string }>(
    `SELECT SCHEMA_NAME AS name FROM information_schema.SCHEMATA WHERE ${inDatabase('SCHEMA_NAME', database)}`,
  );
  const folded = rows.some(({ name }) => name !== database) ? [database.toLowerCase()] : [];
  return [...new Set([database, ...rows.map(({ name }) => name), ...folded])];
}

async function readOne(
  session: MysqlSession,
  listed: Listed & { database: string; spellings: string[] },
): Promise<Code> {
  const { kind, name, database, spellings } = listed;
  const [row = {}] = await session.bytes(`SHOW CREATE ${plainWords(kind)} ${quotePath(database, name)}`);
  const raw = statementOf(row);
  if (raw === null) throw new Error('the user may not read its definition');
  const invalid = kind === 'VIEW' && (await isInvalid(session));
  const settings = Object.fromEntries(Object.entries(row).map(([key, value]) => [key, value?.toString() ?? null]));
  const charset = settings.character_set_client ?? null;
  const database_collation = settings['Database Collation'] ?? null;
  const mode = lexicalModeOf(settings.sql_mode ?? null);
  const isText = charset === null || isAscii(raw) || (isUtf8(charset) && isUtf8Text(raw));
  const written = isText ? null : await asWritten(session, { ...listed, raw, charset });
  const create = written?.text ?? raw.toString();
  return {
    kind,
    name,
    create: inOwnDatabase(create, { kind, databases: spellings, mode }),
    sql_mode: settings.sql_mode ?? null,
    charset,
    collation: settings.collation_connection ?? null,
    time_zone: settings.time_zone ?? null,
    ...(database_collation !== null && { database_collation }),
    ...(invalid && { invalid }),
    ...(written &&
      charset !== null &&
      inBytes(create, { kind, databases: spellings, mode, raw: written.bytes, charset })),
  };
}

interface Raw extends Listed {
  /** From SHOW CREATE: the client's text in its character set, mixed with names in UTF-8. */
  raw: Buffer;
  charset: string;
}

async function asWritten(session: MysqlSession, listed: Raw): Promise<{ bytes: Buffer; text: string }> {
  const { raw, charset } = listed;
  if (isUtf8(charset)) return { bytes: raw, text: raw.toString() };
  let statement = raw.toString('latin1');
  for (const part of partsInUtf8(listed)) {
    const utf8 = Buffer.from(part).toString('latin1');
    if (isAscii(Buffer.from(part)) || !statement.includes(utf8)) continue;
    let converted = '';
    // ASCII is not converted: some character sets have another backslash.
    for (const run of utf8.match(/[\x80-\xff]+|[^\x80-\xff]+/g) ?? []) {
      const bytes = Buffer.from(run, 'latin1');
      const isPlain = isAscii(bytes);
      converted += (isPlain ? bytes : await convert(session, bytes, { from: 'utf8mb4', to: charset })).toString(
        'latin1',
      );
    }
    statement = statement.replace(utf8, () => converted);
  }
  const bytes = Buffer.from(statement, 'latin1');
  return { bytes, text: (await convert(session, bytes, { from: charset, to: 'utf8mb4' })).toString() };
}

/** With the surrounding words that the server writes, so that no body matches. */
function partsInUtf8({ kind, name, table_, comment, returns }: Raw): string[] {
  const escaped = comment?.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll("'", "\\'");
  return [
    `${kind} ${quoteName(name)}`,
    ...(table_ ? [` ON ${quoteName(table_)} FOR EACH ROW`] : []),
    ...(comment
      ? [`COMMENT '${escaped}'`, `COMMENT '${comment.replaceAll("'", "''")}'`, `COMMENT ${quoteText(comment)}`]
      : []),
    ...(returns ? [` RETURNS ${returns}`] : []),
  ];
}

async function convert(
  session: MysqlSession,
  bytes: Buffer,
  { from, to }: { from: string; to: string },
): Promise<Buffer> {
  const [row] = await session.bytes(
    `SELECT CONVERT(_${plainWord(from)} X'${bytes.toString('hex')}' USING ${plainWord(to)}) AS converted`,
  );
  return row?.converted ?? bytes;
}

const VIEW_INVALID = 1356;

async function isInvalid(session: MysqlSession): Promise<boolean> {
  const warnings = await session.query<{ Code: number }>('SHOW WARNINGS');
  return warnings.some(({ Code: code }) => code === VIEW_INVALID);
}

interface InBytes {
  kind: string;
  databases: string[];
  mode: LexicalMode;
  raw: Buffer;
  charset: string;
}

/** Drops the same tokens from the bytes as from the text. */
function inBytes(create: string, { raw, charset, mode, ...own }: InBytes): { bytes: string } {
  const text = textOfBytes(raw, charset);
  if (!hasTokensOf(create, text, { charset, mode })) throw new Error(`its text in ${charset} cannot be read`);
  const dropped = ownPrefixes([...tokensOf(create, mode)], own);
  return { bytes: bytesOfText(joined([...tokensOf(text, mode)], dropped)).toString('base64') };
}

async function showCreate(session: MysqlSession, what: string): Promise<string> {
  const [row = {}] = await session.query<Record<string, string | null>>(`SHOW CREATE ${what}`);
  return statementOf(row) ?? '';
}

/** The column's name depends on the kind of object. */
function statementOf<Value>(row: Record<string, Value | null>): Value | null {
  const column = Object.keys(row).find((name) => /^(Create .*|SQL Original Statement)$/.test(name));
  return column === undefined ? null : (row[column] ?? null);
}

async function readSequence(session: MysqlSession, { name, database }: { name: string; database: string }) {
  const path = quotePath(database, name);
  const [row] = await session.query<{ next: string | number }>(
    `SELECT CAST(next_not_cached_value AS CHAR) AS next FROM ${path}`,
  );
  const create = await showCreate(session, `SEQUENCE ${path}`);
  return {
    name,
    create: withoutDatabase(create, database),
    next: String(row?.next ?? 1),
  };
}

/**
 * Divides SHOW CREATE TABLE. An AUTO_INCREMENT column needs its key from the start; only InnoDB builds indexes faster
 * afterwards; the server adds one FULLTEXT index at a time.
 */
export function splitTable(name: string, create: string): TableDefinition {
  const { head, entries, tail } = entriesOf(create);
  const isIndex = (entry: string): boolean => /^(UNIQUE |FULLTEXT |SPATIAL )?KEY /.test(entry);
  const isForeignKey = (entry: string): boolean => /^CONSTRAINT `(?:[^`]|``)*` FOREIGN KEY /.test(entry);
  const afterwards = /\bENGINE=InnoDB\b/.test(withoutTexts(tail)) && !keepsIndexes(entries);
  const later = (entry: string): boolean => isForeignKey(entry) || (afterwards && isIndex(entry));
  const indexes = entries.filter((entry) => isIndex(entry) && later(entry));
  const plain = indexes.filter((entry) => !entry.startsWith('FULLTEXT'));
  const fulltext = indexes.filter((entry) => entry.startsWith('FULLTEXT'));
  return {
    name,
    create: joinEntries({ head, entries: entries.filter((entry) => !later(entry)), tail }),
    indexes: [...(plain.length > 0 ? [plain] : []), ...fulltext.map((entry) => [entry])],
    foreignKeys: entries.filter(isForeignKey),
  };
}

/** One statement again, but for foreign keys: faster for tables with few rows. */
export function withIndexes(table: TableDefinition): TableDefinition {
  const { head, entries, tail } = entriesOf(table.create);
  return { ...table, create: joinEntries({ head, entries: [...entries, ...table.indexes.flat()], tail }), indexes: [] };
}

/**
 * Puts foreign keys into CREATE TABLE where both tables have all indexes: thousands of ALTER TABLE are slow. Needs
 * `foreign_key_checks = 0`.
 */
export function withForeignKeys(tables: TableDefinition[]): TableDefinition[] {
  const complete = new Set(tables.filter(({ indexes }) => indexes.length === 0).map(({ name }) => name));
  return tables.map((table) => {
    const isReady = (clause: string): boolean => complete.has(table.name) && complete.has(referredTable(clause) ?? '');
    const { head, entries, tail } = entriesOf(table.create);
    const create = joinEntries({ head, entries: [...entries, ...table.foreignKeys.filter(isReady)], tail });
    return { ...table, create, foreignKeys: table.foreignKeys.filter((clause) => !isReady(clause)) };
  });
}

function keepsIndexes(entries: string[]): boolean {
  const counted = entries.find(
    (entry) => entry.startsWith('`') && significant(entry).some((token) => isWord(token, 'AUTO_INCREMENT')),
  );
  const column = counted && significant(counted)[0]?.text;
  return column !== undefined && !entries.some((entry) => entry.startsWith(`PRIMARY KEY (${column}`));
}

/** Without the name of its own database, but for quoted texts. */
export function withoutDatabase(sql: string, database: string, mode: LexicalMode = {}): string {
  const tokens = [...tokensOf(sql, mode)];
  return joined(tokens, prefixesIn(tokens, [database]));
}

export function inOwnDatabase(create: string, own: { kind: string; databases: string[]; mode: LexicalMode }): string {
  const tokens = [...tokensOf(create, own.mode)];
  return joined(tokens, ownPrefixes(tokens, own));
}

function joined(tokens: Token[], dropped: Set<number>): string {
  return tokens
    .filter((_, at) => !dropped.has(at))
    .map(({ text }) => text)
    .join('');
}

/** Words before a table or routine, never before a column. */
const BEFORE_TABLE = new Set(
  'FROM JOIN STRAIGHT_JOIN INTO UPDATE TABLE CALL VIEW TRIGGER PROCEDURE FUNCTION EVENT SEQUENCE BODY PACKAGE EXISTS NEXTVAL LASTVAL SETVAL'.split(
    ' ',
  ),
);

function prefixesIn(tokens: Token[], databases: string[]): Set<number> {
  const isName = (at: number): boolean => tokens[at]?.kind === 'name' && databases.includes(tokens[at]?.value ?? '');
  const isDot = (at: number): boolean => tokens[at]?.text === '.';
  const before = (at: number): Token | undefined =>
    tokens.slice(0, at).findLast(({ kind, text }) => kind !== 'space' && kind !== 'comment' && text !== '(');
  const isAmbiguous = tokens.some(
    (_, at) => isName(at) && !isDot(at - 1) && !isDot(at + 1) && before(at)?.value !== 'AS',
  );
  const isPrefix = (at: number): boolean => {
    if (!isName(at) || !isDot(at + 1) || isDot(at - 1)) return false;
    if (!isAmbiguous || isDot(at + 3) || tokens[at + 3]?.text === '(') return true;
    const word = before(at);
    return word?.kind === 'word' && BEFORE_TABLE.has(word.value);
  };
  return new Set(tokens.flatMap((_, at) => (isPrefix(at) ? [at, at + 1] : [])));
}

/** MariaDB stores the head of a trigger as written: `app.audit`, `app . audit`. In a body the name may be an alias. */
function ownPrefixes(tokens: Token[], { kind, databases }: { kind: string; databases: string[] }): Set<number> {
  const dropped = prefixesIn(tokens, databases);
  if (kind !== 'TRIGGER') return dropped;
  const left = [...tokens.entries()].filter(
    ([at, token]) => !dropped.has(at) && token.kind !== 'space' && token.kind !== 'comment',
  );
  const head = left.findIndex(([, token]) => isWord(token, 'TRIGGER'));
  const on = left.findIndex(([, token], at) => at > head && isWord(token, 'ON'));
  for (const [at, [from, { kind: found, text, value }]] of left.entries()) {
    if (at <= head || at > on + 1 || left[at + 1]?.[1].text !== '.') continue;
    if (!databases.includes(found === 'name' ? value : text)) continue;
    const next = left[at + 2]?.[0] ?? from;
    for (let place = from; place < next; place += 1) dropped.add(place);
  }
  return dropped;
}

/** Only an administrator may create objects with another definer. */
export function withoutDefiner(create: string, mode: LexicalMode = {}): string {
  const tokens = significant(create, mode);
  const at = tokens.findIndex(({ kind, value }) => kind === 'word' && KINDS.has(value));
  const definer = tokens.slice(0, Math.max(0, at)).findIndex((token) => isWord(token, 'DEFINER'));
  if (definer === -1 || tokens[definer + 1]?.text !== '=') return create;
  const from = tokens[definer]?.at ?? 0;
  const end = tokens[definer + definerLength(tokens.slice(definer))]?.at ?? create.length;
  return create.slice(0, from) + create.slice(end);
}

const KINDS = new Set(['VIEW', 'TRIGGER', 'PROCEDURE', 'FUNCTION', 'EVENT', 'PACKAGE']);
