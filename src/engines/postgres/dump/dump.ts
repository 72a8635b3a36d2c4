import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunEvent } from '../../../results/events.ts';
import { UserError } from '../../../runtime/errors.ts';
import { startStep } from '../../../runtime/events.ts';
import { mapWithConcurrency } from '../../../runtime/map-with-concurrency.ts';
import { formatNumberOf } from '../../../text/format.ts';
import { nameOf } from '../../../text/table-names.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { DumpRequest, DumpResult, PackedFile } from '../../facets/dump.ts';
import type { DatabaseIdentity } from '../../identity.ts';
import { bytesProgress } from '../../shared/bytes-progress.ts';
import { runTogether } from '../../shared/run-together.ts';
import { type CatalogTable, readEncodingSettings } from '../catalog/introspect.ts';
import { connect } from '../connection/connect.ts';
import { directAddress } from '../connection/direct-address.ts';
import { readIdentity, readServerIdentity, type ServerIdentity } from '../connection/identity.ts';
import { quoteName } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import { SqlError } from '../connection/session-errors.ts';
import { type ClientTools, findClientTools, majorOf, toolsForServer } from '../connection/tools.ts';
import { MOST_BYTES_OF_ALL } from '../restore/rows/copy-commands.ts';
import { storeStatistics } from '../statistics/store.ts';
import { DATA_TERMINATOR, isTableData } from './archive.ts';
import type { ArchiveEntry } from './archive-contents.ts';
import { describeContents } from './dump-contents.ts';
import {
  assertReadableNames,
  type DumpSelection,
  readChosenSchemas,
  readSelection,
  readSource,
} from './dump-source.ts';
import { readExclusion } from './excluded-rows.ts';
import { beginInstant } from './instant.ts';
import { rangesOf } from './ranges.ts';
import type { TableReads } from './read-piece.ts';
import { prepareReading, type ReadTables, tableReaders } from './read-tables.ts';
import { explainDumpFailure } from './rights.ts';
import { ARCHIVE, cutArchive, dumpDatabase, type WrittenArchive } from './run-pg-dump.ts';
import { proveUnchanged } from './unchanged/find-unchanged.ts';
import { readState } from './unchanged/read-state.ts';
import { recordEvidence } from './unchanged/record-evidence.ts';
import { withinSavepoint } from './unchanged/savepoint.ts';
import { openSecondReader } from './unchanged/second-reader.ts';
import { readLaterMaps, readTableMaps } from './unchanged/table-maps.ts';
import type { VisibilityMaps } from './unchanged/visibility-maps.ts';

/**
 * One consistent dump by several sessions: a transaction of ours exports its snapshot, and the catalog is read in it,
 * by pg_dump too. The rows of tables are read by COPY in ranges, which are packed as they come, so that no more than a
 * few of them lie on the disk uncompressed. All else is written by pg_dump.
 */
export async function dump(context: EngineContext, request: DumpRequest): Promise<DumpResult> {
  const { report } = context;
  const connected = startStep(report, 'connect', `Connect to ${request.url.display}`);
  const installed = await findClientTools(context);
  const mounts = [{ path: request.directory, writable: true as const }];
  await using session = await connect(context, request.url, { mounts });
  const source = await openSource(context, session, { request, installed });
  const { signs, tools, snapshot, encoding, chosen } = source;
  connected(`Connected to PostgreSQL ${signs.version}`);

  const of = `${formatNumberOf(chosen.tables.length, 'table')} of ${request.url.display}`;
  const ended = startStep(report, 'dump', `Dump ${of}`);
  const selected = { ...chosen, ...(await readExclusion(session, { tables: chosen.tables, request, report })) };
  const own = chooseOwn(selected.tables);
  const explain = explainer(context, session, { schemas: selected.schemas, request, signs });
  const expectedOf = (table: CatalogTable) => request.expectedBytes(nameOf(table)) ?? table.bytes;
  const estimates = new Map(selected.tables.map((table) => [nameOf(table), expectedOf(table)]));
  const onBytes = bytesProgress(report, { step: 'dump', estimates });
  const ranges = rangesOf(own, { serverMajor: majorOf(signs.version) });
  const address = await directAddress(context, request.url);
  let isDumped = false;
  const { promise: dumped, resolve: hasDumped } = Promise.withResolvers<void>();
  const options = { request, tools, snapshot, selected, own, encoding, explain };
  let written: WrittenArchive = { archive: [], definitions: null };
  let read: ReadTables = new Map();
  // While pg_dump starts and reads the catalog itself. One after the other: a refused COPY ends the transaction.
  const describing = readSource(context, session, { selected, request, serverVersion: signs.version });
  const proving = describing.then(() => proveRows(context, session, { request, source, own, ranges }));
  // pg_dump may fail before they are awaited.
  for (const one of [describing, proving]) one.catch(() => {});
  await runTogether(context.signal, [
    async (signal) => {
      await dumpDatabase({ ...context, signal }, options);
      isDumped = true;
      hasDumped();
      written = await cutArchive({ ...context, signal }, options);
    },
    async (signal) => {
      const { files: unchanged, ranges } = await proving;
      const reads = { ...options, session, started: signs.started, address, onBytes, unchanged, ranges };
      const readers = tableReaders({ ...context, signal }, { ...reads, isDumped: () => isDumped, dumped });
      read = readers.read;
      await runTogether(signal, readers.works);
    },
  ]);
  const others = await packOthers(request, { archive: written.archive, own });
  const tables = await settled(read);
  const { state, reading, statistics, ranges: taken } = await proving;
  if (statistics) others.set(statistics.file.name, statistics);
  const evidence = state && recordEvidence({ state, tables, ranges: taken, maps: source.maps });
  ended(`Dumped ${of}`);
  return {
    serverVersion: signs.version,
    toolVersion: tools.version,
    identity: source.identity,
    ...(evidence && { evidence }),
    ...(request.lastBuild && { reading }),
    ...describeContents({ ...written, tables, others, source: await describing }),
  };
}

