import {
  bytesOfTable,
  filesOfTable,
  type ManifestFile,
  type ManifestTable,
} from '../../../../repository/manifest/manifest.ts';
import { release } from '../../../../repository/objects/release.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { RestoreRun } from '../../../facets/restore.ts';
import { restoreProgress } from '../../../shared/bytes-progress.ts';
import { restoreFailed } from '../../../shared/restore-failed.ts';
import { runWorkers } from '../../../shared/run-together.ts';
import type { TableDefinition } from '../../catalog/definitions/definitions.ts';
import { inCreationOrder } from '../../catalog/table-traits.ts';
import { connect } from '../../connection/connect.ts';
import { inSessions } from '../../connection/in-sessions.ts';
import { quoteName } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { SqlError } from '../../connection/session-errors.ts';
import type { Details } from '../../details.ts';
import { END_OF_ROWS } from '../../dump/program/rows-file.ts';
import { ROWS_TERMINATOR } from '../../dump/row-text.ts';
import { failRestore } from '../restore-errors.ts';
import { type InsertOptions, type InsertResult, insertRows, warningsOf } from './insert-rows.ts';
import { insertStatements } from './load-program.ts';
import { isPacketTooSmall, knownPacketLimit, packetLimit, packetTooSmall } from './packet-limit.ts';
import { PartQueue } from './part-queue.ts';
import { compareRows } from './same-rows.ts';

export interface LoadTablesOptions extends Pick<RestoreRun, 'url' | 'plan' | 'cpus' | 'read'> {
  details: Details;
  definitions: TableDefinition[];
  /** The server takes rows by LOAD DATA LOCAL; otherwise they are sent as INSERT. */
  localInfile: boolean;
}

export const LOADING_SETTINGS = [
  // The shadow database needs no checks: the rows were checked in the source.
  // MariaDB lets rows be written that a CHECK refuses, and such rows are restored as well.
  'SET foreign_key_checks = 0 /*M!100201 , check_constraint_checks = 0 */',
  // Parts of a table with AUTO_INCREMENT may have to wait for each other.
  'SET innodb_lock_wait_timeout = 86400',
];

/** Bytes up to which inserting into indexes is as fast as building them afterwards. */
const FEW_BYTES = 256 * 1024;

/** Reports whether a table is so small that it is filled when it is created, with its indexes. */
export function hasFewRows(table: ManifestTable): boolean {
  return bytesOfTable(table) <= FEW_BYTES;
}

/**
 * Makes the tables, those with few rows with their rows, then loads the rows of the others, several tables at once, the
 * largest first, and builds a table's indexes when its rows are in.
 */
export async function loadTables(context: EngineContext, loading: LoadTablesOptions): Promise<void> {
  const { plan, cpus, definitions } = loading;
  const onBytes = restoreProgress(context.report, plan.tables, endBytesOf(loading));
  const few = new Map(plan.tables.filter(hasFewRows).map((table) => [dataOf(loading, table).table, table]));
  // Only when all tables are there: on MySQL a table waits for transactions on those that reference it.
  await makeTables(context, loading, async (session, { name }) => {
    const table = few.get(name);
    if (!table || table.rows === 0) return;
    const part = await loadPart(session, { loading, table, file: table.file, onBytes });
    await finishTable(session, { loading, table, ...part });
    await session.execute('COMMIT');
  });

  const indexes = new Map(definitions.map((definition) => [definition.name, definition.indexes]));
  const queue = new PartQueue(plan.tables.filter((table) => !hasFewRows(table)));
  const doubts = new Map<string, string[]>();
  const worker = async (signal: AbortSignal): Promise<void> => {
    await using session = await connect({ signal }, loading.url);
    await prepareLoading(session);
    for (let next = queue.take(); next && !signal.aborted; next = queue.take()) {
      const { table, file } = next;
      // Without these checks MariaDB locks an empty table for its first rows, and two sessions that begin together deadlock.
      await session.execute(`SET unique_checks = ${filesOfTable(table).length === 1 ? 0 : 1}`);
      const part =
        table.rows > 0 ? await loadPart(session, { loading, table, file, onBytes }) : { loaded: 0, doubts: [] };
      const doubted = [...(doubts.get(table.name) ?? []), ...part.doubts];
      doubts.set(table.name, doubted);
      // Who loads the last part of a table reads those of the others.
      await session.execute('COMMIT');
      const loaded = queue.finish(next, part.loaded);
      if (loaded === null) continue;
      await finishTable(session, { loading, table, loaded, doubts: doubted });
      const { table: name } = dataOf(loading, table);
      for (const clauses of indexes.get(name) ?? []) await alter(session, name, clauses);
    }
    await session.execute('COMMIT');
  };
  await runWorkers(context.signal, { count: Math.min(cpus, queue.length), work: worker });
}

async function prepareLoading(session: MysqlSession): Promise<void> {
  for (const setting of [...LOADING_SETTINGS, 'SET autocommit = 0, unique_checks = 0']) await session.execute(setting);
}

type MakeTablesOptions = Pick<LoadTablesOptions, 'url' | 'cpus' | 'definitions'>;

/**
 * Makes the tables in several sessions: a CREATE mostly waits for the disk. With `foreign_key_checks = 0` their order
 * does not matter, but for MERGE tables, which come after those that they list.
 */
export async function makeTables(
  context: EngineContext,
  making: MakeTablesOptions,
  made: (session: MysqlSession, table: TableDefinition) => Promise<void> = async () => {},
) {
  for (const queue of inCreationOrder(making.definitions)) {
    await inSessions(context, {
      ...{ url: making.url, queue, sessions: making.cpus, prepare: prepareLoading },
      async work(session, table) {
        await makeTable(session, table);
        await made(session, table);
      },
    });
  }
}

