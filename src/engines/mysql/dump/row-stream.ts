import type { Connection, Query } from 'mysql2';
import { mostBytesOf, piecesOfRow, type RowPacket, writeRow } from './row-text.ts';

/** Method of the driver's query that its types omit: the driver calls it for every packet that holds a row. */
interface QueryOfRows extends Query {
  row(packet: RowPacket & { isEOF(): boolean }): unknown;
}

export interface RowTaker {
  take(row: RowPacket): void;
  /** Called after the rows of each query, where a packet has several. */
  ended?(): void;
}

/** Rows as the server sends them: as objects of JavaScript they would cost ten times as much. */
export function forEachRow(connection: Connection, select: string, taker: RowTaker): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // A connection that has been closed takes no query, and says so itself: the query would never end.
  connection.on('error', reject);
  const query = connection.query(select) as QueryOfRows;
  const endOfRows = query.row;
  let failed = false;
  query.row = (packet) => {
    const isEnd = packet.isEOF();
    try {
      if (failed) return isEnd ? endOfRows.call(query, packet) : query.row;
      if (isEnd) taker.ended?.();
      else taker.take(packet);
    } catch (error) {
      // The driver loses errors that are thrown while it reads packets.
      failed = true;
      reject(error);
    }
    return isEnd ? endOfRows.call(query, packet) : query.row;
  };
  query.on('error', reject);
  query.on('end', resolve);
  return promise.finally(() => connection.off('error', reject));
}

const BLOCK_BYTES = 256 * 1024;
/** Most blocks that wait to be taken. */
const BLOCKS_AHEAD = 4;

/** The rows as text, in blocks, with backpressure on the server. */
export async function* textOfRows(
  connection: Connection,
  select: string,
  onRow: () => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  const ready: Uint8Array[] = [];
  let block = Buffer.allocUnsafe(BLOCK_BYTES);
  let filled = 0;
  let changed = Promise.withResolvers<void>();
  let outcome: { error: unknown } | 'done' | null = null;
  const push = (): void => {
    if (filled > 0) ready.push(block.subarray(0, filled));
    block = Buffer.allocUnsafe(BLOCK_BYTES);
    filled = 0;
    changed.resolve();
  };
  const end = (how: NonNullable<typeof outcome>): void => {
    push();
    outcome = how;
  };
  const take = (row: RowPacket): void => {
    const most = mostBytesOf(row.end - row.offset);
    if (filled + most > block.length) push();
    if (most > block.length) for (const piece of piecesOfRow(row, BLOCK_BYTES)) ready.push(Buffer.from(piece));
    else filled = writeRow(row, block, filled);
    if (ready.length > 0) changed.resolve();
    onRow();
    if (ready.length >= BLOCKS_AHEAD) connection.pause();
  };
  forEachRow(connection, select, { take }).then(
    () => end('done'),
    (error) => end({ error }),
  );
  try {
    while (true) {
      const next = ready.shift();
      if (next) yield next;
      else if (outcome !== null) break;
      else {
        connection.resume();
        await changed.promise;
        changed = Promise.withResolvers();
      }
    }
  } finally {
    // Whatever is still on its way would be taken for the answer to the next question.
    if (outcome === null) connection.destroy();
  }
  if (outcome !== 'done') throw (outcome as { error: unknown }).error;
}
