import { bytesOfTable, type ManifestFile, type ManifestTable } from '../../../repository/manifest.ts';
import { release } from '../../../repository/objects/release.ts';
import type { EngineContext, RestoreRun } from '../../engine.ts';
import { restoreFailed } from '../../shared/restore-failed.ts';
import { runTogether } from '../../shared/run-together.ts';
import { connect } from '../connection/connect.ts';
import { type MysqlSession, quoteName, SqlError } from '../connection/session.ts';
import type { TableDefinition } from '../definitions/definitions.ts';
import type { Details } from '../details.ts';
import { createPartQueue } from '../dump/part-queue.ts';
import { ROWS_TERMINATOR_BYTES } from '../dump/row-text.ts';
import { type InsertOptions, insertRows, type Loaded, warningsOf } from './rows/insert-rows.ts';
import { isPacketTooSmall, knownPacketLimit, packetLimit, packetTooSmall } from './rows/packet-limit.ts';
import { compareRows } from './rows/same-rows.ts';

export interface Loading extends Pick<RestoreRun, 'url' | 'plan' | 'jobs' | 'read'> {
  details: Details;
  definitions: TableDefinition[];
  /** Whether the server takes rows by LOAD DATA LOCAL; otherwise they go as INSERT. */
  localInfile: boolean;
}

export const LOADING_SETTINGS = [
  // A database that nobody uses yet needs no checks: what was read was checked when it was written.
  // MariaDB lets rows be written that a CHECK refuses, and such rows are restored as well.
  'SET foreign_key_checks = 0, unique_checks = 0 /*M!100201 , check_constraint_checks = 0 */',
  // Parts of a table with AUTO_INCREMENT may have to wait for each other.
  'SET innodb_lock_wait_timeout = 86400',
];

/** A commit waits for the disk: many small tables share one. */
const TRANSACTION_BYTES = 1024 * 1024;

/** Loads the rows, several tables at once, the largest first, and builds a table's indexes when its rows are in. */
export async function loadTables(context: EngineContext, loading: Loading): Promise<void> {
  const { plan, jobs, definitions } = loading;
  const total = plan.tables.reduce((sum, table) => sum + bytesOfTable(table), 0);
  const indexes = new Map(definitions.map((definition) => [definition.name, definition.indexes]));
  const queue = createPartQueue(plan.tables);
  let done = 0;
  const onBytes = (current: string, bytes: number): void => {
    done += bytes;
    context.report({ event: 'progress', step: 'restore', done, total, unit: 'bytes', current });
  };
  const doubts = new Map<string, string[]>();
  const worker = async (signal: AbortSignal): Promise<void> => {
    await using session = await connect({ signal }, loading.url);
    for (const setting of LOADING_SETTINGS) await session.execute(setting);
    let uncommitted = 0;
    await session.execute('SET autocommit = 0');
    for (let next = queue.take(); next && !signal.aborted; next = queue.take()) {
      const { table, file } = next;
      const data = loading.details.data[table.file.name];
      if (!data) throw new Error(`the manifest has no columns for ${table.name}`);
      const part =
        table.rows > 0 ? await loadPart(session, { loading, table, file, data, onBytes }) : { loaded: 0, doubts: [] };
      const doubted = [...(doubts.get(table.name) ?? []), ...part.doubts];
      doubts.set(table.name, doubted);
      uncommitted += file.bytes;
      // Who loads the last part of a table reads those of the others.
      if (uncommitted > TRANSACTION_BYTES || table.parts) {
        await session.execute('COMMIT');
        uncommitted = 0;
      }
      const loaded = queue.finish(next, part.loaded);
      if (loaded === null) continue;
      if (loaded !== table.rows)
        throw restoreFailed(`Of the ${table.rows} rows of ${table.name} ${loaded} were loaded`, []);
      if (doubted.length > 0) {
        await compareRows(session, { name: table.name, ...data, doubts: doubted, sent: allRowsOf(loading, table) });
      }
      for (const clauses of indexes.get(data.table) ?? []) await alter(session, data.table, clauses);
    }
    await session.execute('COMMIT');
  };
  await runTogether(
    context.signal,
    Array.from({ length: Math.min(jobs, queue.length) }, () => worker),
  );
}

