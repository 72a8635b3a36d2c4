import { unlessAborted } from '../../../process/unless-aborted.ts';
import { UserError } from '../../../runtime/errors.ts';
import { nameOf } from '../../../text/table-names.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { DumpRequest, PackedFile } from '../../facets/dump.ts';
import { prepareSession } from '../../shared/connection/prepare-session.ts';
import type { CatalogTable } from '../catalog/introspect.ts';
import { connect } from '../connection/connect.ts';
import { READER_LOCK_TIMEOUT } from '../connection/lock-waits.ts';
import { quoteText } from '../connection/quote.ts';
import { type PostgresSession, SESSION_SETTINGS } from '../connection/session.ts';
import { SqlError } from '../connection/session-errors.ts';
import { DATA_TERMINATOR } from './archive.ts';
import { type CopyReader, openCopyReader } from './copy-readers.ts';
import { BLOCK_BYTES, fileName } from './ranges.ts';
import { type RowPiece, readDirect, readSmall, readToFile, type TableReads } from './read-piece.ts';

/** The files of each table, in the order of its rows. */
export type ReadTables = Map<CatalogTable, Promise<PackedFile>[]>;

/** Tables of so few bytes have no file: so many, and together of so many bytes, are read and packed at once. */
const SMALL_BYTES = 512 * 1024;
const SMALL_AT_ONCE = 100;
/** A further session begins to pay off for so many bytes, or so many tables. */
const BYTES_OF_SESSION = 16 * 1024 * 1024;
const TABLES_OF_SESSION = 1000;
/** Files of a session that wait to be packed. */
const PACKING_AT_ONCE = 3;

/** Everything but formats and limits is as the database has it: a snapshot has the same bytes whoever makes it. */
const READING = {
  DateStyle: 'ISO',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  extra_float_digits: '3',
  bytea_output: 'hex',
  xmloption: 'content',
  row_security: 'off',
  synchronize_seqscans: 'off',
  enable_seqscan: 'off',
  max_parallel_workers_per_gather: '0',
  statement_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  transaction_timeout: '0',
  /** Same value as in pg_dump: a view in place of a table would run code with the rights of this role. */
  restrict_nonsystem_relation_kind: 'view, foreign-table',
};

export async function prepareReading(session: PostgresSession, more: Record<string, string> = {}): Promise<void> {
  await session.execute(readingStatement({ ...READING, ...more }));
}

/** Sets those that the server knows. */
function readingStatement(settings: Record<string, string>): string {
  const values = Object.entries(settings).map(([name, value]) => `(${quoteText(name)}, ${quoteText(value)})`);
  return `SELECT pg_catalog.count(pg_catalog.set_config(v.name, v.value, false)) FROM (VALUES ${values.join(', ')}) AS v (name, value)
     JOIN pg_catalog.pg_settings s ON s.name OPERATOR(pg_catalog.=) v.name WHERE s.setting OPERATOR(pg_catalog.<>) v.value`;
}

/** Readers for `runTogether`: one session each, the largest tables first. */
export function tableReaders(context: EngineContext, reads: TableReads) {
  const { request, session, ranges } = reads;
  const read: ReadTables = new Map();
  const queue = createQueue(reads, read);
  const sessions = Math.min(
    request.cpus,
    1 + Math.max(Math.floor(queue.bytes / BYTES_OF_SESSION), Math.floor(ranges.size / TABLES_OF_SESSION)),
  );
  // A thread takes longer to start than psql to read fewer bytes.
  const address = queue.bytes < BYTES_OF_SESSION && !queue.hasWide() ? null : reads.address;
  const work =
    (own: PostgresSession | null) =>
    async (signal: AbortSignal): Promise<void> => {
      await using readers = createReaders({ ...context, signal }, { ...reads, address }, own);
      await readPieces(readers, { reads, queue, signal });
    };
  return { works: [work(session), ...Array.from({ length: sessions - 1 }, () => work(null))], read };
}

/** The sessions of one worker, which are opened when they are needed. */
interface Readers extends AsyncDisposable {
  /** Reports whether large pieces wait for the connection of pg_dump: psql is slower than a thread, and keeps long values twice. */
  waitsForDump(): boolean;
  /** For large pieces; `null` where psql must read them. */
  direct(): Promise<CopyReader | null>;
  psql(): Promise<PostgresSession>;
}

function createReaders(context: EngineContext, reads: TableReads, own: PostgresSession | null): Readers {
  let direct: Promise<CopyReader | null> | null = null;
  let psql: Promise<PostgresSession> | null = own && Promise.resolve(own);
  const closeDirect = async (): Promise<void> => {
    await (await direct)?.[Symbol.asyncDispose]();
    direct = Promise.resolve(null);
  };
  return {
    waitsForDump: () => own !== null && reads.address !== null && !reads.isDumped(),
    async direct() {
      direct ??= openDirect(context, reads);
      return await direct;
    },
    async psql() {
      // Small tables come last: no worker has two sessions then.
      await closeDirect();
      psql ??= openReader(context, reads);
      return await psql;
    },
    async [Symbol.asyncDispose]() {
      await closeDirect().catch(() => {});
      if (!own) await (await psql?.catch(() => null))?.close();
    },
  };
}

async function openDirect(context: EngineContext, { address, snapshot, started, encoding }: TableReads) {
  if (!address) return null;
  const settings = { ...READING, ...SESSION_SETTINGS, ...encoding, lock_timeout: READER_LOCK_TIMEOUT };
  return await openCopyReader(context, {
    address,
    statements: [readingStatement(settings), ...inSnapshot({ snapshot, started })],
  });
}

