import { Readable } from 'node:stream';
import type { QueryError, ResultSetHeader } from 'mysql2';
import { prepareSession } from '../../shared/connection/prepare-session.ts';
import { forEachRow, textOfRows } from '../dump/row-stream.ts';
import type { RowPacket } from '../dump/row-text.ts';
import { EMPTY_QUERY, RIGHT_MISSING } from './error-numbers.ts';
import { type SendOptions, statementSender } from './long-statement.ts';
import { type ConnectionWithSocket, type MysqlSessionOptions, openConnection } from './open-connection.ts';
import { SqlError, sessionError, unless } from './session-errors.ts';

export interface ExecuteResult {
  rows: number;
  warnings: number;
  info: string;
}

/**
 * Equal behaviour on all servers: plain grammar, UTC, zero dates, zeros in AUTO_INCREMENT columns, no limits of time and rows.
 * Settings of one flavour are in comments that the other skips. https://mariadb.com/kb/en/comment-syntax/
 */
export const PLAIN_GRAMMAR =
  "SET NAMES utf8mb4, time_zone = '+00:00', sql_mode = 'NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES'";
export const SESSION_SETTINGS = [
  PLAIN_GRAMMAR,
  'SET sql_quote_show_create = 1, wait_timeout = 86400, net_read_timeout = 3600, net_write_timeout = 3600',
  'SET group_concat_max_len = 1048576, max_error_count = 64',
  'SET autocommit = 1, completion_type = 0, unique_checks = 1, sql_safe_updates = 0, sql_big_selects = 1, sql_select_limit = 18446744073709551615',
  '/*!80000 SET max_execution_time = 0, information_schema_stats_expiry = 0 */',
  '/*!80030 SET sql_generate_invisible_primary_key = 0 */',
  '/*M!100600 SET max_statement_time = 0, idle_transaction_timeout = 0 */',
];

export interface SessionOptions extends MysqlSessionOptions {
  /** Instead of `SESSION_SETTINGS`. */
  settings?: string[];
}

export async function openSession({ settings = SESSION_SETTINGS, ...options }: SessionOptions): Promise<MysqlSession> {
  return prepareSession(new DriverSession(await openConnection(options), options), async (session) => {
    for (const setting of settings) await session.execute(setting).catch(unless(UNKNOWN_SETTING, null));
  });
}

/** Settings that a version lacks (`ER_UNKNOWN_SYSTEM_VARIABLE`), or that need an administrator, are skipped. */
const UNKNOWN_SETTING = [1193, EMPTY_QUERY, RIGHT_MISSING];

/** A connection through mysql2, for both flavours, without installed programs. */
export type MysqlSession = Pick<DriverSession, keyof DriverSession>;

class DriverSession implements AsyncDisposable {
  readonly id: number;
  readonly #connection: ConnectionWithSocket['connection'];
  readonly #socket: ConnectionWithSocket['socket'];
  readonly #signal: AbortSignal | undefined;
  readonly #several: boolean;
  readonly #sender: ReturnType<typeof statementSender>;

  constructor(
    { connection, socket }: ConnectionWithSocket,
    { signal, several = false }: Omit<MysqlSessionOptions, 'url'>,
  ) {
    this.id = connection.threadId;
    this.#connection = connection;
    this.#socket = socket;
    this.#signal = signal;
    this.#several = several;
    this.#sender = statementSender(connection);
  }

  query<Row>(sql: string): Promise<Row[]> {
    return this.#run(sql);
  }

