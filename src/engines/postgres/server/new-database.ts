import type { DatabaseLocale } from '../catalog/introspect.ts';
import { quoteName, quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import { SqlError } from '../connection/session-errors.ts';
import { newMark, provisionalLimit, writeMark } from '../swap/mark.ts';

export interface NewDatabase {
  name: string;
  locale: DatabaseLocale | null;
  major: number;
  tablespace?: string | null;
}

/** Unknown locale: wrong_object_type, invalid_parameter_value, feature_not_supported */
const LOCALE_REFUSED = new Set(['42809', '22023', '0A000']);

/**
 * An empty database with the source's locale; `false` when the server lacks it. Until `markNew` the connection limit
 * marks it, and it refuses connections.
 */
export async function createDatabase(server: PostgresSession, { name, locale, major, tablespace }: NewDatabase) {
  const place = tablespace ? ` TABLESPACE ${quoteName(tablespace)}` : '';
  const create = `CREATE DATABASE ${quoteName(name)} TEMPLATE template0 ALLOW_CONNECTIONS false CONNECTION LIMIT ${provisionalLimit(name)}${place}`;
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

/** Roles that may connect to a new database: its owner and the role of this connection, until `inherit` gives it grants. */
type Admission = 'none' | 'owner' | 'public';

/** Ends the provisional state of `createDatabase` and `copyDatabase`. */
export async function markNew(
  server: PostgresSession,
  name: string,
  { of, branchOf, admits }: { of: string; branchOf?: string | undefined; admits: Admission },
): Promise<void> {
  const open = { none: [], owner: admitOwner(name), public: [admit(name)] }[admits];
  await server.transaction([
    writeMark(name, newMark(of, branchOf)),
    `ALTER DATABASE ${quoteName(name)} CONNECTION LIMIT -1`,
    ...open,
  ]);
}

function admit(name: string): string {
  return `ALTER DATABASE ${quoteName(name)} ALLOW_CONNECTIONS true`;
}

/** Roles that the destination refuses could run functions of the restored content, with the rights of their owner. */
export function admitOwner(name: string): string[] {
  return [
    `REVOKE ALL ON DATABASE ${quoteName(name)} FROM PUBLIC`,
    // Not the owner, where the settings of the role of the connection set another one.
    `GRANT CONNECT ON DATABASE ${quoteName(name)} TO SESSION_USER`,
    admit(name),
  ];
}

function localeClauses({ collate, ctype, provider, icu_locale }: DatabaseLocale, major: number): string {
  const libc = `LC_COLLATE ${quoteText(collate)} LC_CTYPE ${quoteText(ctype)}`;
  if (major < 15 || provider === 'c' || icu_locale === null) return libc;
  if (provider === 'b') return `${libc} LOCALE_PROVIDER builtin BUILTIN_LOCALE ${quoteText(icu_locale)}`;
  return `${libc} LOCALE_PROVIDER icu ICU_LOCALE ${quoteText(icu_locale)}`;
}