interface SourceInstant extends Pick<TableReads, 'tools' | 'snapshot' | 'encoding'> {
  signs: ServerIdentity;
  identity: DatabaseIdentity;
  /** Read before the snapshot. */
  maps: VisibilityMaps;
  chosen: Omit<DumpSelection, 'excludedRows'>;
}

/** Begins the instant in the session. */
async function openSource(
  context: EngineContext,
  session: PostgresSession,
  { request, installed }: { request: DumpRequest; installed: ClientTools[] },
): Promise<SourceInstant> {
  // Before the transaction, which a refused function would end.
  const [signs, encoding] = await Promise.all([readServerIdentity(session), readEncodingSettings(session)]);
  const tools = toolsForServer(installed, signs.version);
  const identifying = readIdentity(session, signs);
  identifying.catch(() => {});
  if ('client_encoding' in encoding) await assertReadableNames(session, request);
  const maps = request.isDestination && request.lastBuild ? await readTableMaps(session) : new Map();
  const begun = await beginSelection(context, session, { request, signs });
  return { signs, encoding, tools, maps, ...begun, identity: await identifying };
}

interface ProofOptions extends Pick<TableReads, 'request' | 'ranges'> {
  source: SourceInstant;
  own: CatalogTable[];
}

/** Stores statistics, and finds the rows that are those of the last build. */
async function proveRows(
  context: EngineContext,
  session: PostgresSession,
  { request, source: { signs, snapshot, encoding, maps }, own, ranges }: ProofOptions,
) {
  await prepareReading(session);
  const { lastBuild: last } = request;
  const state = last ? await withinSavepoint(session, () => readState(session, { signs, tables: own })) : null;
  const storing = { request, tables: own, serverMajor: majorOf(signs.version) };
  const statistics = 'client_encoding' in encoding ? null : await storeStatistics(session, storing);
  const reads = { request, session, snapshot, started: signs.started };
  const readMaps = () => readLaterMaps(context, reads);
  const openSecond = (pages: number) => openSecondReader(context, { ...reads, pages });
  const more = { openSecond, ...(maps.size > 0 && { readMaps }) };
  return { state, statistics, ...(await proveUnchanged(session, { last, state, ranges, ...more })) };
}

/** Begins the transaction again where it turns out that tables of further schemas belong to the dump. */
async function beginSelection(
  context: EngineContext,
  session: PostgresSession,
  { request, signs }: Pick<ExplainOptions, 'request' | 'signs'>,
): Promise<{ snapshot: string; chosen: Omit<DumpSelection, 'excludedRows'> }> {
  let schemas = await readChosenSchemas(session, request);
  while (true) {
    const snapshot = await beginInstant(session, schemas).catch(async (error) => {
      if (!(error instanceof SqlError)) throw error;
      throw await explainer(context, session, { schemas, request, signs })('The tables cannot be locked', [
        error.message,
      ]);
    });
    const warnings: RunEvent[] = [];
    const chosen = await readSelection({ ...context, report: (event) => warnings.push(event) }, session, request);
    if (chosen.schemas.every((schema) => schemas.includes(schema))) {
      for (const warning of warnings) context.report(warning);
      return { snapshot, chosen };
    }
    await session.execute('ROLLBACK');
    schemas = [...new Set([...schemas, ...chosen.schemas])];
  }
}