/** `ER_LOCK_DEADLOCK`: two tables that reference each other were made at the same moment. */
const DEADLOCK = 1213;
const TRIES = 10;

export async function makeTable(session: MysqlSession, { create }: TableDefinition): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await session.execute(create);
      return;
    } catch (error) {
      if (!(error instanceof SqlError)) throw error;
      if (error.errno !== DEADLOCK || attempt === TRIES) throw restoreFailed('Cannot create a table', [error.message]);
    }
  }
}

export function dataOf({ details }: Pick<LoadTablesOptions, 'details'>, { name, file }: ManifestTable) {
  const data = details.data[file.name];
  if (!data) throw new Error(`the manifest has no columns for ${name}`);
  return data;
}

interface LoadedTable extends LoadedRows {
  loading: LoadTablesOptions;
  table: ManifestTable;
}

/** Rejects unless every row was taken as it is. */
async function finishTable(session: MysqlSession, { loading, table, loaded, doubts }: LoadedTable): Promise<void> {
  if (loaded !== table.rows) {
    throw restoreFailed(`Of the ${table.rows} rows of ${table.name} ${loaded} were loaded`, []);
  }
  await verifyDoubts(session, { loading, table, doubts });
}

/** Rejects unless the rows of a loaded table are those of the snapshot, where the server warned of values. */
export async function verifyDoubts(session: MysqlSession, { loading, table, doubts }: Omit<LoadedTable, 'loaded'>) {
  if (doubts.length === 0) return;
  const data = dataOf(loading, table);
  await compareRows(session, { name: table.name, ...data, doubts, sent: allRowsOf(loading, table) });
}

/** Loads all rows of a table that exists and is empty, in the transaction of the session. */
export async function loadWholeTable(
  session: MysqlSession,
  { loading, table, onBytes }: Pick<LoadingPart, 'loading' | 'table' | 'onBytes'>,
) {
  let loaded = 0;
  const doubts: string[] = [];
  for (const file of filesOfTable(table)) {
    const part = await loadPart(session, { loading, table, file, onBytes, inTransaction: true });
    loaded += part.loaded;
    doubts.push(...part.doubts);
  }
  await finishTable(session, { loading, table, loaded, doubts });
}

/** Several clauses in one statement: one pass over the rows. */
export async function alter(session: MysqlSession, table: string, clauses: string[]): Promise<void> {
  const additions = clauses.map((clause) => `ADD ${clause}`).join(', ');
  await session
    .execute(`ALTER TABLE ${quoteName(table)} ${additions}`)
    .catch(failRestore(`The indexes of ${table} could not be built`));
}

interface LoadingPart {
  loading: LoadTablesOptions;
  table: ManifestTable;
  file: ManifestFile;
  onBytes: (current: string, bytes: number) => void;
  inTransaction?: boolean;
}

async function loadPart(session: MysqlSession, part: LoadingPart): Promise<LoadedRows> {
  const { loading, table, file, onBytes, inTransaction = false } = part;
  const content = rowsOf(loading, file, (bytes) => onBytes(table.name, bytes));
  const rows = { ...dataOf(loading, table), content, inTransaction };
  if (!loading.details.program) {
    return loadRows(session, { name: table.name, localInfile: loading.localInfile, rows, next: BY_PROGRAM });
  }
  const definition = loading.definitions.find(({ name }) => name === rows.table);
  const load = (): Promise<InsertResult> => insertStatements(session, { ...rows, rows: table.rows, definition });
  return loadRows(session, { name: table.name, localInfile: false, rows, load });
}

export interface RowsToLoad {
  /** Name of the table in messages. */
  name: string;
  localInfile: boolean;
  rows: InsertOptions;
  load?: (session: MysqlSession, rows: InsertOptions) => Promise<InsertResult>;
  /** Hint for the case that the server refuses the rows. */
  next?: string;
}

const BY_PROGRAM =
  "Build a snapshot with the server's own mysqldump instead, which its own client loads: set program: true at the target.";

export interface LoadedRows {
  loaded: number;
  /** Warnings of the server. If there are any, `compareRows` checks that it stored every value unchanged. */
  doubts: string[];
}

export async function loadRows(
  session: MysqlSession,
  { name, localInfile, rows, load = localInfile ? loadInfile : insertRows, next }: RowsToLoad,
): Promise<LoadedRows> {
  const { loaded, warnings } = await load(session, rows).catch((error) => {
    if (isPacketTooSmall(error)) {
      const longest = rows.longest_row;
      throw packetTooSmall(name, { limit: knownPacketLimit(session), longest, insert: !localInfile });
    }
    return failRestore(`The rows of ${name} could not be loaded`, next)(error);
  });
  return { loaded, doubts: warnings.map(({ Message }) => Message) };
}

async function* allRowsOf(loading: LoadTablesOptions, table: ManifestTable): AsyncGenerator<Uint8Array> {
  for (const part of filesOfTable(table)) yield* rowsOf(loading, part);
}

function endBytesOf({ details: { program } }: Pick<LoadTablesOptions, 'details'>): number {
  return (program ? END_OF_ROWS : ROWS_TERMINATOR).length;
}

/** The rows of a file without the mark that ends them; a part is gone when the next is read. */
export async function* rowsOf(
  { read, details }: Pick<LoadTablesOptions, 'read' | 'details'>,
  file: ManifestFile,
  onBytes: (bytes: number) => void = () => {},
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let left = file.bytes - endBytesOf({ details });
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
async function loadInfile(session: MysqlSession, { table, columns, texts, content }: InsertOptions) {
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
