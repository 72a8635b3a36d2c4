import type { MysqlSession } from '../../connection/session.ts';
import { packetLimit, StatementTooLong } from './packet-limit.ts';
import { rowStatements, type StatementPiece } from './row-statements.ts';

export interface InsertOptions {
  table: string;
  columns: string[];
  /** Columns that take text and no bytes. */
  texts: string[];
  content: AsyncIterable<Uint8Array>;
  /** Bytes of the longest row, where they are known. */
  longest_row?: number;
  /** The session is in a transaction, which ends elsewhere. */
  inTransaction?: boolean;
}

export interface InsertResult {
  loaded: number;
  warnings: WarningRow[];
}

export interface WarningRow {
  Code: number;
  Message: string;
}

export function warningsOf(session: MysqlSession): Promise<WarningRow[]> {
  return session.query<WarningRow>('SHOW WARNINGS');
}

/** Bytes of rows in a statement. */
const STATEMENT_BYTES = 256 * 1024;

/** Rows as INSERT, for servers that take no LOAD DATA LOCAL; one transaction a table. No row is held in memory. */
export async function insertRows(
  session: MysqlSession,
  { content, inTransaction = false, ...options }: InsertOptions,
): Promise<InsertResult> {
  const limit = await packetLimit(session);
  const statementBytes = Math.min(STATEMENT_BYTES, Math.floor(limit / 4));
  const pieces = rowStatements(content, { ...options, statementBytes });
  const warnings: WarningRow[] = [];
  let loaded = 0;
  if (!inTransaction) await session.execute('START TRANSACTION');
  for (let next = await pieces.next(); !next.done; next = await pieces.next()) {
    const executed = await session.send(statementFrom(next.value, { pieces, limit, table: options.table }));
    loaded += executed.rows;
    if (executed.warnings > 0) warnings.push(...(await warningsOf(session)));
  }
  if (!inTransaction) await session.execute('COMMIT');
  return { loaded, warnings };
}

interface Statement extends Pick<InsertOptions, 'table'> {
  pieces: AsyncGenerator<StatementPiece>;
  limit: number;
}

/** The pieces of one statement. One that the server would not take is not sent to its end. */
async function* statementFrom(first: StatementPiece, { pieces, limit, table }: Statement): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for (let piece = first; ; ) {
    bytes += piece.bytes.length;
    if (bytes >= limit) throw new StatementTooLong();
    yield piece.bytes;
    if (piece.last) return;
    const next = await pieces.next();
    if (next.done) throw new Error(`the rows of ${table} end in the middle of one`);
    piece = next.value;
  }
}
