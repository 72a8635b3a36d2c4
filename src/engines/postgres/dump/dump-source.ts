import type { WarningEvent } from '../../../results/events.ts';
import { excludedRowsOf } from '../../../results/excluded-rows.ts';
import { hiddenDetails, hiddenObjectsOf } from '../../../results/manifest/hidden-objects.ts';
import { countLeftOut, leftOutSchemasOf } from '../../../results/manifest/left-out-schemas.ts';
import { UserError } from '../../../runtime/errors.ts';
import type { Report } from '../../../runtime/events.ts';
import { boundedLines, boundedList } from '../../../text/bounded-list.ts';
import { formatBytes, formatNumberOf } from '../../../text/format.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { DumpRequest } from '../../facets/dump.ts';
import { readRemoteObjects, remoteBuildWarnings } from '../catalog/foreign-tables.ts';
import {
  type CatalogSchema,
  type CatalogTable,
  type Inventory,
  readExtensions,
  readHasLargeObjects,
  readInventory,
  readLocale,
  readPolicyRoles,
  readReplication,
  readSchemas,
  readSequences,
  readTables,
  replicationWarnings,
} from '../catalog/introspect.ts';
import { selectSchemas } from '../catalog/schema-selection.ts';
import type { PostgresSession } from '../connection/session.ts';
import { majorOf } from '../connection/tools.ts';
import { whyNoSetting } from '../swap/alter-set.ts';
import { type ArchiveDetails, archiveDetails } from './archive.ts';
import { type BrokenSelection, readBroken } from './broken-selection.ts';
import type { Exclusion } from './excluded-rows.ts';
import { type Partition, readPartitions } from './partition-roots.ts';
import { readHidden } from './rights.ts';
import { readSuperuserObjects } from './superuser-objects.ts';

/** Schemas and tables to dump, read with the rest of the catalog at one instant. */
export interface DumpSelection extends Exclusion {
  /** Tables of every schema: an extension's may be dumped with the extension, wherever they are. */
  allTables: CatalogTable[];
  /** Schemas of the database. */
  available: CatalogSchema[];
  schemas: string[];
  /** Schemas that are not to be dumped. */
  excluded: string[];
  broken: BrokenSelection;
  /** Parts of definitions that cannot be restored. */
  cuts: BrokenSelection['cuts'];
  hasLargeObjects: boolean;
  /** Values before pg_dump reads the sequences; a restored database has these values or higher ones. */
  sequences: Inventory['sequences'];
}

/** Further facts from the source's catalog. */
export interface DumpSource extends Pick<DumpSelection, 'allTables'> {
  /** By oid. */
  partitions: Map<number, Partition>;
  details: Omit<ArchiveDetails, 'data'>;
}

/** The schemas that the configuration chooses, before those that they need. */
export async function readChosenSchemas(session: PostgresSession, request: DumpRequest): Promise<string[]> {
  const names = (await readSchemas(session)).map(({ name }) => name);
  return selectSchemas(names, request.schemaConfig).schemas;
}

/** Reads in the session's transaction what pg_dump must be told, and refuses what could not be restored. */
export async function readSelection(
  { report }: EngineContext,
  session: PostgresSession,
  request: DumpRequest,
): Promise<Omit<DumpSelection, 'excludedRows'>> {
  const available = await readSchemas(session);
  const names = available.map((schema) => schema.name);
  const { schemas: chosen, warnings } = selectSchemas(names, request.schemaConfig);
  for (const warning of warnings) report(warning);
  if (chosen.length === 0) throw noSchema(request, names);
  const broken = await readBroken(session, {
    excluded: available.filter(({ name }) => !chosen.includes(name)),
    includeNeeded: request.includeNeededSchemas ?? false,
  });
  const schemas = names.filter((name) => chosen.includes(name) || broken.needed.includes(name));
  const excluded = names.filter((name) => !schemas.includes(name));
  for (const warning of broken.warnings) report(warning);
  const [allTables, hasLargeObjects, sequences] = await Promise.all([
    readTables(session),
    readHasLargeObjects(session),
    readSequences(session, schemas),
  ]);
  const tables = allTables.filter((table) => schemas.includes(table.schema));
  for (const warning of leftOutWarnings(lostTables(request, { tables: allTables, excluded }))) report(warning);
  return { tables, allTables, available, schemas, excluded, broken, cuts: broken.cuts, hasLargeObjects, sequences };
}

/** Reports whether somebody chose the schemas: those that are left out are no surprise. */
function isChosen({ schemaConfig, copyOf }: DumpRequest): boolean {
  return copyOf !== undefined || Object.keys(schemaConfig ?? {}).length > 0;
}

/** Tables with data that the default selection leaves out. */
function lostTables(request: DumpRequest, { tables, excluded }: { tables: CatalogTable[]; excluded: string[] }) {
  if (isChosen(request)) return [];
  return tables.filter(({ schema, bytes, of_extension }) => excluded.includes(schema) && bytes > 0 && !of_extension);
}