  /** Returns the rows or the error of each statement; several share a packet where the session allows it. */
  async queryEach<Row>(statements: string[]): Promise<(Row[] | SqlError)[]> {
    const answers: (Row[] | SqlError)[] = [];
    for (const packet of packetsOf(statements)) {
      const isOne = !this.#several || packet.length === 1;
      const together = isOne ? null : await refusable(this.#run<Row[][]>(packet.join('\n;\n')));
      // The server stops at the refused statement and does not tell which one it is.
      if (Array.isArray(together)) answers.push(...together);
      else for (const statement of packet) answers.push(await refusable(this.#run<Row[]>(statement)));
    }
    return answers;
  }

  /** Runs a query like `query`, with values as raw bytes. */
  bytes(sql: string): Promise<Record<string, Buffer | null>[]> {
    return this.#run(sql, { typeCast: false });
  }

  /** Bytes are sent unchanged, whatever the client's character set. */
  async execute(statement: string | Uint8Array): Promise<ExecuteResult> {
    return resultOf(
      await (typeof statement === 'string' ? this.#run<ResultSetHeader>(statement) : this.#send(statement)),
    );
  }

  /** Sends pieces, which may exceed the memory; each is copied before the next is read. */
  async send(pieces: AsyncIterable<Uint8Array>): Promise<ExecuteResult> {
    this.#signal?.throwIfAborted();
    const unreadable: unknown[] = [];
    const kept = keepingError(pieces, (error) => unreadable.push(error));
    return resultOf(
      await this.#sender(kept).catch((error) => {
        throw unreadable.length > 0 ? unreadable[0] : sessionError(error, this.#signal);
      }),
    );
  }

  /** Executes bytes unchanged, and drops the rows of their results as they arrive. */
  async run(statement: Uint8Array): Promise<void> {
    await this.#send(statement, { dropRows: true });
  }

  /** `LOAD DATA LOCAL INFILE` with the content of its file. */
  async load(statement: string, content: AsyncIterable<Uint8Array>): Promise<ExecuteResult> {
    return resultOf(await this.#run<ResultSetHeader>(statement, { content }));
  }

  /** `ended` follows the rows of each statement. */
  eachRow(select: string, take: (row: RowPacket) => void, ended?: () => void): Promise<void> {
    return forEachRow(this.#connection, select, { take, ...(ended && { ended }) }).catch((error) => {
      throw sessionError(error, this.#signal);
    });
  }

  /** Yields rows as text, with backpressure. Leaving before the end ends the session. */
  async *text(select: string, onRow: () => void): AsyncGenerator<Uint8Array> {
    try {
      yield* textOfRows(this.#connection, select, onRow);
    } catch (error) {
      throw sessionError(error as QueryError, this.#signal);
    }
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.once('close', () => resolve());
      if (this.#socket.destroyed) resolve();
      else this.#connection.end(() => this.#socket.destroy());
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #run<Result>(sql: string, { content, typeCast }: SendRequest = {}): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#signal?.throwIfAborted();
      let unreadable: unknown;
      const infileStreamFactory = (): Readable =>
        Readable.from(copies(content ?? []), { objectMode: false }).on('error', (error) => {
          unreadable = error;
        });
      const options = { sql, ...(typeCast !== undefined && { typeCast }), ...(content && { infileStreamFactory }) };
      this.#connection.query(options, (error, result) => {
        if (error) reject(unreadable ?? sessionError(error, this.#signal));
        else resolve(result as Result);
      });
    });
  }

  async #send(statement: Uint8Array, options?: SendOptions): Promise<ResultSetHeader> {
    this.#signal?.throwIfAborted();
    return this.#sender([statement], options).catch((error) => {
      throw sessionError(error, this.#signal);
    });
  }
}

function resultOf({ affectedRows, warningStatus, info }: ResultSetHeader): ExecuteResult {
  return { rows: affectedRows, warnings: warningStatus, info };
}

/** Limits of a packet, below those of any server. */
const STATEMENTS_TOGETHER = 100;
const PACKET_CHARACTERS = 64 * 1024;

export function packetsOf(statements: string[]): string[][] {
  const packets: string[][] = [];
  let characters = 0;
  for (const statement of statements) {
    const last = packets.at(-1);
    characters += statement.length;
    if (last && last.length < STATEMENTS_TOGETHER && characters <= PACKET_CHARACTERS) last.push(statement);
    else {
      packets.push([statement]);
      characters = statement.length;
    }
  }
  return packets;
}

function refusable<Result>(answer: Promise<Result>): Promise<Result | SqlError> {
  return answer.catch((error) => {
    if (error instanceof SqlError) return error;
    throw error;
  });
}

async function* keepingError(
  pieces: AsyncIterable<Uint8Array>,
  keep: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* pieces;
  } catch (error) {
    keep(error);
    throw error;
  }
}

interface SendRequest {
  content?: AsyncIterable<Uint8Array>;
  typeCast?: false;
}

/** The producer reuses its memory when the next part is read, which a stream does early. */
async function* copies(content: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const part of content) yield Buffer.from(part);
}
