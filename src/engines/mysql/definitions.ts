import * as v from 'valibot';
import { readCollations } from './catalogue.ts';
import { inDatabase, plainWords, quoteName, type Session, SqlError, tablesIn } from './connection/session.ts';
import { WRONG_MERGE } from './own-rows.ts';
import { entriesOf, joinEntries, withoutTexts } from './table-entries.ts';
import { definerLength, type LexicalMode, lexicalModeOf, significant, type Token, tokensOf } from './tokens.ts';

/** What goes into SQL as it is: names of character sets and collations, modes, time zones. */
const wordSchema = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_]+$/));
const sqlModeSchema = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_,]*$/));
const timeZoneSchema = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_+:/-]*$/));

/** A table as statements: it is filled before its indexes are built, which sorts once instead of a million times. */
const tableSchema = v.object({
  name: v.string(),
  create: v.string(),
  /** Clauses of one ALTER TABLE each: those that can be made together, together. */
  indexes: v.array(v.array(v.string())),
  foreignKeys: v.array(v.string()),
});
export type TableDefinition = v.InferOutput<typeof tableSchema>;

/** Code that the server keeps as text, and under which settings it was written. */
const codeSchema = <const Kinds extends string[]>(kinds: Kinds) =>
  v.object({
    kind: v.picklist(kinds),
    name: v.string(),
    create: v.string(),
    sql_mode: v.nullable(sqlModeSchema),
    charset: v.nullable(wordSchema),
    collation: v.nullable(wordSchema),
    /** Of an event, whose times are in it. */
    time_zone: v.nullable(timeZoneSchema),
  });
export interface Code {
  kind: string;
  name: string;
  create: string;
  sql_mode: string | null;
  charset: string | null;
  collation: string | null;
  time_zone: string | null;
}

const sequenceSchema = v.object({ name: v.string(), create: v.string(), next: v.pipe(v.string(), v.regex(/^-?\d+$/)) });

const collations = { charset: wordSchema, collation: wordSchema };
const programs = {
  routines: v.array(codeSchema(['PROCEDURE', 'FUNCTION', 'PACKAGE', 'PACKAGE BODY'])),
  views: v.array(codeSchema(['VIEW'])),
  triggers: v.array(codeSchema(['TRIGGER'])),
  events: v.array(codeSchema(['EVENT'])),
};

/** What has to be made anew when tables move from one database to another. */
export const codeDefinitionsSchema = v.object({ ...collations, ...programs });

/** Everything of a database but its rows: the file `definitions.json` of a snapshot. */
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

export interface CodeDefinitions {
  charset: string;
  collation: string;
  routines: Code[];
  views: Code[];
  triggers: Code[];
  events: Code[];
}

/** What could not be read, for a warning each. */
export type Unreadable = (what: string, why: string) => void;

export async function readDefinitions(
  session: Session,
  database: string,
  unreadable: Unreadable,
): Promise<Definitions> {
  const named = await session.query<{ name: string; type: string }>(
    `SELECT TABLE_NAME AS name, TABLE_TYPE AS type FROM information_schema.TABLES WHERE ${tablesIn(database)} ORDER BY TABLE_NAME`,
  );
  const tables: TableDefinition[] = [];
  const sequences: Definitions['sequences'] = [];
  for (const { name, type } of named) {
    const path = `${quoteName(database)}.${quoteName(name)}`;
    if (type === 'SEQUENCE') sequences.push(await readSequence(session, { name, database }));
    else if (type !== 'VIEW' && type !== 'SYSTEM VIEW') {
      const create = await showCreate(session, `TABLE ${path}`).catch((error) => {
        if (!(error instanceof SqlError && error.errno === WRONG_MERGE)) throw error;
        unreadable(`table ${name}`, error.message);
        return null;
      });
      if (create !== null) tables.push(splitTable(name, create));
    }
  }
  return { ...(await readCode(session, database, unreadable)), tables, sequences };
}

/** Where a server lists a kind of code, in the order in which it can be made again. */
const CODE: Record<'routines' | 'views' | 'triggers' | 'events', (database: string) => string> = {
  routines: (database) =>
    `SELECT ROUTINE_TYPE AS kind, ROUTINE_NAME AS name FROM information_schema.ROUTINES WHERE ${inDatabase('ROUTINE_SCHEMA', database)} ORDER BY ROUTINE_TYPE, ROUTINE_NAME`,
  views: (database) =>
    `SELECT 'VIEW' AS kind, TABLE_NAME AS name FROM information_schema.VIEWS WHERE ${inDatabase('TABLE_SCHEMA', database)} ORDER BY TABLE_NAME`,
  triggers: (database) =>
    `SELECT 'TRIGGER' AS kind, TRIGGER_NAME AS name FROM information_schema.TRIGGERS WHERE ${inDatabase('TRIGGER_SCHEMA', database)}
     ORDER BY EVENT_OBJECT_TABLE, EVENT_MANIPULATION, ACTION_TIMING, ACTION_ORDER`,
  events: (database) =>
    `SELECT 'EVENT' AS kind, EVENT_NAME AS name FROM information_schema.EVENTS WHERE ${inDatabase('EVENT_SCHEMA', database)} ORDER BY EVENT_NAME`,
};

export type Listed = Pick<Code, 'kind' | 'name'>;

/** Every view and stored program, also those of which the user may not read the text, in the order in which they can be dropped. */
export async function listCode(session: Session, database: string): Promise<Listed[]> {
  const listed: Listed[] = [];
  for (const kind of ['events', 'triggers', 'views', 'routines'] as const) {
    listed.push(...(await session.query<Listed>(CODE[kind](database))));
  }
  return listed;
}

