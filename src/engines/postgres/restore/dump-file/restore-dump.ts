import { UserError } from '../../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { DumpFile, RestoredDump } from '../../../facets/dump-file.ts';
import { headOf } from '../../../shared/script/dump-text.ts';
import { LeftOut } from '../../../shared/script/left-out.ts';
import { withFileStep } from '../../../shared/script/run-file-step.ts';
import type { DatabaseLocale } from '../../catalog/introspect.ts';
import { connect, connectToServer } from '../../connection/connect.ts';
import { quoteName, quoteText } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import { majorOf } from '../../connection/tools.ts';
import { createDatabase } from '../../server/new-database.ts';
import { createPlainRole, PLAIN_ROLE } from '../../server/plain-role.ts';
import { createOwnedExtensions } from '../create-extensions.ts';
import { type DumpScript, runFile } from '../script/run-file.ts';
import { textOfDump } from './read-dump.ts';
import { readStatement } from './read-statement.ts';

/**
 * Restores a dump into a new database of a throw-away server, whose superuser the URL names. All of its SQL runs as a
 * role without access to files, programs and other servers; the superuser creates roles and known extensions only.
 */
export async function restoreDump(context: EngineContext, admin: DatabaseUrl, dump: DumpFile): Promise<RestoredDump> {
  const leftOut = new LeftOut();
  const url = await createPlainRole(context, admin);
  const locale = localeOf(await headOf(textOfDump(context, dump)));
  const hasLocale = await createOwned(context, admin, { locale, dumped: dump.server_version });
  if (!locale) leftOut.add('the collation of the database, which is not in this dump (pg_dump --create writes it)');
  else if (!hasLocale) leftOut.add(`the collation ${locale.collate}, which this machine lacks`);
  // Functions of the dump must not be found in place of the server's own.
  await using superuser = await connect(context, admin, { settings: { search_path: 'pg_catalog' } });
  await superuser.execute(`ALTER SCHEMA public OWNER TO ${quoteName(PLAIN_ROLE)}`);
  await withFileStep(context, dump.path, () =>
    runFile(context, {
      url,
      file: dump.path,
      dump: { text: textOfDump(context, dump), accept: acceptInto(superuser, leftOut) },
    }),
  );
  return { url, leftOut: leftOut.texts() };
}

function acceptInto(superuser: PostgresSession, leftOut: LeftOut): DumpScript['accept'] {
  let isEmpty = true;
  return (statement) => {
    const read = readStatement(statement);
    switch (read.kind) {
      case 'run':
        isEmpty &&= read.isHarmless;
        return { run: true };
      case 'skip':
        return { run: false };
      case 'leave_out':
        leftOut.add(read.what);
        return { run: false };
      case 'policy':
        return { run: true, before: () => createRolesForDump(superuser, read.roles) };
      case 'extension':
        // The script of an extension, which runs as a superuser, could call functions of the dump.
        if (!isEmpty) throw extensionTooLate(read.name);
        return { run: false, before: () => createExtensionForDump(superuser, read) };
      default:
        throw new Error(`no such kind: ${read satisfies never}`);
    }
  };
}

function extensionTooLate(name: string): UserError {
  return new UserError('dump_refused', `The extension ${name} is created behind other objects`, {
    hint: 'Nothing was stored. pg_dump writes extensions first: import its dump as it was written.',
  });
}

async function createOwned(
  context: EngineContext,
  admin: DatabaseUrl,
  { locale, dumped }: { locale: DatabaseLocale | null; dumped: string | null },
): Promise<boolean> {
  const name = admin.database ?? '';
  await using server = await connectToServer(context, admin);
  const [{ version } = { version: '' }] = await server.query<{ version: string }>(
    "SELECT current_setting('server_version') AS version",
  );
  const major = majorOf(version);
  if (dumped !== null && majorOf(dumped) > major) {
    const message = `The dump is of PostgreSQL ${dumped}, and the throw-away server is ${version}: statements may fail`;
    context.report({ event: 'warning', code: 'server_older', message });
  }
  const hasLocale = await createDatabase(server, { name, locale, major });
  const database = quoteName(name);
  await server.transaction([
    `ALTER DATABASE ${database} CONNECTION LIMIT -1 ALLOW_CONNECTIONS true`,
    `ALTER DATABASE ${database} OWNER TO ${quoteName(PLAIN_ROLE)}`,
  ]);
  return hasLocale;
}