interface ExplainOptions {
  schemas: string[];
  request: DumpRequest;
  /** Identity of the server that the session has reached. */
  signs: ServerIdentity;
}

function explainer(
  context: EngineContext,
  session: PostgresSession,
  { schemas, request, signs }: ExplainOptions,
): TableReads['explain'] {
  return async (message, details) => {
    // A failed statement has ended the transaction.
    await session.execute('ROLLBACK').catch(() => {});
    const other = await findOtherServer(context, request.url, signs);
    if (other) throw serversDiffer(request.url, [other, signs]);
    const { cpus } = request;
    const explained = await explainDumpFailure(context, session, { schemas, cpus, said: details });
    return new UserError('dump_failed', message, { details: [...details, ...explained.details], hint: explained.hint });
  };
}

/**
 * Tables that are read by ranges: all but those of extensions, of which pg_dump knows what to dump, and the smallest of
 * very many, whose names would be too long for the arguments of a program. pg_dump would read what is not to be read.
 */
function chooseOwn(tables: CatalogTable[]): CatalogTable[] {
  const isChanged = ({ without_rows, nulled }: CatalogTable): number => Number(without_rows || nulled !== undefined);
  const largestFirst = tables
    .filter((table) => !table.of_extension)
    .sort((a, b) => isChanged(b) - isChanged(a) || b.bytes - a.bytes);
  const own: CatalogTable[] = [];
  let bytes = 0;
  for (const table of largestFirst) {
    bytes += Buffer.byteLength(quoteName(table.name)) + 1;
    if (bytes > MOST_BYTES_OF_ALL) {
      if (isChanged(table)) throw tooManyExcluded();
      break;
    }
    own.push(table);
  }
  return own;
}

function tooManyExcluded(): UserError {
  return new UserError('dump_failed', 'exclude_rows matches more tables than a program can be told', {
    hint: 'Nothing was stored. Leave out their schema with schema_config.',
  });
}

/** A table's rows, by the number of their entry in the archive. */
function isTableFile(name: string): boolean {
  return /^\d+\.dat$/.test(name);
}

/** The files that pg_dump has written, without rows that were read besides. */
async function packOthers(
  { directory, write }: DumpRequest,
  { archive, own }: { archive: ArchiveEntry[]; own: CatalogTable[] },
): Promise<Map<string, PackedFile>> {
  const oids = new Set(own.map(({ oid }) => oid));
  const twice = new Set(
    archive.filter((entry) => isTableData(entry) && oids.has(entry.oid)).map(({ dumpId }) => `${dumpId}.dat`),
  );
  const files = (await readdir(join(directory, ARCHIVE))).filter((name) => !twice.has(name));
  for (const name of files) await rename(join(directory, ARCHIVE, name), join(directory, name));
  const packed = await mapWithConcurrency(files, PACKED_AT_ONCE, (name) =>
    write(name, { terminator: isTableFile(name) ? DATA_TERMINATOR : null }),
  );
  return new Map(packed.map((one) => [one.file.name, one]));
}

const PACKED_AT_ONCE = 16;

async function settled(read: ReadTables): Promise<Map<CatalogTable, PackedFile[]>> {
  const tables = await mapWithConcurrency([...read], PACKED_AT_ONCE, async ([table, files]) => {
    return [table, await Promise.all(files)] as const;
  });
  return new Map(tables);
}

/** Connections that are tried to find a second server behind the address of a load balancer. */
const MOST_CONNECTIONS = 4;

/** Returns the identity of another server that the same address reaches. */
async function findOtherServer(context: EngineContext, url: DatabaseUrl, { started }: ServerIdentity) {
  for (let tried = 0; tried < MOST_CONNECTIONS; tried += 1) {
    await using session = await connect(context, url).catch(() => null);
    const signs = session && (await readServerIdentity(session).catch(() => null));
    if (signs && signs.started !== started) return signs;
  }
  return null;
}

function serversDiffer({ display }: DatabaseUrl, servers: ServerIdentity[]): UserError {
  const named = servers.map(({ address, port }) => `${address ?? 'a socket'}, port ${port}`);
  return new UserError('servers_differ', `The connections to ${display} reach different servers`, {
    details: [...new Set(named)].sort(),
    hint: 'Nothing was stored. A build reads by several connections at one instant of one server: name that server in the URL instead of a load balancer.',
  });
}
