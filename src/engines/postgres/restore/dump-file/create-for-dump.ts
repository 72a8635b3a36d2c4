import { UserError } from '../../../../runtime/errors.ts';
import { quoteName, quoteText } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import { PLAIN_ROLE } from '../../server/plain-role.ts';
import { createOwnedExtensions } from '../create-extensions.ts';

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
export async function createExtensionForDump(
  session: PostgresSession,
  { name, schema }: { name: string; schema: string },
): Promise<void> {
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
export async function createRolesForDump(session: PostgresSession, roles: string[]): Promise<void> {
  for (const role of roles) {
    const present = await session.query(`SELECT FROM pg_roles WHERE rolname = ${quoteText(role)}`);
    if (present.length === 0) await session.execute(`CREATE ROLE ${quoteName(role)} NOLOGIN`);
  }
}
