import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import type { Manifest, ManifestFile } from '../../../repository/manifest/manifest.ts';
import { excludedRowsOf } from '../../../results/excluded-rows.ts';
import { hiddenDetails, hiddenObjectsOf } from '../../../results/manifest/hidden-objects.ts';
import { UserError } from '../../../runtime/errors.ts';
import { startStep } from '../../../runtime/events.ts';
import { boundedList } from '../../../text/bounded-list.ts';
import { formatNumberOf } from '../../../text/format.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { DumpRequest, DumpResult } from '../../facets/dump.ts';
import type { Definitions } from '../catalog/definitions/definitions.ts';
import { withEventsEnabled } from '../catalog/definitions/events.ts';
import { withoutDatabaseOfSequences } from '../catalog/definitions/sequence-defaults.ts';
import { collationsIn, featuresOf } from '../catalog/features.ts';
import { readServer, type Server } from '../catalog/introspect.ts';
import { explainDenied } from '../catalog/rights/denied.ts';
import { readReadable } from '../catalog/rights/readable.ts';
import { type CatalogTable, readTables } from '../catalog/tables.ts';
import { connect, explainConnection } from '../connection/connect.ts';
import { sourceWithoutDatabase } from '../connection/explain-errors.ts';
import type { MysqlSession } from '../connection/session.ts';
import { type ClientTool, dumpToolFor } from '../connection/tools.ts';
import { DEFINITIONS_FILE, type Details, detailsOf, detailsSchema } from '../details.ts';
import { reservedInSource } from '../swap/shadow-databases.ts';
import { dumpProgress } from './dump-progress.ts';
import { type Exclusion, readExclusion } from './excluded-rows.ts';
import { beginInstant } from './instant.ts';
import { reportLossyValues } from './lossy-values.ts';
import { NO_ROWS, partsOf } from './parts.ts';
import { assertUnlimited, readByProgram, watchDefinitions } from './program/dump-program.ts';
import { type CutTable, readRows } from './read-rows.ts';
import { openRowReader, type RowReader } from './row-readers.ts';
import { recordTreatedApart } from './special-tables.ts';

/**
 * One consistent dump by parallel readers, each a session in a thread of its own: no program of the server's shares an
 * instant between processes. Definitions are what the server says of itself.
 */
export async function dump(context: EngineContext, request: DumpRequest): Promise<DumpResult> {
  const names: string[] = [];
  try {
    return await dumpInstant(context, request, (tables) => names.push(...tables));
  } catch (error) {
    throw await explainVanished(context, { url: request.url, names, error });
  }
}

/** `begunWith` is called with the names of the tables when the instant has begun. */
async function dumpInstant(context: EngineContext, request: DumpRequest, begunWith: (tables: string[]) => void) {
  const { report } = context;
  const { url, cpus, copyOf } = request;
  const { database } = url;
  if (database === null) throw sourceWithoutDatabase(url);
  const schema = copyOf ? detailsOf(copyOf).database : database;
  const connected = startStep(report, 'connect', `Connect to ${url.display}`);
  const byProgram = request.program || (copyOf && detailsOf(copyOf).program);
  if (byProgram && request.excludeRows) throw excludesByProgram();
  // Their threads start while the session connects.
  await using readers = openReaders(context, { request, count: byProgram ? 0 : cpus });
  await using session = await connect(context, url, { several: true });
  const source = await openSource(context, session, { url, database, readers: byProgram ? null : readers });
  const { server, tool } = source;
  connected(`Connected to ${server.label}`);

  const named = `${formatNumberOf(source.tables.length, 'table')} of ${url.display}`;
  const of = tool ? `${named} with ${tool.name} ${tool.version}` : named;
  const dumpedAll = startStep(report, 'dump', `Dump ${of}`);
  const exclusion = await readExclusion(session, { tables: source.tables, schema, request, report });
  const { tables } = exclusion;
  begunWith(tables.map(({ name }) => name));
  warnOfOtherEngines(context, tables);
  const explain = (error: unknown): Promise<never> => explainDenied(session, url, error);
  const onBytes = dumpProgress(report, { schema, tables, expected: request.expectedBytes });
  const cut = tool ? [] : await cutAll(session, { database, exclusion, previous: request.previous }).catch(explain);
  const reading = tool
    ? readByProgram(context, { request, session, tool, tables, schema, onBytes })
    : readRows({ request, database, schema, tables: cut, readers: source.readers, onBytes });
  // The definitions are read meanwhile; what is wrong with them is told first.
  reading.catch(() => {});
  const described = await describeSource(context, session, { request, source, database, schema, exclusion, explain });
  const dumped = await reading.catch(explain);
  await source.assertUnchanged?.();
  const file = await packDefinitions(request, described.definitions);
  dumpedAll(`Dumped ${of}`);
  const widths = cut.flatMap(({ table, width }) => (width === null ? [] : [{ table: table.name, width }]));
  return {
    serverVersion: server.version,
    toolVersion: (tool ?? server).version,
    schemas: [schema],
    tables: dumped.map(({ table }) => table),
    files: [file],
    details: {
      ...described.details,
      data: Object.assign({}, ...dumped.map(({ data }) => data)),
      ...(widths.length > 0 && { part_widths: widths }),
      ...described.hidden,
    } satisfies Details,
  };
}