export async function readCode(session: Session, database: string, unreadable: Unreadable): Promise<CodeDefinitions> {
  const collations = await readCollations(session, database);
  const spellings = await spellingsOf(session, database);
  const read = async (kind: keyof typeof CODE): Promise<Code[]> => {
    const listed = await session.query<Listed>(CODE[kind](database));
    const codes: Code[] = [];
    for (const each of listed) {
      const code = await readOne(session, { ...each, database, spellings }).catch((error: Error) => {
        unreadable(`${each.kind.toLowerCase()} ${each.name}`, error.message);
        return null;
      });
      if (code) codes.push(code);
    }
    return codes;
  };
  return {
    charset: collations?.charset ?? 'utf8mb4',
    collation: collations?.collation ?? 'utf8mb4_general_ci',
    routines: await read('routines'),
    views: await read('views'),
    triggers: await read('triggers'),
    events: await read('events'),
  };
}

/** The database as it is called here, and as the server writes it where it takes no notice of case. */
async function spellingsOf(session: Session, database: string): Promise<string[]> {
  const rows = await session.query<{ name: string }>(
    `SELECT SCHEMA_NAME AS name FROM information_schema.SCHEMATA WHERE ${inDatabase('SCHEMA_NAME', database)}`,
  );
  const folded = rows.some(({ name }) => name !== database) ? [database.toLowerCase()] : [];
  return [...new Set([database, ...rows.map(({ name }) => name), ...folded])];
}

async function readOne(
  session: Session,
  { kind, name, database, spellings }: Listed & { database: string; spellings: string[] },
): Promise<Code> {
  const [row = {}] = await session.query<Record<string, string | null>>(
    `SHOW CREATE ${plainWords(kind)} ${quoteName(database)}.${quoteName(name)}`,
  );
  const create = statementOf(row);
  if (create === null) throw new Error('the user may not see how it is made');
  return {
    kind,
    name,
    create: spellings.reduce(
      (text, own) => inOwnDatabase(text, { kind, database: own, mode: lexicalModeOf(row.sql_mode ?? null) }),
      create,
    ),
    sql_mode: row.sql_mode ?? null,
    charset: row.character_set_client ?? null,
    collation: row.collation_connection ?? null,
    time_zone: row.time_zone ?? null,
  };
}

async function showCreate(session: Session, what: string): Promise<string> {
  const [row = {}] = await session.query<Record<string, string | null>>(`SHOW CREATE ${what}`);
  return statementOf(row) ?? '';
}

/** The column has a name of its own for every kind of object. */
function statementOf(row: Record<string, string | null>): string | null {
  const column = Object.keys(row).find((name) => /^(Create .*|SQL Original Statement)$/.test(name));
  return column === undefined ? null : (row[column] ?? null);
}

async function readSequence(session: Session, { name, database }: { name: string; database: string }) {
  const path = `${quoteName(database)}.${quoteName(name)}`;
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
 * Divides SHOW CREATE TABLE. An AUTO_INCREMENT column needs its key from the start, and only InnoDB builds indexes
 * afterwards faster than on the way; the server makes one FULLTEXT index at a time.
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

/** The table as one statement again, but for its foreign keys: where rows are few or none an ALTER costs more than they do. */
export function withIndexes(table: TableDefinition): TableDefinition {
  const { head, entries, tail } = entriesOf(table.create);
  return { ...table, create: joinEntries({ head, entries: [...entries, ...table.indexes.flat()], tail }), indexes: [] };
}

function keepsIndexes(entries: string[]): boolean {
  const counted = entries.find(
    (entry) =>
      entry.startsWith('`') && significant(entry).some(({ kind, value }) => isWord({ kind, value }, 'AUTO_INCREMENT')),
  );
  const column = counted && significant(counted)[0]?.text;
  return column !== undefined && !entries.some((entry) => entry.startsWith(`PRIMARY KEY (${column}`));
}

function isWord({ kind, value }: Pick<Token, 'kind' | 'value'>, word: string): boolean {
  return kind === 'word' && value === word;
}

/**
 * A definition without the name of its own database, so that it can be made in another. Quoted texts are left alone.
 */
export function withoutDatabase(sql: string, database: string, mode: LexicalMode = {}): string {
  const tokens = [...tokensOf(sql, mode)];
  const isPrefix = (at: number): boolean =>
    tokens[at]?.kind === 'name' && tokens[at]?.value === database && tokens[at + 1]?.text === '.';
  return tokens
    .filter(({ text }, at) => !isPrefix(at) && !(text === '.' && isPrefix(at - 1)))
    .map(({ text }) => text)
    .join('');
}

/** MariaDB keeps the head of a trigger as somebody wrote it: `app.audit`, `app . audit`; in a body that may be an alias. */
function inOwnDatabase(
  create: string,
  { kind, database, mode }: { kind: string; database: string; mode: LexicalMode },
): string {
  const sql = withoutDatabase(create, database, mode);
  if (kind !== 'TRIGGER') return sql;
  const tokens = significant(sql, mode);
  const head = tokens.findIndex((token) => isWord(token, 'TRIGGER'));
  const on = tokens.findIndex((token, at) => at > head && isWord(token, 'ON'));
  const isPrefix = ({ kind: found, text, value }: Token, at: number): boolean =>
    (found === 'name' ? value : text) === database && tokens[at + 1]?.text === '.';
  return tokens
    .filter((token, at) => at > head && at <= on + 1 && isPrefix(token, at))
    .reduceRight((text, { at: from }) => {
      const after = tokens.find(({ at, text: dot }) => at > from && dot !== '.')?.at ?? from;
      return text.slice(0, from) + text.slice(after);
    }, sql);
}

/** A definition that belongs to whoever makes it: only an administrator may make it somebody else's. */
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
