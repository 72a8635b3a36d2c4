import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { UserError } from '../../../runtime/errors.ts';
import type { DumpRequest, PackedFile } from '../../facets/dump.ts';
import type { CatalogTable } from '../catalog/introspect.ts';
import { type PsqlSession, SqlError } from '../connection/session.ts';
import type { ClientTools } from '../connection/tools.ts';
import type { SessionSettings } from '../connection/url.ts';
import type { WireAddress } from '../connection/wire.ts';
import { DATA_TERMINATOR } from './archive.ts';
import type { CopyReader } from './copy-readers.ts';
import { type DumpProgress, nameOf } from './dump-progress.ts';
import { copyOut, type Range } from './ranges.ts';

export interface TableReads {
  request: DumpRequest;
  tools: ClientTools;
  /** Exports the snapshot, holds the locks, and reads, too. */
  session: PsqlSession;
  snapshot: string;
  /** Client encoding, where it is not UTF-8. */
  encoding: SessionSettings;
  /** Address for connections of our own; `null` when only psql may read rows. */
  address: WireAddress | null;
  /** Reports whether pg_dump has ended, and left its connection to another session; `dumped` resolves then. */
  isDumped: () => boolean;
  dumped: Promise<void>;
  ranges: Map<CatalogTable, Range[]>;
  progress: DumpProgress;
  explain: (message: string, details: string[]) => Promise<UserError>;
}

/** A file of more bytes is packed while it is written. */
const LARGE_BYTES = 64 * 1024 * 1024;

export interface RowPiece {
  table: CatalogTable;
  range: Range;
  /** Estimated. */
  bytes: number;
  name: string;
  /** Called with the packed file. */
  packed(file: Promise<PackedFile>): void;
}

/** A thread with a connection of its own reads, hashes and compresses. */
export function readDirect(reader: CopyReader, piece: RowPiece, reads: TableReads): Promise<PackedFile> {
  const { table, range, name } = piece;
  const { request, progress } = reads;
  progress.onStarted(table);
  const onBytes = (more: number): void => progress.onBytes(table, more);
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

/** psql writes the file, which a thread then packs: the rows never pass through this process's event loop. */
export async function readToFile(
  session: PsqlSession,
  piece: RowPiece,
  reads: TableReads,
): Promise<Promise<PackedFile>> {
  const { table, range, name, bytes } = piece;
  const { request, progress } = reads;
  const path = join(request.directory, name);
  await writeFile(path, '', { mode: 0o600 });
  progress.onStarted(table);
  const pack = (growing?: { grown: Promise<unknown> }): Promise<PackedFile> => {
    const onBytes = (more: number): void => progress.onBytes(table, more);
    const packed = request.write(name, { terminator: DATA_TERMINATOR, onBytes, ...growing });
    piece.packed(packed);
    return packed;
  };
  const copied = session.copyToFile(copyOut(table, range), { path, ending: DATA_TERMINATOR }).catch(async (error) => {
    throw await cannotRead(reads, table, error);
  });
  const growing = bytes > LARGE_BYTES ? pack({ grown: copied }) : null;
  await copied;
  return growing ?? pack();
}

/** Their statements travel together, since waiting for each answer takes longer than reading it. */
export async function readSmall(
  session: PsqlSession,
  pieces: RowPiece[],
  reads: TableReads,
): Promise<Promise<PackedFile>[]> {
  const { request, progress } = reads;
  const outcomes = await Promise.allSettled(
    pieces.map(({ table, range }) => readContent(session, copyOut(table, range))),
  );
  const failed = outcomes.findIndex(({ status }) => status === 'rejected');
  const failure = outcomes[failed];
  const culprit = pieces[failed];
  if (culprit && failure?.status === 'rejected') throw await cannotRead(reads, culprit.table, failure.reason);
  return pieces.flatMap((piece, at) => {
    const outcome = outcomes[at];
    if (outcome?.status !== 'fulfilled') return [];
    const onBytes = (more: number): void => progress.onBytes(piece.table, more);
    const packed = request.write(piece.name, { content: outcome.value, terminator: DATA_TERMINATOR, onBytes });
    piece.packed(packed);
    return [packed];
  });
}

async function readContent(session: PsqlSession, statement: string): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  await session.lines(statement, (lines) => {
    chunks.push(new Uint8Array(lines));
    bytes += lines.length;
  });
  // Memory of its own, which is passed to a thread.
  const content = new Uint8Array(bytes + DATA_TERMINATOR.length);
  let at = 0;
  for (const chunk of [...chunks, Buffer.from(DATA_TERMINATOR)]) {
    content.set(chunk, at);
    at += chunk.length;
  }
  return content;
}

async function cannotRead({ explain }: TableReads, table: CatalogTable, error: unknown): Promise<unknown> {
  if (!(error instanceof SqlError)) return error;
  return await explain(`${nameOf(table)} cannot be read`, error.message.split('\n'));
}
