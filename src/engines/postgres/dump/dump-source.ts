import { EXIT, UserError } from '../../../errors.ts';
import type { Report } from '../../../events.ts';
import { countLeftOut, leftOutSchemasOf } from '../../../left-out-schemas.ts';
import type { DumpRequest, EngineContext } from '../../engine.ts';
import {
  type CatalogueTable,
  type OutwardObject,
  readExtensions,
  readInventory,
  readLocale,
  readOutwardObjects,
  readPolicyRoles,
  readReplication,
  readSchemas,
  readTables,
  replicationWarnings,
} from '../catalogue.ts';
import { quoteText, type Session } from '../connection/session.ts';
import { whyNoSetting } from '../restore/alter-set.ts';
import { selectSchemas } from '../schema-selection.ts';
import { majorOf } from '../tools.ts';
import type { ArchiveDetails } from './archive.ts';

/** What the source's catalogue says, all of one instant. */
export interface Source {
  /** Tables in the chosen schemas. */
  tables: CatalogueTable[];
  /** Tables of every schema: an extension's may be dumped with the extension, wherever they are. */
  allTables: CatalogueTable[];
  /** Schemas that are not to be dumped. */
  excluded: string[];
  details: Omit<ArchiveDetails, 'data'>;
}

/** Reads the catalogue in the session's transaction, and refuses what could not be restored. */
export async function readSource(
  { report }: EngineContext,
  session: Session,
  { request, serverVersion }: { request: DumpRequest; serverVersion: string },
): Promise<Source> {
  const available = await readSchemas(session);
  const names = available.map((schema) => schema.name);
  const { schemas, warnings } = selectSchemas(names, request.schemaConfig);
  for (const warning of warnings) report(warning);
  if (schemas.length === 0) throw noSchema(request, names);
  const excluded = names.filter((name) => !schemas.includes(name));
  const outward = excluded.length === 0 ? [] : await readOutwardObjects(session, schemas, excluded);
  refuseColumns(outward);
  for (const { kind, name, needs } of outward) {
    const message = `The ${kind} ${name} needs ${needs}, whose schema is not in the snapshot: it will not be restored`;
    report({ event: 'warning', code: 'object_left_out', message });
  }
  const replication = await readReplication(session);
  for (const warning of replicationWarnings(replication)) report(warning);
  const allTables = await readTables(session);
  const left_out = outward;
  const inventory = withoutLeftOut(await readInventory(session, schemas), outward);
  return {
    tables: allTables.filter((table) => schemas.includes(table.schema)),
    allTables,
    excluded,
    details: {
      schemas: available.filter((schema) => schemas.includes(schema.name)),
      extensions: await readExtensions(session),
      roles: await readPolicyRoles(session, schemas),
      locale: await readLocale(session, majorOf(serverVersion)),
      settings: settingsToKeep(await readDatabaseSettings(session), report),
      inventory,
      replication,
      left_out,
      left_out_schemas: (request.copyOf && leftOutSchemasOf(request.copyOf)) ?? countLeftOut(excluded, allTables),
    },
  };
}

/** `ALTER DATABASE … SET` of the database of the session, as `name=value`. */
export async function readDatabaseSettings(session: Session): Promise<string[]> {
  const rows = await session.query<{ setting: string }>(`
    SELECT unnest(setconfig) AS setting FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase
    WHERE s.setrole = 0 AND d.datname = current_database()`);
  return rows.map((row) => row.setting);
}

/** Without those that a load would refuse. */
export function settingsToKeep(settings: string[], report: Report): string[] {
  return settings.filter((setting) => {
    const why = whyNoSetting(setting);
    if (why !== null) report({ event: 'warning', code: 'setting_left_out', message: `${why}. It is left out` });
    return why === null;
  });
}

function withoutLeftOut(inventory: ArchiveDetails['inventory'], outward: OutwardObject[]): ArchiveDetails['inventory'] {
  const names = new Set(outward.map((object) => object.name));
  const objects = Object.entries(inventory.objects).map(([kind, all]) => [
    kind,
    all.filter((name) => !names.has(name)),
  ]);
  return { ...inventory, objects: Object.fromEntries(objects) };
}

/** A table cannot be made without the type of its column, and a snapshot that cannot be restored is none. */
function refuseColumns(outward: OutwardObject[]): void {
  const columns = outward.filter((object) => object.kind === 'column');
  if (columns.length === 0) return;
  const missing = [...new Set(columns.map(({ needs }) => needs.split('.')[0] ?? ''))];
  throw new UserError(`The chosen schemas cannot be restored without ${missing.map(quoteText).join(', ')}`, {
    code: 'schema_needed',
    exit: EXIT.failed,
    details: columns.slice(0, 20).map(({ name, needs }) => `${name} is of type ${needs}`),
    hint: `Add to the target's schema_config.include_schemas: ${missing.join(', ')}`,
  });
}

function noSchema({ url }: DumpRequest, available: string[]): UserError {
  return new UserError(`None of the chosen schemas exists in ${url.display}`, {
    code: 'schema_not_found',
    exit: EXIT.failed,
    hint: `The database has: ${available.join(', ') || 'no schema of its own'}. Choose with the target's schema_config.`,
  });
}
