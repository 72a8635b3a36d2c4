import {
  plainWord,
  plainWords,
  quoteName,
  quoteText,
  SESSION_SETTINGS,
  type Session,
  SqlError,
} from './connection/session.ts';
import { type Code, type CodeDefinitions, type Listed, withoutDefiner } from './definitions.ts';
import { lexicalModeOf } from './tokens.ts';

/** In whose name code runs: whoever makes it, or whoever it belonged to, where that may be said. */
export type Definers = 'mine' | 'theirs';

/** Makes code in the session's database: routines before the views that call them, then triggers and events. */
export async function createCode(session: Session, code: CodeDefinitions, definers: Definers): Promise<void> {
  for (const each of code.routines) await createOne(session, each, definers);
  await createViews(session, code.views, definers);
  for (const each of [...code.triggers, ...code.events]) await createOne(session, each, definers);
  for (const setting of SESSION_SETTINGS.slice(0, 1)) await session.execute(setting);
}

/** A view can be made when those are there that it reads: whoever fails is tried again after the others. */
async function createViews(session: Session, views: Code[], definers: Definers): Promise<void> {
  let left = views;
  while (left.length > 0) {
    const failed: { view: Code; error: unknown }[] = [];
    for (const view of left) {
      await createOne(session, view, definers).catch((error) => failed.push({ view, error }));
    }
    if (failed.length === left.length) throw failed[0]?.error;
    left = failed.map(({ view }) => view);
  }
}

/** What is said of somebody else's name when it may not be said, or does not exist. */
const DEFINER_REFUSED = new Set([1227, 1449, 4123]);

/** What has to be set before the statement, so that the server keeps it as it was. */
export function settingsOf(code: Code): string[] {
  // Our statements are UTF-8 whatever the code was written in; for ASCII both are the same.
  const client = /^\p{ASCII}*$/u.test(code.create) ? (code.charset ?? 'utf8mb4') : 'utf8mb4';
  return [
    `SET sql_mode = ${quoteText(code.sql_mode ?? '')}`,
    ...(code.time_zone ? [`SET time_zone = ${quoteText(code.time_zone)}`] : []),
    ...(code.charset && code.collation
      ? [`SET character_set_client = ${plainWord(client)}, collation_connection = ${plainWord(code.collation)}`]
      : []),
  ];
}

async function createOne(session: Session, code: Code, definers: Definers): Promise<void> {
  for (const setting of settingsOf(code)) await session.execute(setting);
  if (definers === 'theirs') {
    try {
      await session.execute(code.create);
      return;
    } catch (error) {
      if (!(error instanceof SqlError && DEFINER_REFUSED.has(error.errno))) throw error;
    }
  }
  await session.execute(withoutDefiner(code.create, lexicalModeOf(code.sql_mode)));
}

/** Drops what of it is there; of the session's database. */
export function dropCode(session: Session, { routines, views, triggers, events }: CodeDefinitions): Promise<void> {
  return dropListed(session, [...events, ...triggers, ...views, ...routines]);
}

/** Of the session's database, or of another. */
export async function dropListed(session: Session, listed: Listed[], database: string | null = null): Promise<void> {
  const prefix = database === null ? '' : `${quoteName(database)}.`;
  for (const { kind, name } of listed) {
    await session.execute(`DROP ${plainWords(kind)} IF EXISTS ${prefix}${quoteName(name)}`);
  }
}