/** The source at the instant of the dump. */
interface Source {
  server: Server;
  /** The program that reads the rows, if any. */
  tool: ClientTool | null;
  /** Rejects when definitions have changed since, which the program may have read. */
  assertUnchanged: (() => Promise<void>) | null;
  /** Sessions that read at the instant. */
  readers: RowReader[];
  tables: CatalogTable[];
}

/** Begins the instant in the session and the readers; without readers a program reads the rows. */
async function openSource(
  context: EngineContext,
  session: MysqlSession,
  { url, database, readers }: { url: DatabaseUrl; database: string; readers: Readers | null },
): Promise<Source> {
  const server = await readServer(session);
  const reserved = await reservedInSource(session, database);
  if (reserved !== null) throw nameReserved(url.display, reserved);
  const tool = readers ? null : await dumpToolFor(context, server);
  if (tool) await assertUnlimited(context, url);
  const assertUnchanged = tool && (await watchDefinitions(session, { database, display: url.display }));
  const names = (await readTables(session, database)).map(({ name }) => name);
  // One reader alone needs no lock.
  const needed = readers && (await readers.all()).slice(0, Math.max(1, names.length));
  const begun = needed ? await beginInstant(context, session, { database, tables: names, readers: needed }) : [];
  return { server, tool, assertUnchanged, readers: begun, tables: await readTables(session, database) };
}

interface DescribeOptions {
  request: DumpRequest;
  source: Source;
  database: string;
  /** Name of the database in the snapshot. */
  schema: string;
  exclusion: Exclusion;
  explain: (error: unknown) => Promise<never>;
}

/** Reads the definitions, and what the manifest says of them. */
async function describeSource(
  context: EngineContext,
  session: MysqlSession,
  { request: { url, copyOf }, source: { server, tool }, database, schema, exclusion, explain }: DescribeOptions,
) {
  const { tables } = exclusion;
  const { inventory, hidden, ...readable } = await readReadable(context, session, { url, server, tables });
  const definitions = definitionsToStore(readable.definitions, { database, copyOf });
  // A copy was loaded from a snapshot whose build has reported them.
  if (!copyOf) await reportLossyValues(context, session, { database, tables }).catch(explain);
  const treatedApart = await recordTreatedApart(context, session, { definitions, database, schema, copyOf });
  warnOfHistory(context, tables);
  const excludedRows = copyOf ? excludedRowsOf(copyOf) : exclusion.details;
  const details = {
    flavour: server.flavour,
    ...(tool && { program: { name: tool.name, version: tool.version } }),
    database: schema,
    collations: collationsIn(definitions),
    features: featuresOf(server.flavour, definitions),
    inventory,
    ...treatedApart,
    ...(excludedRows && { excluded_rows: excludedRows }),
  };
  return { definitions, details, hidden: hiddenDetails([...(copyOf ? hiddenObjectsOf(copyOf) : []), ...hidden]) };
}

interface CutOptions {
  database: string;
  exclusion: Exclusion;
  previous: Manifest | undefined;
}

async function cutAll(session: MysqlSession, { database, exclusion: { tables, excluded }, previous }: CutOptions) {
  const cutTables: (CutTable & { width: number | null })[] = [];
  const previousWidths = previousWidthsOf(previous);
  for (const table of tables) {
    const cut = excluded.has(table.name)
      ? { parts: [NO_ROWS], width: null }
      : await partsOf(session, { database, table, previousWidth: previousWidths.get(table.name) });
    cutTables.push({ table, ...cut });
  }
  return cutTables;
}

