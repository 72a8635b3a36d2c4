import { statSync } from 'node:fs';
import { createThreadPool, type TaskChannel, type ThreadPool, workerFile } from '../../runtime/thread-pool.ts';
import { syncPath } from '../../runtime/write-file.ts';
import { FRAME_BYTES } from './object-format.ts';
import type { WorkerAnswer, WorkerTask } from './object-worker.ts';
import {
  type ContentToPack,
  isIntact,
  type PackedContent,
  packContents,
  packOrFind,
  type StoredObject,
} from './pack-object.ts';
import { type ObjectToRead, readFrames } from './read-object.ts';

export interface PackJob {
  source: string;
  destination: string;
  /** Ends a complete source; `null` when only its writer knows the end. */
  terminator: string | null;
  onBytes: (bytes: number) => void;
  /** Settles when the source is complete; absent where it is. */
  grown?: Promise<unknown> | undefined;
  /** An object that a complete source is likely to be equal to. */
  stored?: StoredObject | null | undefined;
}

/**
 * Worker threads that compress, decompress and hash; one task per thread, further ones wait. The first small contents
 * are worked on in the event loop, which takes less time than starting a thread.
 */
export interface ObjectPool extends AsyncDisposable {
  pack(job: PackJob): Promise<PackedContent>;
  /** Packs contents in memory, which are transferred, beside the objects of a store's folder. */
  packContents(contents: ContentToPack[], store: string): Promise<PackedContent[]>;
  read(object: ObjectToRead): AsyncGenerator<Uint8Array<ArrayBuffer>, void>;
  check(object: ObjectToRead, onBytes: (bytes: number) => void): Promise<void>;
  checkStored(object: ObjectToRead, storedSha256: string | undefined): Promise<void>;
  /** Reports whether the object is there as it was packed, and makes it young. */
  isIntact(object: StoredObject): Promise<boolean>;
}

const READ_AHEAD = 2;

/** Bytes that a pool works on in the event loop, and the most of them at once: a few milliseconds. */
const BYTES_WITHOUT_THREAD = 8 * FRAME_BYTES;
const BYTES_AT_ONCE = FRAME_BYTES;
/** The frames are outside the heap. */
const HEAP = { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 64 };
/** Less than any content has. */
const CLOSED = -1;

type Channel = TaskChannel<WorkerTask, WorkerAnswer>;

type Threads = ThreadPool<WorkerTask, WorkerAnswer>;

export interface ObjectPoolOptions {
  /** With more bytes than a few objects have, the first thread starts at once. */
  expectedBytes?: number;
  /** Ends the work with it. */
  signal?: AbortSignal;
}

