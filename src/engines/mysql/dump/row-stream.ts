import type { Connection, Query } from 'mysql2';
import { divertLongRows, type LongRowTaker } from './long-rows.ts';
import { RowBlocks } from './row-blocks.ts';
import type { RowPacket } from './row-text.ts';

/** Method of the driver's query that its types omit: the driver calls it for every packet that holds a row. */
interface QueryOfRows extends Query {
  row(packet: RowPacket & { isEOF(): boolean }): unknown;
}

export interface RowTaker {
  take(row: RowPacket): void;
  /** Takes rows of 64 kB and more as they arrive, in the place of `take`. Without it the driver assembles them. */
  long?: LongRowTaker;
  /** Called after the rows of each query, where a packet has several. */
  ended?(): void;
}

/** Rows as the server sends them: as objects of JavaScript they would cost ten times as much. */
export function forEachRow(connection: Connection, select: string, { take, long, ended }: RowTaker): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // A connection that has been closed takes no query, and says so itself: the query would never end.
  connection.on('error', reject);
  const query = connection.query(select) as QueryOfRows;
  const endOfRows = query.row;
  let failed = false;
  /** The driver loses errors that are thrown while it reads packets. */
  const attempt = <Value>(step: (value: Value) => void, value: Value): void => {
    if (failed) return;
    try {
      step(value);
    } catch (error) {
      failed = true;
      reject(error);
    }
  };
  query.row = (packet) => {
    if (!packet.isEOF()) {
      attempt(take, packet);
      return query.row;
    }
    if (ended) attempt(ended, undefined);
    return endOfRows.call(query, packet);
  };
  if (long) {
    const attempted = {
      takePart: (part: Uint8Array): void => attempt((bytes) => long.takePart(bytes), part),
      endRow: (): void => attempt(() => long.endRow(), undefined),
    };
    query.once('fields', () => query.once('end', divertLongRows(connection, attempted)));
  }
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
  let changed = Promise.withResolvers<void>();
  let outcome: { error: unknown } | 'done' | null = null;
  const blocks = new RowBlocks(Buffer.allocUnsafe(BLOCK_BYTES), (text) => {
    ready.push(text);
    changed.resolve();
    if (ready.length >= BLOCKS_AHEAD) connection.pause();
    return Buffer.allocUnsafe(BLOCK_BYTES);
  });
  const end = (how: NonNullable<typeof outcome>): void => {
    blocks.flush();
    outcome = how;
    changed.resolve();
  };
  const take = (row: RowPacket): void => {
    blocks.take(row);
    onRow();
  };
  const endRow = (): void => {
    blocks.endRow();
    onRow();
  };
  forEachRow(connection, select, { take, long: { takePart: (part) => blocks.takePart(part), endRow } }).then(
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
