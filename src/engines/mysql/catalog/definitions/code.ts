import { LOCKED } from '../../connection/error-numbers.ts';
import { plainWord, plainWords, quoteName, quoteText } from '../../connection/quote.ts';
import { type MysqlSession, PLAIN_GRAMMAR } from '../../connection/session.ts';
import { SqlError } from '../../connection/session-errors.ts';
import { bytesOfText, isUtf8, textOfBytes } from './client-bytes.ts';
import type { Code, CodeDefinitions } from './definitions.ts';
import { createDangling, dropDangling } from './foreign-keys.ts';
import type { CodeRow } from './read-definitions.ts';
import { defaultStatements } from './sequence-defaults.ts';
import { withoutDefiner } from './statement-text.ts';
import { lexicalModeOf } from './tokens.ts';

/** DEFINER of stored programs: the loading user, or the original one if permitted. */
export type Definers = 'mine' | 'theirs';

/** Creates what the user of the session may not, in the same database. */
export interface Helper {
  open(): Promise<MysqlSession>;
  /** Definer of what it creates: the user of the other session. */
  account: string;
  /** Also views that read other databases. */
  views: boolean;
}

export interface CodeCreation {
  definers: Definers;
  helper?: Helper | null;
  /** Called for each object that the server refuses; the others are created. Default: the first refusal is thrown. */
  refused?: (object: Pick<Code, 'kind' | 'name'>, error: SqlError) => void;
}

/**
 * Creates code in the session's database: routines, views, triggers, events. Returns views that were invalid in the
 * source and are not valid here.
 */
export async function createCode(
  session: MysqlSession,
  code: CodeDefinitions,
  { definers, helper = null, refused }: CodeCreation,
): Promise<Code[]> {
  const { routines, views, triggers, events, dangling = [], defaults = [] } = code;
  const unlessRefused = async (object: Pick<Code, 'kind' | 'name'>, work: () => Promise<void>): Promise<void> => {
    await work().catch((error) => {
      if (!refused || !(error instanceof SqlError) || LOCKED.has(error.errno)) throw error;
      refused(object, error);
    });
  };
  await unlessRefused({ kind: 'DEFAULT', name: 'of sequences' }, async () => {
    for (const statement of defaultStatements(defaults)) await session.execute(statement);
  });
  for (const key of dangling) {
    await unlessRefused({ kind: 'FOREIGN KEY', name: key.name }, () => createDangling(session, [key]));
  }
  let collation = code.collation;
  const create = async (each: Code): Promise<void> => {
    const { database_collation } = each;
    if (database_collation && database_collation !== collation) {
      await session.execute(`ALTER DATABASE COLLATE ${plainWord(database_collation)}`);
      collation = database_collation;
    }
    await createOne(session, each, definers).catch(async (error) => {
      if (!helper || !isForHelper(error, each, helper)) throw error;
      await createByHelper(each, helper);
    });
  };
  for (const each of routines) await unlessRefused(each, () => create(each));
  const left = await createViews(views, create, unlessRefused);
  for (const each of [...triggers, ...events]) await unlessRefused(each, () => create(each));
  if (collation !== code.collation) {
    await session.execute(
      `ALTER DATABASE CHARACTER SET ${plainWord(code.charset)} COLLATE ${plainWord(code.collation)}`,
    );
  }
  await session.execute(PLAIN_GRAMMAR);
  return left;
}

/** The server logs its changes, and lets only a superuser create functions and triggers. */
const NEEDS_SUPER = 1419;
/** A table, a column or a routine of another database. */
const OF_OTHERS = new Set([1142, 1143, 1370]);

function isForHelper(error: unknown, { kind }: Code, { views }: Helper): boolean {
  if (!(error instanceof SqlError)) return false;
  return error.errno === NEEDS_SUPER || (views && kind === 'VIEW' && OF_OTHERS.has(error.errno));
}

