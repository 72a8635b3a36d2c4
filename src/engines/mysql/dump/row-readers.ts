import { Worker } from 'node:worker_threads';
import { UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import { ConnectionLost, SqlError } from '../connection/session-errors.ts';
import type { RowReply, RowsRead, RowTask } from './row-worker.ts';

/** Reports the table that could not be read, by its place in the list, with the reason. */
export class ReadFailure extends Error {
  override readonly name = 'ReadFailure';
  readonly at: number;

  constructor(at: number, cause: Error) {
    super(cause.message, { cause });
    this.at = at;
  }
}

/** A session in a thread of its own, which writes rows to files. One thing at a time. */
export interface RowReader extends AsyncDisposable {
  execute(statement: string): Promise<void>;
  /** Appends the rows of a query to the file, as text, and the terminator; how many bytes the longest row has. */
  read(rows: { select: string; file: string }): Promise<number>;
  /** The same of several tables; rows that are few stay in memory, and have no file. Rejects with `ReadFailure`. */
  readSome(tables: { select: string; file: string }[]): Promise<RowsRead[]>;
}

/** Connects; ends with the signal, whatever it is doing. */
export async function openRowReader({
  url: { toJSON: _, ...url },
  signal,
}: {
  url: DatabaseUrl;
  signal: AbortSignal;
}): Promise<RowReader> {
  signal.throwIfAborted();
  const worker = new Worker(workerFile(), { name: 'rows' });
  let failedAt = 0;
  let waiting: PromiseWithResolvers<RowsRead[]> | null = null;
  worker.on('message', (reply: RowReply) => {
    if (reply.reply === 'done') waiting?.resolve(reply.read);
    else {
      failedAt = reply.at;
      waiting?.reject(errorOf(reply));
    }
  });
  const abort = (): void => {
    waiting?.reject(signal.reason);
    void worker.terminate();
  };
  worker.on('error', (error) => waiting?.reject(error));
  signal.addEventListener('abort', abort, { once: true });

  async function ask(task: RowTask): Promise<RowsRead[]> {
    signal.throwIfAborted();
    waiting = Promise.withResolvers();
    worker.postMessage(task);
    return await waiting.promise;
  }

  const reader: RowReader = {
    execute: async (statement) => void (await ask({ task: 'execute', statement })),
    async read(rows) {
      const [read] = await ask({ task: 'read', ...rows });
      return read?.longest ?? 0;
    },
    readSome: (tables) =>
      ask({ task: 'read-some', tables }).catch((error) => {
        throw new ReadFailure(failedAt, error);
      }),
    async [Symbol.asyncDispose]() {
      signal.removeEventListener('abort', abort);
      await worker.terminate();
    },
  };
  try {
    await ask({ task: 'connect', url });
    return reader;
  } catch (error) {
    await reader[Symbol.asyncDispose]();
    throw error;
  }
}

function errorOf({ of, message, errno }: Extract<RowReply, { reply: 'failed' }>): Error {
  if (of === 'server' && errno !== null) return new SqlError(message, errno);
  if (of === 'connection') return new ConnectionLost(message, errno);
  return new UserError('dump_failed', 'Rows cannot be written into the working directory', {
    details: [message],
    hint: 'Is the disk full? Nothing was stored.',
  });
}

/** The worker beside this module: TypeScript when run from source, its bundle in `dist/`. */
function workerFile(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? './row-worker.ts' : './row-worker.js', import.meta.url);
}
