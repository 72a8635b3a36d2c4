import { createHash, randomBytes } from 'node:crypto';
import { EXIT, UserError } from '../../errors.ts';
import type { DatabaseLocale } from './catalogue.ts';
import { quoteName, quoteText, type Session, SqlError } from './connection/session.ts';

/** A name may have so many bytes; longer ones the server would cut without a word. */
const NAME_LIMIT = 63;
const LONGEST_SUFFIX = '.tool-new-00000000'.length;
/** Hexadecimal digits that tell apart the destinations whose names had to be cut. */
const DIGEST_LENGTH = 16;

/** The databases that a load makes beside its destination. Dots and dashes keep them apart from names people choose. */
export function besideNames(destination: string): { prefix: string; fresh: () => string; undo: string } {
  const base =
    Buffer.byteLength(destination) + LONGEST_SUFFIX <= NAME_LIMIT
      ? destination
      : `${cut(destination, NAME_LIMIT - LONGEST_SUFFIX - DIGEST_LENGTH - 1)}-${digest(destination)}`;
  const prefix = `${base}.tool-new-`;
  return { prefix, fresh: () => `${prefix}${randomBytes(4).toString('hex')}`, undo: `${base}.tool-undo` };
}

/** The beginning of the text, in whole characters of at most so many bytes. */
function cut(text: string, bytes: number): string {
  let kept = '';
  for (const character of text) {
    if (Buffer.byteLength(kept + character) > bytes) break;
    kept += character;
  }
  return kept;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, DIGEST_LENGTH);
}

/** A session that has ended, or was killed, holds its locks until the server has noticed. */
const LOCK_TIMEOUT = '3s';
/** SQLSTATE of a lock that was waited for in vain. */
const LOCK_NOT_AVAILABLE = '55P03';

/** One load at a time into a destination: the lock lives as long as the session, so a killed run leaves none. */
export async function lockDestination(
  server: Session,
  destination: string,
  { timeout = LOCK_TIMEOUT } = {},
): Promise<void> {
  try {
    await server.transaction([
      `SET LOCAL lock_timeout = '${timeout}'`,
      `SELECT pg_advisory_lock(hashtextextended(${quoteText(`tool load ${destination}`)}, 0))`,
    ]);
  } catch (error) {
    if (!(error instanceof SqlError && error.sqlstate === LOCK_NOT_AVAILABLE)) throw error;
    throw new UserError(`Another load into "${destination}" is going on`, {
      code: 'destination_busy',
      exit: EXIT.refused,
      hint: 'Wait for it to end, or stop it; then try again.',
    });
  }
}

/** Drops what killed loads into the destination have left; only while holding its lock. */
export async function sweepLeftovers(server: Session, destination: string): Promise<string[]> {
  const { prefix } = besideNames(destination);
  const leftovers = await server.query<{ name: string }>(
    `SELECT datname AS name FROM pg_database WHERE starts_with(datname, ${quoteText(prefix)})`,
  );
  for (const { name } of leftovers) await dropDatabase(server, name);
  return leftovers.map(({ name }) => name);
}

export async function dropDatabase(server: Session, name: string): Promise<void> {
  await server.execute(`DROP DATABASE IF EXISTS ${quoteName(name)} WITH (FORCE)`);
}

export interface NewDatabase {
  name: string;
  /** How the source sorts and encodes. */
  locale: DatabaseLocale | null;
  major: number;
}

/** SQLSTATEs of a locale that the server does not know: wrong_object_type, invalid_parameter_value, feature_not_supported. */
const LOCALE_REFUSED = new Set(['42809', '22023', '0A000']);

/** Makes an empty database that sorts as the source does; `false` when the server does not know its locale. */
export async function createDatabase(server: Session, { name, locale, major }: NewDatabase): Promise<boolean> {
  const create = `CREATE DATABASE ${quoteName(name)} TEMPLATE template0`;
  if (!locale) {
    await server.execute(create);
    return true;
  }
  const encoding = `${create} ENCODING ${quoteText(locale.encoding)}`;
  try {
    await server.execute(`${encoding} ${localeClauses(locale, major)}`);
    return true;
  } catch (error) {
    if (!(error instanceof SqlError && LOCALE_REFUSED.has(error.sqlstate))) throw error;
    await server.execute(encoding);
    return false;
  }
}

function localeClauses({ collate, ctype, provider, icu_locale }: DatabaseLocale, major: number): string {
  const libc = `LC_COLLATE ${quoteText(collate)} LC_CTYPE ${quoteText(ctype)}`;
  if (major < 15 || provider === 'c' || icu_locale === null) return libc;
  if (provider === 'b') return `${libc} LOCALE_PROVIDER builtin BUILTIN_LOCALE ${quoteText(icu_locale)}`;
  return `${libc} LOCALE_PROVIDER icu ICU_LOCALE ${quoteText(icu_locale)}`;
}
