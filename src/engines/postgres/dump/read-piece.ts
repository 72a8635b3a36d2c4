import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { UserError } from '../../../runtime/errors.ts';
import { nameOf } from '../../../text/table-names.ts';
import type { DumpRequest, PackedFile } from '../../facets/dump.ts';
import type { OnBytes } from '../../shared/bytes-progress.ts';
import { dumpCutShort } from '../../shared/source-unreadable.ts';
import type { CatalogTable } from '../catalog/introspect.ts';
import type { PostgresSession } from '../connection/session.ts';
import { SqlError } from '../connection/session-errors.ts';
import type { ClientTools } from '../connection/tools.ts';
import type { SessionSettings } from '../connection/url.ts';
import type { WireAddress } from '../connection/wire-login.ts';
import { DATA_TERMINATOR } from './archive.ts';
import type { CopyReader } from './copy-readers.ts';
import { copyOut, type Range } from './ranges.ts';
import type { UnchangedFiles } from './unchanged/find-unchanged.ts';

export interface TableReads {
  request: DumpRequest;
  tools: ClientTools;
  /** Exports the snapshot, holds the locks, and reads, too. */
  session: PostgresSession;
  snapshot: string;
  /** Start of the server that exported it, in seconds since 1970. */
  started: string;
  /** Client encoding, where it is not UTF-8. */
  encoding: SessionSettings;
  /** Address for connections of our own; `null` when only psql may read rows. */
  address: WireAddress | null;
  /** Reports whether pg_dump has ended, and left its connection to another session; `dumped` resolves then. */
  isDumped: () => boolean;
  dumped: Promise<void>;
  ranges: Map<CatalogTable, Range[]>;
  unchanged: UnchangedFiles;
  onBytes: OnBytes;
  explain: (message: string, details: string[]) => Promise<UserError>;
}

export interface RowPiece {
  table: CatalogTable;
  range: Range;
  /** Estimated. */
  bytes: number;
  name: string;
  packed(file: Promise<PackedFile>): void;
}

/** A thread with a connection of its own reads, hashes and compresses. */
export function readDirect(reader: CopyReader, piece: RowPiece, reads: TableReads): Promise<PackedFile> {
  const { table, range, name } = piece;
  const { request } = reads;
  const onBytes = bytesOf(table, reads);
  const packed = request.write(name, {
    async pack(destination, stored) {
      const reading = reader.read({ statement: copyOut(table, range), destination, stored, onBytes });
      return await reading.catch(async (error) => {
        throw await cannotRead(reads, table, error);
      });
    },
  });
  piece.packed(packed);
  return packed;
}

function bytesOf(table: CatalogTable, { onBytes }: TableReads): (bytes: number) => void {
  const name = nameOf(table);
  onBytes(name, 0);
  return (bytes) => onBytes(name, bytes);
}

/** psql writes a file, which a thread then packs: the rows never pass through this process's event loop. */
export async function readToFile(
  session: PostgresSession,
  piece: RowPiece,
  reads: TableReads,
): Promise<Promise<PackedFile>> {
  const { table, name } = piece;
  const onBytes = bytesOf(table, reads);
  await copyToFile(session, [piece], reads);
  const packed = reads.request.write(name, { terminator: DATA_TERMINATOR, onBytes });
  piece.packed(packed);
  return packed;
}

/** One file of psql has the rows of many small tables: a file and a round trip for each would take longer than reading them. */
export async function readSmall(
  session: PostgresSession,
  pieces: RowPiece[],
  reads: TableReads,
): Promise<Promise<PackedFile>[]> {
  const path = await copyToFile(session, pieces, reads);
  const contents = cutAtEndings(await readFile(path));
  await rm(path);
  return pieces.flatMap((piece, at) => {
    const content = contents[at];
    if (!content) throw dumpCutShort(nameOf(piece.table));
    const onBytes = bytesOf(piece.table, reads);
    const packed = reads.request.write(piece.name, { content, terminator: DATA_TERMINATOR, onBytes });
    piece.packed(packed);
    return [packed];
  });
}

/** Returns the path of the file, which is named after the first piece. */
async function copyToFile(session: PostgresSession, pieces: RowPiece[], reads: TableReads): Promise<string> {
  const path = join(reads.request.directory, pieces[0]?.name ?? '');
  await writeFile(path, '', { mode: 0o600 });
  const statements = pieces.map(({ table, range }) => copyOut(table, range));
  await session.copyToFile(statements, { path, ending: DATA_TERMINATOR }).catch(async (error) => {
    // The first that is not whole is the one that failed.
    const failed = pieces.length === 1 ? 0 : cutAtEndings(await readFile(path)).length;
    const { table } = pieces[failed] ?? {};
    throw table ? await cannotRead(reads, table, error) : error;
  });
  return path;
}

const LINE_FEED = 0x0a;

/** Cuts whole outputs of COPY apart: no row is the line that ends them. Each has memory of its own, which is passed to a thread. */
function cutAtEndings(file: Buffer): Uint8Array<ArrayBuffer>[] {
  const contents: Uint8Array<ArrayBuffer>[] = [];
  for (let from = 0, at = file.indexOf(DATA_TERMINATOR); at !== -1; at = file.indexOf(DATA_TERMINATOR, at + 1)) {
    if (at !== from && file[at - 1] !== LINE_FEED) continue;
    const end = at + DATA_TERMINATOR.length;
    contents.push(new Uint8Array(file.subarray(from, end)));
    from = end;
    at = end - 1;
  }
  return contents;
}

async function cannotRead({ explain }: TableReads, table: CatalogTable, error: unknown): Promise<unknown> {
  if (!(error instanceof SqlError)) return error;
  return await explain(`${nameOf(table)} cannot be read`, error.message.split('\n'));
}
