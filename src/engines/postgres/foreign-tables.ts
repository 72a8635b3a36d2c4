import { type DefinitionOnly, definitionsOnlyText } from '../../results/definitions-only.ts';
import type { WarningEvent } from '../../runtime/events.ts';
import { type PsqlSession, quoteName, quoteText } from './connection/session.ts';

/** pg_dump writes foreign tables without rows. */
export async function readForeignTables(session: PsqlSession, schemas: string[]): Promise<DefinitionOnly[]> {
  const rows = await session.query<{ schema: string; name: string; wrapper: string }>(`
    SELECT n.nspname AS schema, c.relname AS name, w.fdwname AS wrapper
    FROM pg_foreign_table t JOIN pg_class c ON c.oid = t.ftrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_foreign_server s ON s.oid = t.ftserver JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw
    WHERE n.nspname IN (${schemas.map(quoteText).join(', ')}) ORDER BY 1, 2`);
  return rows.map(({ schema, name, wrapper }) => ({ table: `${schema}.${name}`, engine: wrapper, remote: true }));
}

export function foreignTableWarnings(tables: DefinitionOnly[] = []): WarningEvent[] {
  if (tables.length === 0) return [];
  const message = `Foreign tables are in the snapshot without rows, and use the same servers wherever they are loaded: ${definitionsOnlyText(tables)}`;
  return [{ event: 'warning', code: 'definitions_only', message }];
}

/**
 * Removes the credentials for other servers from a copy, so that no code in it changes rows there, and no dump of it
 * contains them.
 */
export async function dropUserMappings(session: PsqlSession): Promise<void> {
  const mappings = await session.query<{ everyone: boolean; role: string; server: string }>(
    'SELECT umuser = 0 AS everyone, usename AS role, srvname AS server FROM pg_user_mappings ORDER BY umid',
  );
  for (const { everyone, role, server } of mappings) {
    await session.execute(
      `DROP USER MAPPING IF EXISTS FOR ${everyone ? 'PUBLIC' : quoteName(role)} SERVER ${quoteName(server)}`,
    );
  }
}