async function createByHelper(code: Code, { open, account }: Helper): Promise<void> {
  const session = await open();
  for (const setting of settingsOf(code)) await session.execute(setting);
  const mode = lexicalModeOf(code.sql_mode);
  const definer = code.kind === 'VIEW' ? '' : `DEFINER = ${account} `;
  const written = (create: string): string =>
    withoutDefiner(create, mode).replace(/^CREATE /, () => `CREATE ${definer}`);
  await session.execute(statementOf(code, written));
}

async function createViews(
  views: Code[],
  create: (view: Code) => Promise<void>,
  unlessRefused: (view: Code, work: () => Promise<void>) => Promise<void>,
): Promise<Code[]> {
  let left = views;
  while (left.length > 0) {
    const failed: { view: Code; error: unknown }[] = [];
    for (const view of left) {
      await create(view).catch((error) => failed.push({ view, error }));
    }
    if (failed.length === left.length) {
      const unexpected = failed.filter(({ view, error }) => !view.invalid || !(error instanceof SqlError));
      for (const { view, error } of unexpected) await unlessRefused(view, () => Promise.reject(error));
      return failed.filter((each) => !unexpected.includes(each)).map(({ view }) => view);
    }
    left = failed.map(({ view }) => view);
  }
  return left;
}

/** The definer does not exist, or the user may not set it. */
const DEFINER_REFUSED = new Set([1227, 1449, 4123]);

export function settingsOf(code: Code): string[] {
  const { sql_mode, time_zone, charset, collation } = code;
  return [
    `SET sql_mode = ${quoteText(sql_mode ?? '')}`,
    ...(time_zone ? [`SET time_zone = ${quoteText(time_zone)}`] : []),
    ...(charset && collation
      ? [
          `SET character_set_client = ${plainWord(clientOf(charset, code))}, collation_connection = ${plainWord(collation)}`,
        ]
      : []),
  ];
}

async function createOne(session: MysqlSession, code: Code, definers: Definers): Promise<void> {
  for (const setting of settingsOf(code)) await session.execute(setting);
  if (definers === 'theirs') {
    try {
      await session.execute(statementOf(code, (create) => create));
      return;
    } catch (error) {
      if (!(error instanceof SqlError && DEFINER_REFUSED.has(error.errno))) throw error;
    }
  }
  const mode = lexicalModeOf(code.sql_mode);
  await session.execute(statementOf(code, (create) => withoutDefiner(create, mode)));
}

/** Snapshots of earlier versions have UTF-8 only. */
export function clientOf(charset: string, { create, bytes }: Pick<Code, 'create' | 'bytes'>): string {
  const isAsWritten = bytes !== undefined || isUtf8(charset) || /^\p{ASCII}*$/u.test(create);
  return isAsWritten ? charset : 'utf8mb4';
}

function statementOf({ create, bytes, charset }: Code, change: (create: string) => string): string | Uint8Array {
  if (bytes === undefined) return change(create);
  return bytesOfText(change(textOfBytes(Buffer.from(bytes, 'base64'), charset ?? '')));
}

export async function dropCode(
  session: MysqlSession,
  { routines, views, triggers, events, dangling = [] }: CodeDefinitions,
): Promise<void> {
  await dropDangling(session, dangling);
  await dropListed(session, [...events, ...triggers, ...views, ...routines]);
}

export async function dropListed(session: MysqlSession, listed: CodeRow[], database: string | null = null) {
  const prefix = database === null ? '' : `${quoteName(database)}.`;
  for (const { kind, name } of listed) {
    const statement = `DROP ${plainWords(kind)} IF EXISTS ${prefix}${quoteName(name)}`;
    await inModeOf(kind, session, () => session.execute(statement));
  }
}

/** MariaDB parses packages in Oracle mode only. */
export async function inModeOf<Result>(kind: string, session: MysqlSession, work: () => Promise<Result>) {
  if (!kind.startsWith('PACKAGE')) return work();
  await session.execute("SET @tool_mode = @@sql_mode, sql_mode = 'ORACLE'");
  try {
    return await work();
  } finally {
    // Fails only when the session is gone.
    await session.execute('SET sql_mode = @tool_mode').catch(() => {});
  }
}