function leftOutWarnings(lost: CatalogTable[]): WarningEvent[] {
  if (lost.length === 0) return [];
  const schemas = boundedList([...new Set(lost.map(({ schema }) => schema))], LISTED);
  const size = formatBytes(lost.reduce((sum, { bytes }) => sum + bytes, 0));
  const message = `Not in the snapshot: ${formatNumberOf(lost.length, 'table')} with ${size} of other schemas than public: ${schemas}. To include them, set schema_config of the target: {use_default_schema: false}`;
  return [{ event: 'warning', code: 'schemas_left_out', message }];
}

/** Character that stands for bytes that are not UTF-8. */
const UNREADABLE = '\ufffd';

/**
 * Refuses names of an SQL_ASCII database that are not UTF-8: rows are bytes, but statements and the manifest name
 * tables and columns.
 */
export async function assertReadableNames(session: PostgresSession, request: DumpRequest): Promise<void> {
  const schemas = await readChosenSchemas(session, request);
  const tables = (await readTables(session)).filter(({ schema }) => schemas.includes(schema));
  const found = [
    ...schemas.map((name) => ({ what: `schema ${name}`, name })),
    ...tables.flatMap(({ schema, name, columns }) => [
      { what: `table ${schema}.${name}`, name },
      ...columns.map((column) => ({ what: `column ${schema}.${name}.${column}`, name: column })),
    ]),
  ].filter(({ name }) => name.includes(UNREADABLE));
  if (found.length === 0) return;
  throw new UserError('names_unreadable', 'Names of the database are not valid UTF-8', {
    details: boundedLines(
      found.map(({ what }) => what),
      LISTED,
    ),
    hint: 'Nothing was stored. Rename them in the source (psql with client_encoding SQL_ASCII), or leave out their schema with schema_config.',
  });
}

/** Most names in a message. */
const LISTED = 20;

export async function readSource(
  { report }: EngineContext,
  session: PostgresSession,
  { selected, request, serverVersion }: { selected: DumpSelection; request: DumpRequest; serverVersion: string },
): Promise<DumpSource> {
  const { allTables, available, schemas, excluded, broken, excludedRows, sequences } = selected;
  const leftOutRows = request.copyOf ? excludedRowsOf(request.copyOf) : excludedRows;
  const [replication, hidden, remote, superuserObjects, inventory, partitions, extensions, roles, locale, settings] =
    await Promise.all([
      readReplication(session),
      readHidden(session),
      readRemoteObjects(session, schemas),
      readSuperuserObjects(session, schemas),
      readInventory(session, schemas, { without: broken.keys, sequences }),
      readPartitions(session, schemas),
      readExtensions(session),
      readPolicyRoles(session, schemas),
      readLocale(session, majorOf(serverVersion)),
      readDatabaseSettings(session),
    ]);
  for (const warning of replicationWarnings(replication)) report(warning);
  for (const { warning } of hidden) report(warning);
  for (const warning of remoteBuildWarnings(remote)) report(warning);
  return {
    allTables,
    partitions,
    details: {
      schemas: available.filter((schema) => schemas.includes(schema.name)),
      extensions,
      roles,
      locale,
      settings: settingsToKeep(settings, report),
      inventory,
      replication,
      ...remote,
      left_out: broken.leftOut,
      ...(leftOutRows && { excluded_rows: leftOutRows }),
      ...(superuserObjects.length > 0 && { superuser_objects: superuserObjects }),
      ...neededSchemas(broken, request.copyOf),
      ...hiddenDetails([
        ...(request.copyOf ? hiddenObjectsOf(request.copyOf) : []),
        ...hidden.map(({ objects }) => objects),
      ]),
      left_out_schemas:
        (request.copyOf && leftOutSchemasOf(request.copyOf)) ??
        countLeftOut(excluded, allTables, lostTables(request, { tables: allTables, excluded })),
    },
  };
}

/** A copy has them for the reason that its original has. */
function neededSchemas({ needed }: BrokenSelection, copyOf: DumpRequest['copyOf']) {
  const all = [...new Set([...needed, ...((copyOf && archiveDetails(copyOf).needed_schemas) ?? [])])];
  return all.length === 0 ? {} : { needed_schemas: all };
}

/** `ALTER DATABASE … SET` of the database of the session, as `name=value`. */
export async function readDatabaseSettings(session: PostgresSession): Promise<string[]> {
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

function noSchema({ url }: DumpRequest, available: string[]): UserError {
  return new UserError('schema_not_found', `None of the chosen schemas exists in ${url.display}`, {
    hint: `The database has: ${available.join(', ') || 'no schema of its own'}. Choose with the target's schema_config.`,
  });
}
