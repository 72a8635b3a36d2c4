import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ManifestTable } from '../../../repository/manifest.ts';
import { hiddenDetails, hiddenObjectsOf } from '../../../results/hidden-objects.ts';
import { EXIT, UserError } from '../../../runtime/errors.ts';
import { startStep } from '../../../runtime/events.ts';
import { formatNumberOf } from '../../../text/format.ts';
import type { DumpRequest, DumpResult, EngineContext, PackedFile } from '../../engine.ts';
import { connect, explainConnection } from '../connection/connect.ts';
import { quoteName, SqlError } from '../connection/session.ts';
import type { Definitions } from '../definitions/definitions.ts';
import { withEventsEnabled } from '../definitions/events.ts';
import { withoutDatabaseOfSequences } from '../definitions/sequence-defaults.ts';
import { withoutTexts } from '../definitions/table-entries.ts';
import { DEFINITIONS_FILE, type Details, detailsOf } from '../details.ts';
import { collationsIn, featuresOf } from '../features.ts';
import { type CatalogTable, readServer, readTables, TEXT_TYPES } from '../introspect.ts';
import { dumpByProgram } from '../program/dump-program.ts';
import { explainDenied, readReadable } from '../readable.ts';
import { reservedInSource } from '../restore/beside.ts';
import { createDumpProgress, type DumpProgress } from './dump-progress.ts';
import { beginInstant } from './instant.ts';
import { type Part, partsOf } from './parts.ts';
import { openRowReader, ReadFailure, type RowReader } from './row-readers.ts';
import { ROWS_TERMINATOR, ROWS_TERMINATOR_LINES } from './row-text.ts';
import { recordTreatedApart } from './treated-apart.ts';

/**
 * One consistent dump by parallel readers, each a session in a thread of its own: no program of the server's shares an
 * instant between processes. Definitions are what the server says of itself.
 */
export async function dump(context: EngineContext, request: DumpRequest): Promise<DumpResult> {
  const { report } = context;
  const { url, jobs, copyOf } = request;
  const { database } = url;
  if (database === null) throw noDatabase(url.display);
  const schema = copyOf ? detailsOf(copyOf).database : database;
  const connected = startStep(report, 'connect', `Connect to ${url.display}`);
  const byProgram = request.program || (copyOf && detailsOf(copyOf).program);
  // Their threads start while the session connects.
  await using readers = openReaders(context, { request, count: byProgram ? 0 : jobs });
  await using session = await connect(context, url, { several: true });
  const server = await readServer(session);
  const reserved = await reservedInSource(session, database);
  if (reserved !== null) throw nameReserved(url.display, reserved);
  const listed = await readTables(session, database);
  if (byProgram) {
    warnOfOtherEngines(context, listed);
    return await dumpByProgram(context, request, { session, server, tables: listed, connected });
  }
  const names = listed.map(({ name }) => name);
  // One reader alone needs no lock.
  const needed = (await readers.all()).slice(0, Math.max(1, names.length));
  const begun = await beginInstant(context, session, { database, tables: names, readers: needed });
  const tables = await readTables(session, database);
  warnOfOtherEngines(context, tables);
  connected(`Connected to ${server.label}`);

  const of = `${formatNumberOf(tables.length, 'table')} of ${url.display}`;
  const dumpedAll = startStep(report, 'dump', `Dump ${of}`);
  const progress = createDumpProgress({ database: schema, tables, expected: request.expectedBytes, report });
  const cutTables: CutTable[] = [];
  const explain = (error: unknown): Promise<never> => explainDenied(session, url, error);
  for (const table of tables) {
    cutTables.push({ table, parts: await partsOf(session, { database, table }).catch(explain) });
  }
  const reading = readRows({ request, database, schema, tables: cutTables, readers: begun, progress });
  // The definitions are read meanwhile; what is wrong with them is told first.
  reading.catch(() => {});
  const readable = await readReadable(context, session, { url, server, tables });
  const { inventory, hidden } = readable;
  const found = {
    ...readable.definitions,
    tables: readable.definitions.tables.map((table) => withoutDatabaseOfSequences(table, database)),
  };
  // A copy's events are disabled, so that they do not run in it.
  const definitions = copyOf ? withEventsEnabled(found, detailsOf(copyOf).enabled_events ?? []) : found;
  const treatedApart = await recordTreatedApart(context, session, { definitions, database, schema });
  warnOfHistory(context, definitions);
  const features = featuresOf(server.flavour, definitions);
  const collations = collationsIn(definitions);
  const dumped = await reading.catch(explain);
  await writeFile(join(request.directory, DEFINITIONS_FILE), JSON.stringify(definitions, null, 1), { mode: 0o600 });
  request.finish();
  const { file } = await request.pack({ name: DEFINITIONS_FILE, terminator: null, onBytes: () => {} });
  dumpedAll(`Dumped ${of}`);
  const details = {
    flavour: server.flavour,
    database: schema,
    collations,
    features,
    inventory,
    ...treatedApart,
    data: Object.assign({}, ...dumped.map(({ data }) => data)),
    ...hiddenDetails([...(copyOf ? hiddenObjectsOf(copyOf) : []), ...hidden]),
  } satisfies Details;
  return {
    serverVersion: server.version,
    toolVersion: server.version,
    schemas: [schema],
    tables: dumped.map(({ table }) => table),
    files: [file],
    details,
  };
}

