import type { WarningEvent } from '../../../results/events.ts';
import type { DefinitionOnly } from '../../../results/manifest/definitions-only.ts';
import { definitionsOnlyText } from '../../../text/format-objects.ts';
import { tableName } from '../../../text/table-names.ts';
import { quoteName, quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';

/** References to other servers, as in a manifest: absent without any. */
export interface RemoteObjects {
  /** Foreign tables: pg_dump writes them without rows. */
  definitions_only?: DefinitionOnly[] | undefined;
  foreign_servers?: string[];
}

/** Foreign tables of the schemas (default: all), and all foreign servers. */
export async function readRemoteObjects(session: PostgresSession, schemas?: string[]): Promise<RemoteObjects> {
  const tables = await readForeignTables(session, schemas);
  const servers = await readForeignServers(session);
  return {
    ...(tables.length > 0 && { definitions_only: tables }),
    ...(servers.length > 0 && { foreign_servers: servers }),
  };
}

/** `public.customer (postgres_fdw); foreign servers far` */
export function remoteText({ definitions_only: tables = [], foreign_servers: servers = [] }: RemoteObjects): string {
  return [
    ...(tables.length === 0 ? [] : [definitionsOnlyText(tables)]),
    ...(servers.length === 0 ? [] : [`foreign servers ${servers.join(', ')}`]),
  ].join('; ');
}

async function readForeignTables(session: PostgresSession, schemas?: string[]): Promise<DefinitionOnly[]> {
  const rows = await session.query<{ schema: string; name: string; wrapper: string }>(`
    SELECT n.nspname AS schema, c.relname AS name, w.fdwname AS wrapper
    FROM pg_foreign_table t JOIN pg_class c ON c.oid = t.ftrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_foreign_server s ON s.oid = t.ftserver JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw
    ${schemas ? `WHERE n.nspname IN (${schemas.map(quoteText).join(', ')})` : ''} ORDER BY 1, 2`);
  return rows.map(({ schema, name, wrapper }) => ({ table: tableName(schema, name), engine: wrapper, remote: true }));
}

/** Without those of extensions. */
async function readForeignServers(session: PostgresSession): Promise<string[]> {
  const rows = await session.query<{ name: string }>(`
    SELECT srvname AS name FROM pg_foreign_server s WHERE NOT EXISTS (
      SELECT FROM pg_depend d WHERE d.classid = 'pg_foreign_server'::regclass AND d.objid = s.oid AND d.deptype = 'e')
    ORDER BY 1`);
  return rows.map(({ name }) => name);
}

export function remoteBuildWarnings(remote: RemoteObjects): WarningEvent[] {
  if (remoteText(remote) === '') return [];
  const message = `In the snapshot as definitions, and created only by tool load --remote-tables: ${remoteText(remote)}`;
  return [{ event: 'warning', code: 'definitions_only', message }];
}

/**
 * Removes the credentials for other servers from a copy, so that no code in it changes rows there, and no dump of it
 * contains them.
 */
export async function dropUserMappings(session: PostgresSession): Promise<void> {
  const mappings = await session.query<{ everyone: boolean; role: string; server: string }>(
    'SELECT umuser = 0 AS everyone, usename AS role, srvname AS server FROM pg_user_mappings ORDER BY umid',
  );
  for (const { everyone, role, server } of mappings) {
    await session.execute(
      `DROP USER MAPPING IF EXISTS FOR ${everyone ? 'PUBLIC' : quoteName(role)} SERVER ${quoteName(server)}`,
    );
  }
}
