import { isAscii, isUtf8 as isUtf8Text } from 'node:buffer';
import { UNREADABLE } from '../../connection/error-numbers.ts';
import { asTable, inDatabase, plainWord, plainWords, quoteName, quotePath, quoteText } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { SqlError } from '../../connection/session-errors.ts';
import { readCollations } from '../introspect.ts';
import { readTableList, WRONG_MERGE } from '../tables.ts';
import { bytesOfText, hasTokensOf, isUtf8, textOfBytes } from './client-bytes.ts';
import type { Code, Definitions } from './definitions.ts';
import { showTables } from './show-tables.ts';
import { inOwnDatabase, joined, ownPrefixes, splitTable, withoutDatabase } from './statement-text.ts';
import { type LexicalMode, lexicalModeOf, tokensOf } from './tokens.ts';

export type Unreadable = (what: string, why: string, object: CodeRow & { error: Error }) => void;

export async function readDefinitions(session: MysqlSession, database: string, unreadable: Unreadable) {
  const named = await readTableList(session, database);
  const ofTables = named.filter(({ type }) => type !== 'SEQUENCE' && type !== 'VIEW' && type !== 'SYSTEM VIEW');
  const shown = await showTables(
    session,
    database,
    ofTables.map(({ name }) => name),
  );
  const tables = ofTables.flatMap(({ name }, at) => {
    const answer = shown[at] ?? '';
    if (!(answer instanceof SqlError)) return [splitTable(name, answer)];
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

export interface CodeRow extends Pick<Code, 'kind' | 'name'> {
  table_?: string | null;
  comment?: string | null;
  returns?: string | null;
}

/** A passing error would leave out an object that can be read. An error without a number: the server hides the text. */
function isAboutObject(error: Error): boolean {
  return error.name === 'Error' || (error instanceof SqlError && UNREADABLE.has(error.errno));
}

/** All views and stored programs, readable or not, in the order of drops. */
export async function listCode(session: MysqlSession, database: string): Promise<CodeRow[]> {
  const listed: CodeRow[] = [];
  for (const kind of ['events', 'triggers', 'views', 'routines'] as const) {
    listed.push(...(await session.query<CodeRow>(CODE[kind](database))));
  }
  return listed;
}

export async function readCode(session: MysqlSession, database: string, unreadable: Unreadable) {
  const collations = await readCollations(session, database);
  const spellings = await spellingsOf(session, database);
  const read = async (kind: keyof typeof CODE): Promise<Code[]> => {
    const listed = await session.query<CodeRow>(CODE[kind](database));
    const codes: Code[] = [];
    for (const each of listed) {
      const code = await readOne(session, { ...each, database, spellings }).catch((error: Error) => {
        if (!isAboutObject(error)) throw error;
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

async function readOne(session: MysqlSession, listed: CodeRow & { database: string; spellings: string[] }) {
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

interface Raw extends CodeRow {
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

async function convert(session: MysqlSession, bytes: Buffer, { from, to }: { from: string; to: string }) {
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

/** The column's name depends on the kind of object. */
function statementOf<Value>(row: Record<string, Value | null>): Value | null {
  const column = Object.keys(row).find((name) => /^(Create .*|SQL Original Statement)$/.test(name));
  return column === undefined ? null : (row[column] ?? null);
}

async function readSequence(session: MysqlSession, { name, database }: { name: string; database: string }) {
  const path = quotePath(database, name);
  const [row] = await session.query<{ next: string | number }>(
    `SELECT CAST(next_not_cached_value AS CHAR) AS next FROM ${asTable(path)}`,
  );
  const [shown = {}] = await session.query<Record<string, string | null>>(`SHOW CREATE SEQUENCE ${path}`);
  return { name, create: withoutDatabase(statementOf(shown) ?? '', database), next: String(row?.next ?? 1) };
}
