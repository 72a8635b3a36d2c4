import { closeSync, openSync, writeSync } from 'node:fs';
import type { Connection } from 'mysql2';
import { performTasks } from '../../../runtime/thread-pool.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import { openConnection } from '../connection/open-connection.ts';
import { packetsOf, SESSION_SETTINGS, selectDatabase } from '../connection/session.ts';
import { ConnectionLost, SqlError } from '../connection/session-errors.ts';
import { RowBlocks } from './row-blocks.ts';
import { forEachRow } from './row-stream.ts';
import { ROWS_TERMINATOR } from './row-text.ts';

/** Tasks of a thread that reads rows, one after the other: it has one session, and so one instant. */
export type RowTask =
  | { task: 'connect'; url: Omit<DatabaseUrl, 'toJSON'> }
  | { task: 'execute'; statement: string }
  /** Reads tables one after the other. */
  | { task: 'read'; tables: RowsToRead[] };

export interface RowsToRead {
  select: string;
  file: string;
  /** They are probably few: they stay in memory when they fit into a block. */
  inMemory: boolean;
}

export interface RowsRead {
  /** Bytes of the longest row that was read, as text. */
  longest: number;
  /** The rows and their terminator; `null` where they are in the file. */
  content: Uint8Array<ArrayBuffer> | null;
}

export type RowReply =
  | { reply: 'done'; read: RowsRead[] }
  /** `at`: how many tables of the task had been read. */
  | { reply: 'failed'; of: 'server' | 'connection' | 'file'; message: string; errno: number | null; at: number };

const BLOCK_BYTES = 1024 * 1024;
/** Most bytes of several tables to keep in memory; the rows of further ones go into files. */
const MOST_KEPT_BYTES = 4 * BLOCK_BYTES;
/** One table is read at a time. */
const block = Buffer.allocUnsafeSlow(BLOCK_BYTES);

let connection: Connection | null = null;
/** Tables of the task that have been read. */
let at = 0;

performTasks<RowTask, RowReply>(async (task, answer) => {
  try {
    const read = await work(task);
    const memory = read.flatMap(({ content }) => (content ? [content.buffer] : []));
    answer({ reply: 'done', read }, memory);
  } catch (thrown) {
    const errno = thrown instanceof SqlError || thrown instanceof ConnectionLost ? thrown.errno : null;
    const of = thrown instanceof SqlError ? 'server' : thrown instanceof ConnectionLost ? 'connection' : 'file';
    answer({ reply: 'failed', of, message: (thrown as Error).message, errno, at });
  }
});

async function work(task: RowTask): Promise<RowsRead[]> {
  at = 0;
  switch (task.task) {
    case 'connect': {
      const opened = await openConnection({
        url: { ...task.url, toJSON: () => task.url.display },
        several: true,
      });
      connection = opened.connection;
      for (const setting of SESSION_SETTINGS) await execute(setting).catch(() => {});
      for (const statement of selectDatabase(task.url)) await execute(statement);
      // Bytes as they are stored: what a conversion would lose is kept.
      await execute('SET character_set_results = NULL');
      return [];
    }
    case 'execute':
      await execute(task.statement);
      return [];
    case 'read':
      return await readAll(task.tables);
    default:
      return task satisfies never;
  }
}

function execute(statement: string): Promise<void> {
  return new Promise((resolve, reject) => {
    connected().query(statement, (error) => (error ? reject(translated(error)) : resolve()));
  });
}

/** One table after the other: their queries travel together, since waiting for each answer takes longer than reading it. */
async function readAll(tables: RowsToRead[]): Promise<RowsRead[]> {
  const read: RowsRead[] = [];
  let kept = 0;
  // Tables may be larger than the server thinks.
  const nextSink = (): RowSink => {
    const next = tables[at];
    return new RowSink(next?.file ?? '', { inMemory: !next || (next.inMemory && kept < MOST_KEPT_BYTES) });
  };
  for (const packet of packetsOf(tables.map(({ select }) => select))) {
    let sink = nextSink();
    try {
      const ended = (): void => {
        const rows = sink.end();
        sink.close();
        read.push(rows);
        kept += rows.content?.length ?? 0;
        at += 1;
        sink = nextSink();
      };
      const long = {
        takePart: (part: Uint8Array): void => sink.rows.takePart(part),
        endRow: (): void => sink.rows.endRow(),
      };
      await forEachRow(connected(), packet.join('\n;\n'), { take: (row) => sink.rows.take(row), long, ended }).catch(
        (error) => {
          throw sink.unwritable ?? translated(error);
        },
      );
    } finally {
      sink.close();
    }
  }
  return read;
}

/** Rows as text: in the file, or in memory when they fit into a block. */
class RowSink {
  readonly rows: RowBlocks;
  /** Error of writing the file. */
  unwritable: unknown = null;
  readonly #file: string;
  #output: number | null = null;

  constructor(file: string, { inMemory }: { inMemory: boolean }) {
    this.#file = file;
    this.rows = new RowBlocks(block, (text) => {
      this.#write(text);
      return block;
    });
    if (!inMemory) this.#output = openSync(file, 'a', 0o600);
  }

  end(): RowsRead {
    this.rows.append(ROWS_TERMINATOR);
    const { longest } = this.rows;
    if (this.#output === null) return { longest, content: new Uint8Array(this.rows.rest) };
    this.rows.flush();
    return { longest, content: null };
  }

  close(): void {
    if (this.#output !== null) closeSync(this.#output);
    this.#output = null;
  }

  #write(text: Uint8Array): void {
    try {
      this.#output ??= openSync(this.#file, 'a', 0o600);
      for (let written = 0; written < text.length; ) written += writeSync(this.#output, text, written);
    } catch (error) {
      this.unwritable = error;
      throw error;
    }
  }
}

function connected(): Connection {
  if (!connection) throw new Error('the thread is not connected');
  return connection;
}

function translated(error: Error & { errno?: number | undefined }): Error {
  return error.errno && error.errno > 0 ? new SqlError(error.message, error.errno) : new ConnectionLost(error.message);
}
