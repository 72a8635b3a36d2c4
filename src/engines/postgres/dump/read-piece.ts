import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { UserError } from '../../../runtime/errors.ts';
import { nameOf } from '../../../text/table-names.ts';
import type { DumpRequest, PackedFile } from '../../facets/dump.ts';
import type { OnBytes } from '../../shared/bytes-progress.ts';
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
  const { table, range, name } = piece;
  const onBytes = bytesOf(table, reads);
  const path = join(reads.request.directory, name);
  await writeFile(path, '', { mode: 0o600 });
  await session.copyToFile(copyOut(table, range), { path, ending: DATA_TERMINATOR }).catch(async (error) => {
    throw await cannotRead(reads, table, error);
  });
  const packed = reads.request.write(name, { terminator: DATA_TERMINATOR, onBytes });
  piece.packed(packed);
  return packed;
}

/** Statements for small tables are sent together: a file and a round trip for each would take longer than reading them. */
export async function readSmall(session: PostgresSession, pieces: RowPiece[], reads: TableReads) {
  const readings = pieces.map((piece) => ({ piece, reading: contentOf(session, piece) }));
  // Behind the first that fails, the server refuses the others.
  for (const { reading } of readings) reading.catch(() => {});
  const files: Promise<PackedFile>[] = [];
  for (const { piece, reading } of readings) {
    const { table, name } = piece;
    const content = await reading.catch(async (error) => Promise.reject(await cannotRead(reads, table, error)));
    const packed = reads.request.write(name, { content, terminator: DATA_TERMINATOR, onBytes: bytesOf(table, reads) });
    piece.packed(packed);
    files.push(packed);
  }
  return files;
}

/** The content has memory of its own, which is passed to a thread. */
async function contentOf(session: PostgresSession, { table, range }: RowPiece): Promise<Uint8Array<ArrayBuffer>> {
  const rows: Buffer[] = [];
  await session.lines(copyOut(table, range), (lines) => void rows.push(Buffer.from(lines)));
  return new Uint8Array(Buffer.concat([...rows, Buffer.from(DATA_TERMINATOR)]));
}

async function cannotRead({ explain }: TableReads, table: CatalogTable, error: unknown): Promise<unknown> {
  if (!(error instanceof SqlError)) return error;
  return await explain(`${nameOf(table)} cannot be read`, error.message.split('\n'));
}