function previousWidthsOf(previous: Manifest | undefined): Map<string, number> {
  const { success, output } = v.safeParse(detailsSchema, previous?.details);
  return new Map(success ? output.part_widths?.map(({ table, width }) => [table, width]) : []);
}

interface Readers extends AsyncDisposable {
  /** Rejects when one of them could not connect. */
  all(): Promise<RowReader[]>;
}

function openReaders({ signal }: EngineContext, { request: { url }, count }: { request: DumpRequest; count: number }) {
  const opening = Promise.allSettled(Array.from({ length: count }, () => openRowReader({ url, signal })));
  return {
    async all() {
      const opened = await opening;
      const failed = opened.find((one) => one.status === 'rejected');
      if (failed) throw explainConnection(failed.reason, url);
      return opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    },
    async [Symbol.asyncDispose]() {
      await Promise.all((await opening).map((one) => one.status === 'fulfilled' && one.value[Symbol.asyncDispose]()));
    },
  };
}

/** Engines whose tables have no transactions are read as they are when their turn comes. */
const TRANSACTIONAL = new Set(['innodb', 'rocksdb']);

function warnOfOtherEngines({ report }: EngineContext, tables: CatalogTable[]): void {
  const others = tables.filter(({ engine }) => !TRANSACTIONAL.has(engine.toLowerCase()));
  if (others.length === 0) return;
  const list = others.map(({ name, engine }) => `${name} (${engine})`).join(', ');
  const message = `Tables without transactions are not of the snapshot's instant when they are written to: ${list}`;
  report({ event: 'warning', code: 'not_transactional', message });
}

/** Warns that the snapshot has only the current rows of tables with history, like MariaDB's own dump. */
function warnOfHistory({ report }: EngineContext, tables: CatalogTable[]): void {
  const versioned = tables.filter(({ isVersioned }) => isVersioned);
  if (versioned.length === 0) return;
  const list = versioned.map(({ name }) => name).join(', ');
  const message = `The history of system-versioned tables is not in the snapshot, only their current rows: ${list}`;
  report({ event: 'warning', code: 'history_left_out', message });
}

function excludesByProgram(): UserError {
  return new UserError('exclude_rows_by_program', 'mysqldump cannot leave the rows of a table out', {
    hint: 'Nothing was stored. Remove exclude_rows, or program: true.',
  });
}

function nameReserved(display: string, table: string): UserError {
  return new UserError(
    'name_reserved',
    `The source ${display} holds a table "${table}", a name that is reserved for the tool`,
    { hint: 'Nothing was stored. Rename the table.' },
  );
}

const MOST_NAMED = 10;

interface FailedDump {
  url: DatabaseUrl;
  /** Tables of the source when the dump began. */
  names: string[];
  error: unknown;
}

/** The error of a dump; where tables were dropped meanwhile, one that says so: the server reports what it missed first. */
async function explainVanished(context: EngineContext, { url, names, error }: FailedDump): Promise<unknown> {
  if (names.length === 0 || url.database === null || context.signal.aborted) return error;
  const present = await tablesNow(context, url).catch(() => null);
  const gone = present === null ? [] : names.filter((name) => !present.has(name));
  if (gone.length === 0) return error;
  return new UserError(
    'source_changing',
    `Tables of ${url.display} were dropped or renamed during the build: ${boundedList(gone, MOST_NAMED)}`,
    { hint: 'Nothing was stored. Run this again when no other session creates or drops tables.', cause: error },
  );
}

async function tablesNow(context: EngineContext, url: DatabaseUrl): Promise<Set<string>> {
  await using session = await connect(context, url);
  return new Set((await readTables(session, url.database ?? '')).map(({ name }) => name));
}

/** Definitions as a snapshot has them. The events of a copy are disabled, so that they do not run in it. */
function definitionsToStore(
  read: Definitions,
  { database, copyOf }: { database: string; copyOf: DumpRequest['copyOf'] },
): Definitions {
  const tables = read.tables.map((table) => withoutDatabaseOfSequences(table, database));
  const found = { ...read, tables };
  return copyOf ? withEventsEnabled(found, detailsOf(copyOf).enabled_events ?? []) : found;
}

async function packDefinitions(request: DumpRequest, definitions: Definitions): Promise<ManifestFile> {
  await writeFile(join(request.directory, DEFINITIONS_FILE), JSON.stringify(definitions, null, 1), { mode: 0o600 });
  return (await request.write(DEFINITIONS_FILE, { terminator: null })).file;
}
