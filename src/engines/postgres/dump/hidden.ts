import type { WarningEvent } from '../../../results/events.ts';
import type { HiddenObjects } from '../../../results/manifest/hidden-objects.ts';
import { whatIsHidden } from '../../../text/format-objects.ts';
import type { PostgresSession } from '../connection/session.ts';

/** Objects that pg_dump silently omits, since the role may not read them. */
export interface HiddenReport {
  objects: HiddenObjects;
  warning: WarningEvent;
}

/**
 * Everything else of a catalog is readable by everybody, and pg_dump fails where it may not read rows. Of options that
 * nobody shows it cannot be known whether there are any.
 */
export async function readHidden(session: PostgresSession): Promise<HiddenReport[]> {
  const mappings = await session.query<{ name: string; grant: string | null }>(`
    SELECT format('%s for %s', m.srvname, coalesce(m.usename, 'public')) AS name,
      CASE WHEN m.umuser = 0 AND NOT o.rolsuper THEN format('GRANT %I TO %I', o.rolname, current_user)
        WHEN m.usename = current_user THEN format('GRANT USAGE ON FOREIGN SERVER %I TO %I', m.srvname, current_user) END AS grant
    FROM pg_user_mappings m JOIN pg_foreign_server s ON s.oid = m.srvid JOIN pg_roles o ON o.oid = s.srvowner
    WHERE NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
      AND NOT (m.umuser = 0 AND pg_has_role(s.srvowner, 'USAGE'))
      AND NOT (m.umuser <> 0 AND m.usename = current_user
        AND (pg_has_role(s.srvowner, 'USAGE') OR has_server_privilege(s.oid, 'USAGE')))
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_foreign_server'::regclass AND d.objid = s.oid AND d.deptype = 'e')
    ORDER BY 1`);
  if (mappings.length === 0) return [];
  const objects = {
    kind: 'user mapping option',
    names: mappings.map(({ name }) => name),
    right: mappings.some(({ grant }) => grant === null) ? 'superuser' : 'USAGE, or the role of the owner',
  };
  const grants = [...new Set(mappings.flatMap(({ grant }) => grant ?? []))];
  const help = [...grants, ...(objects.right === 'superuser' ? ['build as a superuser'] : [])].join('; ');
  const message = `The role may not see ${whatIsHidden(objects)}: not in the snapshot. To include them: ${help}`;
  return [{ objects, warning: { event: 'warning', code: 'objects_hidden', message } }];
}