const CREATE_DATABASE = /^CREATE DATABASE .*;\r?$/m;
const PROVIDERS: Record<string, string> = { libc: 'c', icu: 'i', builtin: 'b' };

/** The locale of `CREATE DATABASE`, which pg_dump writes with `--create`; `null` without it. */
function localeOf(head: string): DatabaseLocale | null {
  const statement = CREATE_DATABASE.exec(head)?.[0] ?? '';
  const optionOf = (option: string): string | undefined =>
    new RegExp(` ${option} = (?:'([^']+)'|(\\w+))`).exec(statement)?.slice(1).find(Boolean);
  const encoding = optionOf('ENCODING');
  const collate = optionOf('LC_COLLATE') ?? optionOf('LOCALE');
  if (encoding === undefined || collate === undefined) return null;
  return {
    encoding,
    collate,
    ctype: optionOf('LC_CTYPE') ?? collate,
    provider: PROVIDERS[optionOf('LOCALE_PROVIDER') ?? 'libc'] ?? 'c',
    icu_locale: optionOf('ICU_LOCALE') ?? optionOf('BUILTIN_LOCALE') ?? null,
  };
}

/**
 * Extensions that are not marked as trusted, and that give a user no way to files, programs or other servers. Others,
 * such as dblink, file_fdw and plpython3u, are not created for a dump.
 */
const HARMLESS = new Set([
  ...['amcheck', 'bloom', 'earthdistance', 'hypopg', 'pageinspect', 'pg_buffercache', 'pg_freespacemap', 'pg_partman'],
  ...['pg_prewarm', 'pg_repack', 'pg_stat_statements', 'pg_visibility', 'pgrouting', 'pgrowlocks', 'pgstattuple'],
  ...['address_standardizer', 'address_standardizer_data_us', 'postgis', 'postgis_raster', 'postgis_sfcgal'],
  ...['postgis_tiger_geocoder', 'postgis_topology', 'vector'],
]);

/** Creates an extension as a superuser, whose session has no schema of the database in its search path. */
async function createExtensionForDump(session: PostgresSession, { name, schema }: { name: string; schema: string }) {
  const [found] = await session.query<{ trusted: boolean }>(`
    SELECT v.trusted FROM pg_available_extensions e
    JOIN pg_available_extension_versions v ON v.name = e.name AND v.version = e.default_version
    WHERE e.name = ${quoteText(name)}`);
  if (!found) {
    throw new UserError('extension_missing', `The throw-away server lacks the extension ${name} of the dump`, {
      hint: 'Install the package of the extension beside the server programs, and import again.',
    });
  }
  if (!found.trusted && !HARMLESS.has(name)) {
    throw new UserError('dump_refused', `The extension ${name} is not created for a dump`, {
      details: ['Statements of the dump could reach files, programs or other servers through it.'],
      hint: 'Nothing was stored. Write the dump without it (pg_dump --extension, --exclude-schema), or build a snapshot from the database itself.',
    });
  }
  await createOwnedExtensions(session, { role: PLAIN_ROLE, extensions: [{ name, schema }] });
}

/** Creates the roles that are missing, without login. */
async function createRolesForDump(session: PostgresSession, roles: string[]): Promise<void> {
  for (const role of roles) {
    const present = await session.query(`SELECT FROM pg_roles WHERE rolname = ${quoteText(role)}`);
    if (present.length === 0) await session.execute(`CREATE ROLE ${quoteName(role)} NOLOGIN`);
  }
}