/** Several clauses in one statement: one pass over the rows. */
export async function alter(session: MysqlSession, table: string, clauses: string[]): Promise<void> {
  const additions = clauses.map((clause) => `ADD ${clause}`).join(', ');
  await session.execute(`ALTER TABLE ${quoteName(table)} ${additions}`).catch((error) => {
    throw error instanceof SqlError
      ? restoreFailed(`The indexes of ${table} could not be built`, [error.message])
      : error;
  });
}

interface LoadingPart {
  loading: Loading;
  table: ManifestTable;
  file: ManifestFile;
  data: Details['data'][string];
  onBytes: (current: string, bytes: number) => void;
}

async function loadPart(session: MysqlSession, part: LoadingPart): Promise<LoadedRows> {
  const { loading, table, file, data, onBytes } = part;
  const content = rowsOf(loading, file, (bytes) => onBytes(table.name, bytes));
  return loadRows(session, {
    name: table.name,
    localInfile: loading.localInfile,
    rows: { ...data, content },
    next: BY_PROGRAM,
  });
}

export interface RowsToLoad {
  /** As messages call the table. */
  name: string;
  localInfile: boolean;
  rows: InsertOptions;
  /** What to do when the server does not take them. */
  next?: string;
}

const BY_PROGRAM =
  "Build a snapshot with the server's own mysqldump instead, which its own client loads: tool build TARGET --program.";

export interface LoadedRows {
  /** How many the server took. */
  loaded: number;
  /** What it warned of: then `compareRows` says whether it took every value as it is. */
  doubts: string[];
}

export async function loadRows(
  session: MysqlSession,
  { name, localInfile, rows, next }: RowsToLoad,
): Promise<LoadedRows> {
  const load = localInfile ? loadInfile : insertRows;
  const { loaded, warnings } = await load(session, rows).catch((error) => {
    if (isPacketTooSmall(error)) {
      const longest = rows.longest_row;
      throw packetTooSmall(name, { limit: knownPacketLimit(session), longest, insert: !localInfile });
    }
    throw error instanceof SqlError
      ? restoreFailed(`The rows of ${name} could not be loaded`, [error.message], next)
      : error;
  });
  return { loaded, doubts: warnings.map(({ Message }) => Message) };
}

async function* allRowsOf(loading: Loading, { file, parts = [] }: ManifestTable): AsyncGenerator<Uint8Array> {
  for (const part of [file, ...parts]) yield* rowsOf(loading, part, () => {});
}

/** The rows without the mark that ends them. */
async function* rowsOf(
  { read }: Loading,
  file: ManifestFile,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let left = file.bytes - ROWS_TERMINATOR_BYTES;
  for await (const frame of read(file)) {
    const content = frame.subarray(0, Math.max(0, left));
    left -= content.length;
    if (content.length > 0) yield content;
    onBytes(content.length);
    release(frame);
  }
}

/** The content of a file travels in packets as well, each of which the server must take. */
const FILE_PACKET = 256 * 1024;

async function* slices(content: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Uint8Array> {
  for await (const part of content) {
    for (let from = 0; from < part.length; from += bytes) yield part.subarray(from, from + bytes);
  }
}

/** Bytes are stored as they come, in each column's own character set; but some types take only text. */
async function loadInfile(session: MysqlSession, { table, columns, texts, content }: InsertOptions): Promise<Loaded> {
  const isText = new Set(texts);
  const fields = columns.map((column, at) => (isText.has(column) ? `@field${at}` : quoteName(column)));
  const conversions = columns.flatMap((column, at) =>
    isText.has(column) ? [`${quoteName(column)} = CONVERT(@field${at} USING utf8mb4)`] : [],
  );
  const set = conversions.length > 0 ? ` SET ${conversions.join(', ')}` : '';
  const statement = `LOAD DATA LOCAL INFILE 'rows' INTO TABLE ${quoteName(table)} CHARACTER SET binary FIELDS TERMINATED BY '\\t' ESCAPED BY '\\\\' LINES TERMINATED BY '\\n' (${fields.join(', ')})${set}`;
  const limit = await packetLimit(session);
  const { info, rows, warnings } = await session.load(statement, slices(content, Math.min(FILE_PACKET, limit / 2)));
  const skipped = Number(/Skipped: (\d+)/.exec(info)?.[1] ?? 0);
  return { loaded: rows - skipped, warnings: warnings > 0 ? await warningsOf(session) : [] };
}
