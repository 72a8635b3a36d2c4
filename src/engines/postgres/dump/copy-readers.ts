import { Worker } from 'node:worker_threads';
import type { PackedContent, StoredObject } from '../../../repository/objects/pack-object.ts';
import { endThread, workerFile } from '../../../runtime/thread-pool.ts';
import type { EngineContext } from '../../engine-context.ts';
import { ConnectionLost, SqlError } from '../connection/session-errors.ts';
import type { WireAddress } from '../connection/wire-login.ts';
import type { CopyReply, CopyTask } from './copy-worker.ts';

/** A session in a thread of its own, which reads, hashes and compresses rows. Reads follow each other; its end waits for them. */
export interface CopyReader extends AsyncDisposable {
  read(rows: RowsToRead): Promise<PackedContent>;
}

export interface RowsToRead {
  /** `COPY … TO STDOUT`. */
  statement: string;
  destination: string;
  stored: StoredObject | null;
  onBytes: (bytes: number) => void;
}

/** Connects; ends with the signal, whatever it is doing. `null` where it cannot connect: psql knows more ways, and tells why. */
export async function openCopyReader(
  { signal, report }: Pick<EngineContext, 'signal' | 'report'>,
  { address, statements }: { address: WireAddress; statements: string[] },
): Promise<CopyReader | null> {
  signal.throwIfAborted();
  const worker = new Worker(workerFile(import.meta.url, 'copy-worker'), { name: 'copy', resourceLimits: HEAP });
  const waiting: (PromiseWithResolvers<PackedContent | null> & { onBytes: (bytes: number) => void })[] = [];
  const end = (error: Error): void => {
    for (const { reject } of waiting.splice(0)) reject(error);
  };
  worker.on('message', (reply: CopyReply) => {
    if (reply.reply === 'bytes') waiting[0]?.onBytes(reply.bytes);
    else if (reply.reply === 'failed') waiting.shift()?.reject(errorOf(reply));
    else waiting.shift()?.resolve(reply.reply === 'read' ? reply.packed : null);
  });
  worker.on('error', ({ message }) => end(new ConnectionLost(message)));
  worker.on('exit', () => end(new ConnectionLost('the thread that reads rows has ended')));
  const abort = (): void => {
    end(signal.reason);
    void endThread(worker);
  };
  signal.addEventListener('abort', abort, { once: true });

  async function ask(task: CopyTask, onBytes: (bytes: number) => void = () => {}): Promise<PackedContent | null> {
    signal.throwIfAborted();
    const answer = { ...Promise.withResolvers<PackedContent | null>(), onBytes };
    waiting.push(answer);
    worker.postMessage(task);
    return await answer.promise;
  }

  const reader: CopyReader = {
    async read({ onBytes, ...rows }) {
      const startedAt = performance.now();
      const tell = (sqlstate: string | null): void => {
        const duration_ms = Math.round(performance.now() - startedAt);
        report({ event: 'statement', statement: rows.statement, sqlstate, duration_ms });
      };
      const packed = await ask({ task: 'read', ...rows }, onBytes).catch((error) => {
        tell(error instanceof SqlError ? error.sqlstate : null);
        throw error;
      });
      tell('00000');
      if (!packed) throw new Error('the thread has read nothing');
      return packed;
    },
    async [Symbol.asyncDispose]() {
      await Promise.allSettled(waiting.map(({ promise }) => promise));
      signal.removeEventListener('abort', abort);
      await endThread(worker);
    },
  };
  try {
    await ask({ task: 'connect', address, statements });
    return reader;
  } catch (error) {
    await reader[Symbol.asyncDispose]();
    signal.throwIfAborted();
    if (error instanceof SqlError || error instanceof ConnectionLost) return null;
    throw error;
  }
}

/** Frames are outside the heap. */
const HEAP = { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 64 };

function errorOf({ message, sqlstate, code }: Extract<CopyReply, { reply: 'failed' }>): Error {
  if (sqlstate !== null) return new SqlError(message, sqlstate);
  return code === null ? new ConnectionLost(message) : Object.assign(new Error(message), { code });
}