export function createObjectPool(size: number, { expectedBytes = 0, signal }: ObjectPoolOptions = {}): ObjectPool {
  const file = workerFile(import.meta.url, 'object-worker');
  const threads = createThreadPool<WorkerTask, WorkerAnswer>({ file, name: 'objects', size, heap: HEAP });
  let bytesLeft = BYTES_WITHOUT_THREAD;
  const packing = new Set<Promise<unknown>>();

  /** Work in the event loop, for which `close` waits. */
  const here = async <Result>(work: Promise<Result>): Promise<Result> => {
    packing.add(work);
    return await work.finally(() => packing.delete(work));
  };

  const needsThread = (bytes: number): boolean => {
    if (threads.isStarted() || bytes > Math.min(BYTES_AT_ONCE, bytesLeft)) return true;
    bytesLeft -= bytes;
    return false;
  };
  if (expectedBytes > BYTES_WITHOUT_THREAD) threads.start();

  const pool: ObjectPool = {
    async pack({ onBytes, grown, stored = null, ...files }) {
      if (!grown && !needsThread(statSync(files.source).size)) {
        const packed = packOrFind({ ...files, stored, complete: () => true, wait() {}, onBytes });
        if (!packed.isStored) await here(syncPath(files.destination));
        return packed;
      }
      const packed = await packInThread(threads, { ...files, onBytes, grown, stored });
      // The thread goes on meanwhile.
      if (!packed.isStored) await syncPath(files.destination);
      return packed;
    },

    async packContents(contents, store) {
      const bytes = contents.reduce((sum, { content }) => sum + content.length, 0);
      if (!needsThread(bytes)) return await here(packContents(contents, store));
      using exchange = await threads.acquire();
      return await sendContents(exchange, { contents, store });
    },

    async *read(object) {
      if (!needsThread(object.bytes)) {
        yield* readFrames(object);
        return;
      }
      using exchange = await threads.acquire();
      yield* readInThread(exchange, object);
    },

    async check(object, onBytes) {
      using exchange = await threads.acquire();
      exchange.send({ task: 'check', ...object });
      await answerAfterBytes(exchange, onBytes);
    },

    async checkStored(object, storedSha256) {
      using exchange = await threads.acquire();
      exchange.send({ task: 'check-stored', ...object, storedSha256 });
      await exchange.receive();
    },

    async isIntact({ path, storedSha256, storedBytes }) {
      if (!needsThread(storedBytes)) return isIntact(path, storedSha256);
      using exchange = await threads.acquire();
      exchange.send({ task: 'is-intact', path, storedSha256 });
      const message = await exchange.receive();
      return message.reply === 'intact' && message.isIntact;
    },

    async [Symbol.asyncDispose]() {
      bytesLeft = CLOSED;
      await Promise.allSettled(packing);
      await threads.close();
    },
  };
  signal?.addEventListener('abort', () => void pool[Symbol.asyncDispose](), { once: true });
  return pool;
}

async function packInThread(threads: Threads, { onBytes, grown, stored, ...files }: PackJob): Promise<PackedContent> {
  const complete = new SharedArrayBuffer(4);
  const isComplete = (): void => raise(complete);
  if (grown !== undefined) grown.then(isComplete, isComplete);
  else isComplete();
  using exchange = await threads.acquire();
  exchange.send({ task: 'pack', ...files, complete, stored: grown === undefined ? (stored ?? null) : null });
  const message = await answerAfterBytes(exchange, onBytes);
  if (message.reply !== 'packed') throw new Error(`the thread answered ${message.reply}`);
  return message.packed;
}

/** Reports the bytes of a task until it has ended. */
async function answerAfterBytes(exchange: Channel, onBytes: (bytes: number) => void): Promise<WorkerAnswer> {
  let message = await exchange.receive();
  for (; message.reply === 'bytes'; message = await exchange.receive()) onBytes(message.bytes);
  return message;
}

async function sendContents(
  exchange: Channel,
  { contents, store }: { contents: ContentToPack[]; store: string },
): Promise<PackedContent[]> {
  const memory = new Set(contents.map(({ content }) => content.buffer));
  exchange.send({ task: 'pack-contents', contents, store }, [...memory]);
  const message = await exchange.receive();
  if (message.reply !== 'packed-contents') throw new Error(`the thread answered ${message.reply}`);
  return message.packed;
}

function raise(memory: SharedArrayBuffer): void {
  const flag = new Int32Array(memory);
  Atomics.store(flag, 0, 1);
  Atomics.notify(flag, 0);
}

async function* readInThread(exchange: Channel, object: ObjectToRead): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  if (object.bytes <= FRAME_BYTES) {
    exchange.send({ task: 'read-whole', ...object });
    const message = await exchange.receive();
    if (message.reply !== 'frames') throw new Error(`the thread answered ${message.reply}`);
    yield* message.frames;
    return;
  }
  exchange.send({ task: 'read', ...object });
  for (let ahead = 0; ahead < READ_AHEAD; ahead += 1) exchange.send({ task: 'next' });
  try {
    yield* frames(exchange);
  } finally {
    exchange.send({ task: 'close' });
  }
}

async function* frames(exchange: Channel): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  while (true) {
    const message = await exchange.receive();
    if (message.reply !== 'frame' || message.frame === null) return;
    yield message.frame;
    exchange.send({ task: 'next' });
  }
}