interface Readers extends AsyncDisposable {
  /** Rejects when one of them could not connect. */
  all(): Promise<RowReader[]>;
}

function openReaders(
  { signal }: EngineContext,
  { request: { url }, count }: { request: DumpRequest; count: number },
): Readers {
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

interface Reading {
  request: DumpRequest;
  database: string;
  /** What the database is called in the snapshot. */
  schema: string;
  tables: CutTable[];
  readers: RowReader[];
  progress: DumpProgress;
}

/** Tables of so few bytes have no file: so many, and together of so many bytes, are read and packed at once. */
const SMALL_BYTES = 1024 * 1024;
const SMALL_AT_ONCE = 64;
/** What a reader has read that is not packed yet. */
const PACKING_AT_ONCE = 2;

interface CutTable {
  table: CatalogTable;
  parts: Part[];
}

interface DumpedTable {
  table: ManifestTable;
  data: Details['data'];
}

interface RowsFile {
  table: CatalogTable;
  part: Part;
  name: string;
  /** Bytes of the longest row. */
  longest: number;
  packed: Promise<PackedFile> | null;
}

/** The largest tables first, each part after part, and small ones together; a large file is packed while it is written. */
async function readRows({ request, database, schema, tables, readers, progress }: Reading): Promise<DumpedTable[]> {
  const all = tables.map(({ table, parts }, index) => ({
    table,
    files: parts.map((part, at): RowsFile => ({ table, part, name: fileName(index, at), longest: 0, packed: null })),
  }));
  const queue = all.toSorted((a, b) => b.table.bytes - a.table.bytes).flatMap(({ files }) => files);
  let failed = false;
  const fail = ({ table }: RowsFile, error: unknown): unknown => {
    failed = true;
    request.finish();
    return cannotRead(`${schema}.${table.name}`, error);
  };
  const toRead = ({ table, part, name }: RowsFile): { select: string; file: string } => ({
    select: selectOf(database, table, part),
    file: join(request.directory, name),
  });
  /** What is awaited with the others; when the reading fails before, its error is the one to tell. */
  const packing = (file: RowsFile, packed: Promise<PackedFile>): Promise<PackedFile> => {
    packed.catch(() => {});
    file.packed = packed;
    return packed;
  };
  const pack = (file: RowsFile): Promise<PackedFile> => {
    const onBytes = (bytes: number): void => progress.onBytes(file.table.name, bytes);
    return packing(file, request.pack({ name: file.name, terminator: ROWS_TERMINATOR, onBytes }));
  };
  const packContents = (files: { file: RowsFile; content: Uint8Array<ArrayBuffer> }[]): Promise<PackedFile>[] => {
    const lengths = files.map(({ content }) => content.length);
    const contents = files.map(({ file: { name }, content }) => ({ name, content, terminator: ROWS_TERMINATOR }));
    const together = request.packContents(contents);
    return files.map(({ file }, at) => {
      const packed = async (): Promise<PackedFile> => {
        const one = (await together)[at];
        if (!one) throw new Error(`${file.name} was not packed`);
        progress.onBytes(file.table.name, lengths[at] ?? 0);
        return one;
      };
      return packing(file, packed());
    });
  };
  const readLarge = async (reader: RowReader, file: RowsFile): Promise<Promise<PackedFile>[]> => {
    await writeFile(join(request.directory, file.name), '', { mode: 0o600 });
    const growing = pack(file);
    file.longest = await reader.read(toRead(file)).catch((error) => {
      throw fail(file, error);
    });
    return [growing];
  };
  const readSmall = async (reader: RowReader, files: RowsFile[]): Promise<Promise<PackedFile>[]> => {
    const read = await reader.readSome(files.map(toRead)).catch((error) => {
      const [file, cause] = error instanceof ReadFailure ? [files[error.at], error.cause] : [files[0], error];
      throw file ? fail(file, cause) : cause;
    });
    const inMemory: { file: RowsFile; content: Uint8Array<ArrayBuffer> }[] = [];
    const written: Promise<PackedFile>[] = [];
    for (const [at, { longest, content }] of read.entries()) {
      const file = files[at];
      if (!file) throw new Error('the reader has read more than it was asked for');
      file.longest = longest;
      if (content) inMemory.push({ file, content });
      else written.push(pack(file));
    }
    return [...written, ...packContents(inMemory)];
  };
  const work = async (reader: RowReader): Promise<void> => {
    const waiting: Promise<unknown>[] = [];
    for (let some = takeSome(queue); some.length > 0 && !failed; some = takeSome(queue)) {
      const [first] = some;
      const isLarge = first !== undefined && first.table.bytes > SMALL_BYTES;
      const packed = Promise.all(await (isLarge ? readLarge(reader, first) : readSmall(reader, some)));
      packed.catch(() => {});
      waiting.push(packed);
      // Of a large file little is unpacked when its last rows are read.
      while (waiting.length > (isLarge ? 1 : PACKING_AT_ONCE)) await waiting.shift();
    }
  };
  const outcomes = await Promise.allSettled(readers.map(work));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  return Promise.all(
    all.map(async ({ table, files }) => {
      const packed = await Promise.all(files.map((file) => file.packed ?? notRead(file)));
      return assemble({ schema, table, longest: Math.max(...files.map((file) => file.longest)), packed });
    }),
  );
}

function notRead({ name }: RowsFile): never {
  throw new Error(`${name} was not read`);
}

/** The next large file, or a number of small ones. */
function takeSome(queue: RowsFile[]): RowsFile[] {
  const taken = queue.splice(0, 1);
  let bytes = taken[0]?.table.bytes ?? 0;
  for (let next = queue[0]; next && taken.length < SMALL_AT_ONCE; [next] = queue) {
    bytes += next.table.bytes;
    if (bytes > SMALL_BYTES) break;
    taken.push(...queue.splice(0, 1));
  }
  return taken;
}

/** The files of a snapshot are sorted as its tables are. */
function fileName(table: number, part: number): string {
  const number = String(table + 1).padStart(4, '0');
  return part === 0 ? `${number}.rows` : `${number}-${String(part + 1).padStart(4, '0')}.rows`;
}

interface Packed {
  schema: string;
  table: CatalogTable;
  /** Bytes of the longest row. */
  longest: number;
  packed: PackedFile[];
}

function assemble({ schema, table, longest, packed }: Packed): DumpedTable {
  const name = `${schema}.${table.name}`;
  if (!packed.every(({ terminated }) => terminated)) throw cutShort(name);
  const [file, ...parts] = packed.map((each) => each.file);
  if (!file) throw new Error(`${name} has no file`);
  const rows = packed.reduce((sum, { lines }) => sum + lines - ROWS_TERMINATOR_LINES, 0);
  const columns = table.columns.filter((column) => !column.generated);
  return {
    table: { name, rows, file, ...(parts.length > 0 && { parts }) },
    data: {
      [file.name]: {
        table: table.name,
        columns: columns.map((column) => column.name),
        texts: columns.filter(({ type }) => TEXT_TYPES.has(type)).map((column) => column.name),
        longest_row: longest,
      },
    },
  };
}

/** In the order of the primary key, which is how InnoDB keeps the rows; as FLOAT the server would round them. */
export function selectOf(
  database: string,
  { name, key, columns }: Pick<CatalogTable, 'name' | 'key' | 'columns'>,
  part: Part,
): string {
  const expressions = columns
    .filter(({ generated }) => !generated)
    .map((column) => (column.type === 'float' ? `${quoteName(column.name)} + 0e0` : quoteName(column.name)));
  const from = `${quoteName(database)}.${quoteName(name)}${key.length > 0 ? ' FORCE INDEX (PRIMARY)' : ''}`;
  const where = part === null ? '' : ` WHERE ${part}`;
  const order = key.length > 0 ? ` ORDER BY ${key.map(quoteName).join(', ')}` : '';
  return `SELECT ${expressions.join(', ')} FROM ${from}${where}${order}`;
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

/** As a dump of MariaDB's own: of a table with history only the rows of now are read. */
function warnOfHistory({ report }: EngineContext, { tables }: Definitions): void {
  const versioned = tables.filter(({ create }) => /\bWITH SYSTEM VERSIONING\b/.test(withoutTexts(create)));
  if (versioned.length === 0) return;
  const list = versioned.map(({ name }) => name).join(', ');
  const message = `The history of system-versioned tables is not in the snapshot, only their current rows: ${list}`;
  report({ event: 'warning', code: 'history_left_out', message });
}

/** `ER_TABLE_DEF_CHANGED`: the table is not the one that the transaction could see. */
const DEFINITION_CHANGED = 1412;

function cannotRead(table: string, cause: unknown): unknown {
  if (!(cause instanceof SqlError)) return cause;
  return new UserError(`${table} cannot be read`, {
    code: 'dump_failed',
    exit: EXIT.failed,
    details: [cause.message],
    hint:
      cause.errno === DEFINITION_CHANGED
        ? 'Somebody changed the table while it was read. Nothing was stored; build again.'
        : "Nothing was stored. Most often the user may not read the table. If the driver cannot read it, the server's own mysqldump may: tool build TARGET --program.",
    cause,
  });
}

function cutShort(table: string): UserError {
  return new UserError(`The dump of ${table} is cut short`, {
    code: 'dump_failed',
    exit: EXIT.failed,
    hint: 'Is the disk full? Nothing was stored.',
  });
}

function nameReserved(display: string, table: string): UserError {
  return new UserError(`The source ${display} holds a table "${table}", a name that is reserved for the tool`, {
    code: 'name_reserved',
    exit: EXIT.refused,
    hint: 'Nothing was stored. Rename the table.',
  });
}

function noDatabase(display: string): UserError {
  return new UserError(`The source ${display} names no database`, {
    code: 'url_invalid',
    exit: EXIT.configuration,
    hint: 'Add its name at the end: mysql://user@host:3306/database',
  });
}
