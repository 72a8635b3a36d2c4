import { Readable } from 'node:stream';
import type { QueryError, ResultSetHeader } from 'mysql2';
import type { DatabaseUrl } from '../../database-url.ts';
import { prepareSession } from '../../shared/connection/prepare-session.ts';
import { forEachRow, textOfRows } from '../dump/row-stream.ts';
import type { RowPacket } from '../dump/row-text.ts';
import { EMPTY_QUERY, RIGHT_MISSING } from './error-numbers.ts';
import { type Pieces, type SendOptions, statementSender } from './long-statement.ts';
import { type ConnectionWithSocket, type MysqlSessionOptions, openConnection } from './open-connection.ts';
import { quoteName } from './quote.ts';
import { SqlError, sessionError, unless } from './session-errors.ts';

/** A connection through mysql2, for both flavours, without installed programs. */
export interface MysqlSession extends AsyncDisposable {
  id: number;
  query<Row>(sql: string): Promise<Row[]>;
  /** The rows or the error of each statement; several share a packet where the session allows it. */
  queryEach<Row>(statements: string[]): Promise<(Row[] | SqlError)[]>;
  /** Runs a query like `query`, with values as raw bytes. */
  bytes(sql: string): Promise<Record<string, Buffer | null>[]>;
  /** Bytes are sent unchanged, whatever the client's character set. */
  execute(statement: string | Uint8Array): Promise<ExecuteResult>;
  /** In pieces, which may exceed the memory; each is copied before the next is read. */
  send(pieces: AsyncIterable<Uint8Array>): Promise<ExecuteResult>;
  /** Executes bytes unchanged, and drops the rows of their results as they arrive. */
  run(statement: Uint8Array): Promise<void>;
  /** `LOAD DATA LOCAL INFILE` with the content of its file. */
  load(statement: string, content: AsyncIterable<Uint8Array>): Promise<ExecuteResult>;
  /** `ended` follows the rows of each statement. */
  eachRow(select: string, take: (row: RowPacket) => void, ended?: () => void): Promise<void>;
  /** Rows as text, with backpressure. Leaving before the end ends the session. */
  text(select: string, onRow: () => void): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

export interface ExecuteResult {
  rows: number;
  warnings: number;
  info: string;
}

/**
 * Equal behaviour on all servers: plain grammar, UTC, zero dates, zeros in AUTO_INCREMENT columns, equal expressions, no limits.
 * Settings of one flavour are in comments that the other skips. https://mariadb.com/kb/en/comment-syntax/
 */
export const PLAIN_GRAMMAR =
  "SET NAMES utf8mb4, time_zone = '+00:00', sql_mode = 'NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES'";
/** The server's `init_connect` may have begun a transaction, which would end without COMMIT, and in which some settings are refused. */
export const NO_TRANSACTION = 'ROLLBACK AND NO CHAIN NO RELEASE';
export const SESSION_SETTINGS = [
  PLAIN_GRAMMAR,
  NO_TRANSACTION,
  'SET autocommit = 1, completion_type = 0, foreign_key_checks = 1, unique_checks = 1, sql_safe_updates = 0, sql_big_selects = 1, sql_select_limit = 18446744073709551615, wait_timeout = 86400, net_read_timeout = 3600, net_write_timeout = 3600',
  // Else a TIMESTAMP without a default gets one. By itself: MariaDB before 10.6.9 cannot change it.
  'SET explicit_defaults_for_timestamp = 1',
  // By itself: MySQL 9 requires a right for it.
  'SET max_error_count = 64',
  "SET sql_quote_show_create = 1, group_concat_max_len = 1048576, div_precision_increment = 4, default_week_format = 0, lc_time_names = 'en_US'",
  '/*!80000 SET max_execution_time = 0, information_schema_stats_expiry = 0 */',
  '/*!80030 SET sql_generate_invisible_primary_key = 0 */',
  '/*M!100600 SET max_statement_time = 0, idle_transaction_timeout = 0, check_constraint_checks = 1 */',
  '/*M!100304 SET system_versioning_asof = DEFAULT */',
];

/** The server's `init_connect` may have chosen another database. */
export function selectDatabase({ database }: Pick<DatabaseUrl, 'database'>): string[] {
  return database === null ? [] : [`USE ${quoteName(database)}`];
}

export interface SessionOptions extends MysqlSessionOptions {
  /** Instead of `SESSION_SETTINGS`; with none, the session is as the server begins it. */
  settings?: string[];
}

export async function openSession({ settings = SESSION_SETTINGS, ...options }: SessionOptions): Promise<MysqlSession> {
  return prepareSession(sessionOf(await openConnection(options), options), async (session) => {
    for (const setting of settings) await session.execute(setting).catch(unless(UNKNOWN_SETTING, null));
    if (settings.length > 0) for (const statement of selectDatabase(options.url)) await session.execute(statement);
  });
}

/**
 * Settings that a version lacks (`ER_UNKNOWN_SYSTEM_VARIABLE`) or cannot change (`ER_INCORRECT_GLOBAL_LOCAL_VAR`), or that need
 * an administrator, are skipped.
 */
const UNKNOWN_SETTING = [1193, 1238, EMPTY_QUERY, RIGHT_MISSING];

function sessionOf(
  { connection, socket }: ConnectionWithSocket,
  { signal, several = false }: Omit<MysqlSessionOptions, 'url'>,
): MysqlSession {
  const fail = (error: QueryError): never => {
    throw sessionError(error, signal);
  };
  const run = <Result>(sql: string, request?: SendRequest): Promise<Result> => {
    return runQuery<Result>({ connection, signal }, sql, request);
  };
  const sender = statementSender(connection);
  const sent = async (pieces: Pieces, options?: SendOptions): Promise<ResultSetHeader> => {
    signal?.throwIfAborted();
    return sender(pieces, options).catch(fail);
  };
  const session: MysqlSession = {
    id: connection.threadId,
    query: (sql) => run(sql),
    async queryEach<Row>(statements: string[]) {
      const answers: (Row[] | SqlError)[] = [];
      for (const packet of packetsOf(statements)) {
        const together = several && packet.length > 1 ? await refusable(run<Row[][]>(packet.join('\n;\n'))) : null;
        // The server stops at the refused statement and does not tell which one it is.
        if (Array.isArray(together)) answers.push(...together);
        else for (const statement of packet) answers.push(await refusable(run<Row[]>(statement)));
      }
      return answers;
    },
    bytes: (sql) => run(sql, { typeCast: false }),
    execute: async (statement) =>
      outcomeOf(await (typeof statement === 'string' ? run<ResultSetHeader>(statement) : sent([statement]))),
    async send(pieces) {
      const errors: unknown[] = [];
      const kept = keepingError(pieces, (error) => errors.push(error));
      return outcomeOf(await sent(kept).catch((error) => Promise.reject(errors.length > 0 ? errors[0] : error)));
    },
    async run(statement) {
      await sent([statement], { dropRows: true });
    },
    load: async (statement, content) => outcomeOf(await run<ResultSetHeader>(statement, { content })),
    eachRow: (select, take, ended) => forEachRow(connection, select, { take, ...(ended && { ended }) }).catch(fail),
    async *text(select, onRow) {
      try {
        yield* textOfRows(connection, select, onRow);
      } catch (error) {
        fail(error as QueryError);
      }
    },
    close: () =>
      new Promise((resolve) => {
        socket.once('close', () => resolve());
        if (socket.destroyed) resolve();
        else connection.end(() => socket.destroy());
      }),
    [Symbol.asyncDispose]: () => session.close(),
  };
  return session;
}

interface SendRequest {
  content?: AsyncIterable<Uint8Array>;
  typeCast?: false;
}

function runQuery<Result>(
  { connection, signal }: Pick<ConnectionWithSocket, 'connection'> & { signal: AbortSignal | undefined },
  sql: string,
  { content, typeCast }: SendRequest = {},
): Promise<Result> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    let unreadable: unknown;
    const options = {
      sql,
      ...(typeCast !== undefined && { typeCast }),
      ...(content && {
        infileStreamFactory: () =>
          Readable.from(copies(content), { objectMode: false }).on('error', (error) => {
            unreadable = error;
          }),
      }),
    };
    connection.query(options, (error, result) => {
      if (error) reject(unreadable ?? sessionError(error, signal));
      else resolve(result as Result);
    });
  });
}

function outcomeOf({ affectedRows, warningStatus, info }: ResultSetHeader): ExecuteResult {
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

async function* keepingError(pieces: AsyncIterable<Uint8Array>, keep: (error: unknown) => void) {
  try {
    yield* pieces;
  } catch (error) {
    keep(error);
    throw error;
  }
}

/** The producer reuses its memory when the next part is read, which a stream does early. */
async function* copies(content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const part of content) yield Buffer.from(part);
}