/** Fails on another server than the one that exported the snapshot, also where that has one of the same name. */
export function inSnapshot({ snapshot, started }: Pick<TableReads, 'snapshot' | 'started'>): string[] {
  return [
    'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
    `SET TRANSACTION SNAPSHOT ${quoteText(snapshot)}`,
    `SELECT 1 / (extract(epoch FROM pg_postmaster_start_time())::text = ${quoteText(started)})::int`,
  ];
}

async function openReader(context: EngineContext, { request, tools, snapshot, started, explain }: TableReads) {
  const mounts = [{ path: request.directory, writable: true as const }];
  const session = await connect(context, request.url, { tools, mounts }).catch(async (error) => {
    context.signal.throwIfAborted();
    throw error instanceof UserError ? await explain('A further connection failed', error.details) : error;
  });
  const preparing = prepareSession(session, async () => {
    await prepareReading(session, { lock_timeout: READER_LOCK_TIMEOUT });
    for (const statement of inSnapshot({ snapshot, started })) await session.execute(statement);
  });
  return await preparing.catch(async (error) => {
    throw error instanceof SqlError ? await explain('A further session cannot read', [error.message]) : error;
  });
}

interface PieceQueue {
  /** Estimated bytes of all. */
  bytes: number;
  hasWide(): boolean;
  isEmpty(): boolean;
  /** The next large piece unless they wait, or a number of small ones. */
  take(but: { large: boolean }): RowPiece[];
}

/** Large values (TOAST) of fewer bytes are no danger to the memory of psql, which has a whole row in it. */
const WIDE_BYTES = 4 * 1024 * 1024;

function isWide({ table: { bytes, blocks } }: RowPiece): boolean {
  return bytes - blocks * BLOCK_BYTES > WIDE_BYTES;
}

function isLarge(piece: RowPiece): boolean {
  return piece.bytes > SMALL_BYTES || isWide(piece);
}

function createQueue({ ranges, unchanged, request, onBytes }: TableReads, read: ReadTables): PieceQueue {
  const pieces: RowPiece[] = [];
  const empty: RowPiece[] = [];
  for (const [table, parts] of ranges) {
    const files: Promise<PackedFile>[] = [];
    read.set(table, files);
    const known = unchanged.get(table) ?? [];
    let waiting = parts.length;
    for (const [at, range] of parts.entries()) {
      const piece: RowPiece = {
        table,
        range,
        bytes: table.bytes / parts.length,
        name: fileName(table, at),
        packed(file) {
          // Awaited with the others; when the reading fails before, its error is the one to report.
          file.then(
            () => {
              waiting -= 1;
              if (waiting === 0) onBytes(nameOf(table), 0, true);
            },
            () => {},
          );
          files[at] = file;
        },
      };
      const same = known[at];
      if (same) {
        onBytes(nameOf(table), same.file.bytes);
        piece.packed(Promise.resolve(same));
        continue;
      }
      // What has no block has no row that is visible to the snapshot, which is older.
      const isEmpty = table.without_rows || (table.blocks === 0 && table.is_heap && !table.row_security);
      (isEmpty ? empty : pieces).push(piece);
    }
  }
  packEmpty(request, empty);
  pieces.sort((a, b) => b.table.bytes - a.table.bytes);
  return {
    bytes: pieces.reduce((sum, { bytes }) => sum + bytes, 0),
    hasWide: () => pieces.some(isWide),
    isEmpty: () => pieces.length === 0,
    take({ large }) {
      const first = large ? 0 : pieces.findIndex((piece) => !isLarge(piece));
      const taken = first === -1 ? [] : pieces.splice(first, 1);
      let bytes = taken[0]?.bytes ?? 0;
      for (let next = pieces[first]; next && taken.length < SMALL_AT_ONCE; next = pieces[first]) {
        bytes += next.bytes;
        if (bytes > SMALL_BYTES) break;
        taken.push(...pieces.splice(first, 1));
      }
      return taken;
    },
  };
}

/** All of them have the same content. */
function packEmpty(request: DumpRequest, pieces: RowPiece[]): void {
  const [first] = pieces;
  if (!first) return;
  const content = new Uint8Array(Buffer.from(DATA_TERMINATOR));
  const packing = request.write(first.name, { content, terminator: DATA_TERMINATOR });
  for (const { name, packed } of pieces) packed(packing.then((one) => ({ ...one, file: { ...one.file, name } })));
}

interface ReaderOptions {
  reads: TableReads;
  queue: PieceQueue;
  signal: AbortSignal;
}

async function readPieces(readers: Readers, { reads, queue, signal }: ReaderOptions): Promise<void> {
  const waiting: Promise<unknown>[] = [];
  const next = async (): Promise<RowPiece[]> => {
    const pieces = queue.take({ large: !readers.waitsForDump() });
    if (pieces.length > 0 || queue.isEmpty()) return pieces;
    await unlessAborted(reads.dumped, signal);
    return queue.take({ large: true });
  };
  for (let pieces = await next(); pieces.length > 0 && !signal.aborted; pieces = await next()) {
    const [first] = pieces;
    const large = first !== undefined && first.bytes > SMALL_BYTES ? first : null;
    const direct = large && (await readers.direct());
    const packed = direct
      ? [readDirect(direct, large, reads)]
      : large
        ? [await readToFile(await readers.psql(), large, reads)]
        : await readSmall(await readers.psql(), pieces, reads);
    const all = Promise.all(packed);
    all.catch(() => {});
    waiting.push(all);
    while (waiting.length > (direct ? READ_AHEAD : PACKING_AT_ONCE)) await waiting.shift();
  }
  await Promise.all(waiting);
}

/** Its thread goes on while the file before is synced and stored. */
const READ_AHEAD = 1;
