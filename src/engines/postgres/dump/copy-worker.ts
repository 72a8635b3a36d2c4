import { createHash } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { FRAME_BYTES } from '../../../repository/objects/object-format.ts';
import {
  createPacker,
  isIntact,
  type PackedContent,
  type StoredObject,
  writeWhole,
} from '../../../repository/objects/pack-object.ts';
import { release } from '../../../repository/objects/release.ts';
import { SqlError } from '../connection/session-errors.ts';
import { openWire, type Wire } from '../connection/wire.ts';
import type { WireAddress } from '../connection/wire-login.ts';
import { DATA_TERMINATOR, TERMINATOR_LINES } from './archive.ts';

/** Tasks of a thread that reads rows, one after the other: it has one session. */
export type CopyTask =
  | { task: 'connect'; address: WireAddress; statements: string[] }
  | { task: 'read'; statement: string; destination: string; stored: StoredObject | null };

export type CopyReply =
  | { reply: 'connected' }
  | { reply: 'bytes'; bytes: number }
  | { reply: 'read'; packed: PackedContent }
  | { reply: 'failed'; message: string; sqlstate: string | null; code: string | null };

const port = parentPort;
if (!port) throw new Error('copy-worker runs in a worker thread only');
const tell = (reply: CopyReply): void => port.postMessage(reply);
let wire: Wire | null = null;
let last: Promise<void> = Promise.resolve();

port.on('message', (task: CopyTask | null) => {
  if (task === null) process.exit();
  // Its statement is sent while the rows of the one before still come; the replies keep the order.
  const working = task.task === 'read' ? read(task) : open(task);
  working.catch(() => {});
  last = last
    .then(() => working)
    .then(tell, (error: NodeJS.ErrnoException) => {
      const sqlstate = error instanceof SqlError ? error.sqlstate : null;
      tell({ reply: 'failed', message: error.message, sqlstate, code: error.code ?? null });
    });
});

async function open({ address, statements }: CopyTask & { task: 'connect' }): Promise<CopyReply> {
  const opened = await openWire(address);
  await Promise.all(statements.map((statement) => opened.execute(statement)));
  wire = opened;
  return { reply: 'connected' };
}

/** Rows from the socket into frames, which are hashed and compressed here: no other thread, and no file, has them in between. */
async function read({ statement, destination, stored }: CopyTask & { task: 'read' }): Promise<CopyReply> {
  if (!wire) throw new Error('not connected');
  const sink =
    stored && stored.bytes <= MOST_KEPT_BYTES ? comparingSink(destination, stored) : packingSink(destination);
  const frame = Buffer.allocUnsafeSlow(FRAME_BYTES);
  let filled = 0;
  const flush = (): void => {
    sink.add(frame.subarray(0, filled));
    tell({ reply: 'bytes', bytes: filled });
    filled = 0;
  };
  const take = (buffer: Buffer, from: number, to: number): void => {
    for (let at = from; at < to; ) {
      const copied = buffer.copy(frame, filled, at, to);
      filled += copied;
      at += copied;
      if (filled === FRAME_BYTES) flush();
    }
  };
  try {
    const rows = await wire.copyOut(statement, take);
    const end = Buffer.from(DATA_TERMINATOR);
    take(end, 0, end.length);
    if (filled > 0) flush();
    return { reply: 'read', packed: { ...sink.finish(), lines: rows + TERMINATOR_LINES } };
  } finally {
    sink.close();
    release(frame);
  }
}

interface Sink {
  /** The memory is reused. */
  add(content: Buffer): void;
  finish(): PackedContent;
  close(): void;
}

function packingSink(destination: string): Sink {
  const output = openSync(destination, 'wx', 0o600);
  const packer = createPacker(DATA_TERMINATOR);
  return {
    add: (content) => {
      // Each row is a line, and rows are counted as they come.
      const packed = packer.add(content, 0);
      writeWhole(output, packed);
      release(packed);
    },
    finish() {
      const { table, packed } = packer.finish();
      writeWhole(output, table);
      return { ...packed, isStored: false };
    },
    close: () => closeSync(output),
  };
}

/** Bytes of a probably unchanged range that are kept until it is known whether they must be compressed. */
const MOST_KEPT_BYTES = 12 * FRAME_BYTES;

/** Content that the store has is not compressed again: checksums cost a fraction of it. */
function comparingSink(destination: string, stored: StoredObject): Sink {
  const kept: Buffer<ArrayBuffer>[] = [];
  let bytes = 0;
  let packing: Sink | null = null;
  const pack = (): Sink => {
    packing = packingSink(destination);
    for (const content of kept.splice(0)) {
      packing.add(content);
      release(content);
    }
    return packing;
  };
  return {
    add(content) {
      bytes += content.length;
      if (packing) return packing.add(content);
      const copy = Buffer.allocUnsafeSlow(content.length);
      content.copy(copy);
      kept.push(copy);
      if (bytes > stored.bytes) pack();
    },
    finish() {
      const hash = createHash('sha256');
      for (const content of kept) hash.update(content);
      if (packing || hash.digest('hex') !== stored.sha256 || !isIntact(stored.path, stored.storedSha256)) {
        return (packing ?? pack()).finish();
      }
      for (const content of kept.splice(0)) release(content);
      const { sha256, storedBytes, storedSha256 } = stored;
      return { sha256, bytes, storedBytes, storedSha256, lines: 0, terminated: true, isStored: true };
    },
    close: () => packing?.close(),
  };
}
