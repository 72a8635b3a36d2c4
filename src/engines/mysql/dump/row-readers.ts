import { UserError } from '../../../runtime/errors.ts';
import { createThreadPool, workerFile } from '../../../runtime/thread-pool.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import { ConnectionLost, SqlError } from '../connection/session-errors.ts';
import type { RowReply, RowsRead, RowsToRead, RowTask } from './row-worker.ts';

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
  /** Appends the rows of queries to the files, as text, and the terminator. Rejects with `ReadFailure`. */
  read(tables: RowsToRead[]): Promise<RowsRead[]>;
}

/** Connects; ends with the signal, whatever it is doing. */
export async function openRowReader({ url: { toJSON: _, ...url }, signal }: { url: DatabaseUrl; signal: AbortSignal }) {
  const file = workerFile(import.meta.url, 'row-worker');
  const threads = createThreadPool<RowTask, RowReply>({ file, name: 'rows', size: 1, signal });
  let failedAt = 0;

  async function ask(task: RowTask): Promise<RowsRead[]> {
    using channel = await threads.acquire();
    channel.send(task);
    const reply = await channel.receive();
    if (reply.reply === 'done') return reply.read;
    failedAt = reply.at;
    throw errorOf(reply);
  }

  const reader: RowReader = {
    execute: async (statement) => void (await ask({ task: 'execute', statement })),
    read: (tables) =>
      ask({ task: 'read', tables }).catch((error) => {
        throw new ReadFailure(failedAt, error);
      }),
    [Symbol.asyncDispose]: () => threads.close(),
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
