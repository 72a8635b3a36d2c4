import { randomBytes } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import type { Completed, RunningProcess } from '../../../process/runner.ts';
import { bytesOfTable, filesOfTable, type ManifestFile, type ManifestTable } from '../../../repository/manifest.ts';
import { release } from '../../../repository/objects/release.ts';
import { UserError } from '../../../runtime/errors.ts';
import type { EngineContext } from '../../engine.ts';
import { restoreFailed } from '../../shared/restore-failed.ts';
import { runTogether } from '../../shared/run-together.ts';
import { connect } from '../connection/connect.ts';
import { PSQL_FLAGS, quoteName } from '../connection/session.ts';
import { connectionOf } from '../connection/url.ts';
import { type ArchiveDetails, DATA_TERMINATOR, END_OF_COPY } from '../dump/archive.ts';
import { type ClientTools, knowsRestrict } from '../tools.ts';
import { failureHint } from './failure-hint.ts';
import { failureWords } from './restore-errors.ts';
import type { Filling } from './rows/filling.ts';
import { createRowGuard, refused } from './rows/row-guard.ts';

/** Tables up to so many bytes together share one connection: starting one costs as much as loading a small table. */
const BATCH_BYTES = 16 * 1024 * 1024;
const BATCH_TABLES = 200;

/** Rows that one COPY loads: all of a table, or those of some of its parts. */
export interface RowsToLoad {
  table: ManifestTable;
  files: ManifestFile[];
  isWhole: boolean;
}

export function wholeTable(table: ManifestTable): RowsToLoad {
  return { table, files: filesOfTable(table), isWhole: true };
}

/** Loads the rows, several tables or parts of one at once, the largest first, each straight from its compressed object. */
export async function loadTables(context: EngineContext, fill: Filling): Promise<void> {
  const { plan, jobs } = fill;
  const total = plan.tables.reduce((sum, table) => sum + bytesOfTable(table), 0);
  const queue = batches(plan.tables, fill);
  const loaded = new Map<ManifestTable, number>();
  /** Of which a part could not be loaded. */
  const refused = new Set<ManifestTable>();
  let done = 0;
  const onBytes = (current: string, bytes: number): void => {
    done += bytes;
    context.report({ event: 'progress', step: 'restore', done, total, unit: 'bytes', current });
  };
  const worker = async (signal: AbortSignal): Promise<void> => {
    for (let batch = queue.shift(); batch && !signal.aborted; batch = queue.shift()) {
      if (batch.some(({ table }) => refused.has(table))) continue;
      let read = 0;
      const outcome = await loadBatch(
        { ...context, signal },
        {
          fill,
          batch,
          onBytes: (current, bytes) => {
            read += bytes;
            onBytes(current, bytes);
          },
        },
      );
      if (Array.isArray(outcome)) {
        for (const [at, { table }] of batch.entries()) loaded.set(table, (loaded.get(table) ?? 0) + (outcome[at] ?? 0));
        continue;
      }
      if (!fill.errors) throw outcome;
      // The batch is one transaction: which of its tables can be loaded shows one at a time.
      done -= read;
      if (batch.length > 1) {
        queue.unshift(...batch.map((rows) => [rows]));
        continue;
      }
      for (const { table, isWhole } of batch) if (!isWhole) refused.add(table);
      fill.errors.push([outcome.message, ...outcome.details].join(': '));
    }
  };
  await runTogether(
    context.signal,
    Array.from({ length: Math.min(jobs, queue.length) }, () => worker),
  );
  checkSums(loaded, refused);
  await emptyTables(context, fill, refused);
}

/** A batch knows how many rows it must have only of whole tables. */
function checkSums(loaded: Map<ManifestTable, number>, refused: Set<ManifestTable>): void {
  const lines = [...loaded]
    .filter(([table, rows]) => !refused.has(table) && rows !== table.rows)
    .map(([{ name, rows }, sum]) => rowsDiffer(name, { loaded: sum, expected: rows }));
  if (lines.length > 0) throw restoreFailed('Not all rows were loaded', lines);
}

/** A table has all of its rows or none. */
async function emptyTables(
  context: EngineContext,
  { url, tools, settings, details }: Filling,
  tables: Set<ManifestTable>,
): Promise<void> {
  if (tables.size === 0) return;
  await using session = await connect(context, url, { tools, settings });
  for (const table of tables) await session.execute(`TRUNCATE ONLY ${pathOf(dataOf(table, details))}`);
}

/** A table that makes up more than this share of one session's work is loaded by several, which cannot freeze its rows. */
const MOST_OF_A_SESSION = 0.5;
/** Bytes that a session loads into a table that it shares with others. */
const SHARE_BYTES = 32 * 1024 * 1024;

/** Large tables alone and first, small ones together; tables without rows need nothing. */
function batches(
  tables: ManifestTable[],
  { details, jobs, beforeSwap }: Pick<Filling, 'details' | 'jobs' | 'beforeSwap'>,
): RowsToLoad[][] {
  const bySize = tables.filter((table) => table.rows > 0).sort((a, b) => bytesOfTable(b) - bytesOfTable(a));
  const work = bySize.reduce((sum, table) => sum + bytesOfTable(table), 0) / jobs;
  const all: RowsToLoad[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  let argumentBytes = 0;
  for (const table of bySize) {
    const size = bytesOfTable(table);
    // A snapshot that is built of the result, as when sanitizing, has the same bytes only where the order is the same.
    const canInterleave = jobs > 1 && beforeSwap === undefined;
    if (canInterleave && size > SHARE_BYTES && size > work * MOST_OF_A_SESSION && canBeShared(table, details)) {
      all.push(...shares(table).map((rows) => [rows]));
      continue;
    }
    const last = all.at(-1);
    const command = Buffer.byteLength(copyStatement(wholeTable(table), details));
    bytes += size;
    argumentBytes += command;
    if (!last || bytes > BATCH_BYTES || last.length === BATCH_TABLES || argumentBytes > MOST_BYTES_OF_ALL) {
      all.push([wholeTable(table)]);
      bytes = size;
      argumentBytes = command;
    } else {
      last.push(wholeTable(table));
    }
  }
  return all;
}

/** Rows of an extension's script may be there, and rows that go through a root belong to several tables: neither is emptied. */
function canBeShared(table: ManifestTable, details: ArchiveDetails): boolean {
  const { of_extension, root } = dataOf(table, details);
  return table.parts !== undefined && !of_extension && !root;
}

/** Parts that follow each other. */
function shares(table: ManifestTable): RowsToLoad[] {
  const all: RowsToLoad[] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const file of filesOfTable(table)) {
    const last = all.at(-1);
    if (last && bytes + file.bytes <= SHARE_BYTES) {
      last.files.push(file);
      bytes += file.bytes;
    } else {
      all.push({ table, files: [file], isWhole: false });
      bytes = file.bytes;
    }
  }
  return all;
}

interface Batch {
  fill: Filling;
  batch: RowsToLoad[];
  onBytes: (current: string, bytes: number) => void;
}

/** How psql exits when the server has refused a command: an argument, or a line of its input. */
const REFUSED_BY_SERVER = new Set<number | null>([1, 3]);

/**
 * One psql for the batch, in one transaction. Resolves with the numbers of rows, or with what the server has refused: then
 * it has loaded nothing.
 */
async function loadBatch(context: EngineContext, { fill, batch, onBytes }: Batch): Promise<number[] | UserError> {
  const { url, tools, details, settings } = fill;
  const connection = connectionOf(url, { ...settings, ...COPY_SETTINGS });
  const commands = copyCommands(
    batch.map((rows) => copyStatement(rows, details)),
    tools,
  );
  const args = [...COPY_FLAGS, '--single-transaction', ...commands.args, ...connection.args];
  const { signal } = context;
  const child = context.runner.start({ file: tools.psql, ...connection, args }, { signal });
  const said = textOf(child.stdout);
  const feeding = feedTables({ read: fill.read, batch, child, onBytes, commands });
  const [fed, ended] = await Promise.allSettled([feeding, child.ended]);
  // One COPY has ended for each table before the one that failed.
  const current = batch[copyCounts(said()).length] ?? batch[0];
  try {
    refuseUnlessFed({ fed, ended, details, what: `The rows of ${current?.table.name} could not be loaded` });
  } catch (error) {
    const refused = ended.status === 'fulfilled' && REFUSED_BY_SERVER.has(ended.value.exitCode);
    if (refused && error instanceof UserError && error.code === 'restore_failed') return error;
    throw error;
  }
  return checkTags(said(), batch);
}

/** How feeding a psql and the psql itself came out. */
export interface Outcome {
  fed: PromiseSettledResult<void>;
  ended: PromiseSettledResult<Completed>;
  details: ArchiveDetails;
  /** What is told when it failed: `The rows of public.a could not be loaded`. */
  what: string;
}

/** Anything but exit code 0 is a failure; what was wrong with the rows is told rather than that psql was ended for it. */
export function refuseUnlessFed({ fed, ended, details, what }: Outcome): void {
  if (fed.status === 'rejected' && fed.reason instanceof UserError) throw fed.reason;
  if (ended.status === 'rejected') throw ended.reason;
  const { exitCode, stderr } = ended.value;
  if (fed.status === 'rejected' && exitCode === null && stderr.trim() === '') throw fed.reason;
  if (exitCode !== 0) {
    const words = failureWords('psql', ended.value);
    throw restoreFailed(what, words.slice(0, 20), failureHint(words, details));
  }
  if (fed.status === 'rejected') throw fed.reason;
}

/**
 * Commands are arguments, and standard input holds rows alone: whatever the rows are, psql never reads a command from
 * them. It ends at the first error. `--quiet` would hide the count of each COPY.
 */
export const COPY_FLAGS = [...PSQL_FLAGS.filter((flag) => flag !== '--quiet'), '--set=ON_ERROR_STOP=1'];

export const COPY_SETTINGS = {
  search_path: 'pg_catalog',
  row_security: 'off',
  xmloption: 'content',
  client_min_messages: 'warning',
};

export interface CopyCommands {
  args: string[];
  /** What stands in the stream before the rows of a table, where its command is no argument. */
  before: ((index: number) => string) | null;
  /** What stands behind all rows. */
  after: string;
}

/** A system takes no longer argument than 128 kB (Linux), and in all, with the environment, 1 MB (macOS). */
const MOST_BYTES_OF_ONE = 100 * 1024;
export const MOST_BYTES_OF_ALL = 256 * 1024;

/**
 * How psql is told the COPY commands. Where they are too long for arguments they stand in the stream before their rows,
 * of which a RowGuard lets none pass that could end its COPY; a psql that knows `\restrict` runs nothing but SQL there.
 */
export function copyCommands(commands: string[], tools: ClientTools): CopyCommands {
  const sizes = commands.map((command) => Buffer.byteLength(command));
  const all = sizes.reduce((sum, size) => sum + size, 0);
  if (all <= MOST_BYTES_OF_ALL && sizes.every((size) => size <= MOST_BYTES_OF_ONE)) {
    return { args: commands.map((command) => `--command=${command}`), before: null, after: '' };
  }
  const key = randomBytes(24).toString('hex');
  const [restrict, after] = knowsRestrict(tools) ? [`\\restrict ${key}\n`, `\\unrestrict ${key}\n`] : ['', ''];
  return { args: ['--file=-'], before: (index) => `${index === 0 ? restrict : ''}${commands[index]};\n`, after };
}

/**
 * FREEZE writes the rows as the vacuum would leave them, so that they are not rewritten later; it requires the table
 * emptied in the same transaction. A table of an extension keeps the rows that the extension put there, and a
 * partitioned table those of its other partitions. Several sessions cannot freeze the rows of one table.
 */
export function copyStatement({ table, isWhole }: RowsToLoad, details: ArchiveDetails): string {
  const data = dataOf(table, details);
  const name = pathOf(data);
  const columns = data.columns.length > 0 ? ` (${data.columns.map(quoteName).join(', ')})` : '';
  const copy = `COPY ${name}${columns} FROM STDIN`;
  return data.of_extension || data.root || !isWhole ? copy : `TRUNCATE ONLY ${name}; ${copy} WITH (FREEZE)`;
}

type TableData = ArchiveDetails['data'][string];

function dataOf({ name, file }: ManifestTable, { data }: ArchiveDetails): TableData {
  const found = data[file.name];
  if (!found) throw new Error(`the manifest has no columns for ${name}`);
  return found;
}

function pathOf(data: TableData): string {
  const { schema, table } = data.root ?? data;
  return `${quoteName(schema)}.${quoteName(table)}`;
}

export interface Feed {
  read: Filling['read'];
  batch: RowsToLoad[];
  child: RunningProcess;
  onBytes: (current: string, bytes: number) => void;
  commands: CopyCommands;
}

/**
 * The rows of the tables one after the other, each up to its end-of-copy mark, which is ours. When an object is damaged
 * the child is ended: an end of its input would be taken for the end of the rows.
 */
export async function feedTables({ read, batch, child, onBytes, commands }: Feed): Promise<void> {
  child.stdin.on('error', () => {});
  try {
    for (const [index, { table, files }] of batch.entries()) {
      if (commands.before) await write(child.stdin, commands.before(index));
      for (const file of files) await feedFile({ read, table, file, child, onBytes });
      await write(child.stdin, END_OF_COPY);
    }
    child.stdin.end(commands.after);
  } catch (error) {
    child.kill();
    throw error;
  }
}

/** Exactly as many bytes as the manifest says, rows and then the terminator. */
async function feedFile({
  read,
  table,
  file,
  child,
  onBytes,
}: Omit<Feed, 'batch' | 'commands'> & { table: ManifestTable; file: ManifestFile }): Promise<void> {
  const guard = createRowGuard(table.name);
  let left = file.bytes - DATA_TERMINATOR.length;
  let ending = Buffer.alloc(0);
  for await (const frame of read(file)) {
    const rows = frame.subarray(0, Math.max(0, left));
    left -= rows.length;
    guard.check(rows);
    ending = Buffer.concat([ending, frame.subarray(rows.length)]);
    if (ending.length > DATA_TERMINATOR.length) break;
    await write(child.stdin, rows);
    onBytes(table.name, rows.length);
    release(frame);
  }
  guard.end();
  if (left !== 0 || ending.toString('latin1') !== DATA_TERMINATOR) {
    throw refused(table.name, 'no end of COPY where the manifest puts it');
  }
}

/** What was read of a stream so far. */
export function textOf(stream: Readable): () => string {
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return () => text;
}

export function write(input: Writable, content: Uint8Array | string): Promise<void> {
  return new Promise((resolve, reject) => {
    input.write(content, (error) => (error ? reject(error) : resolve()));
  });
}

/** psql says `COPY n` for each table, in order. */
export function copyCounts(said: string): number[] {
  return [...said.matchAll(/^COPY (\d+)$/gm)].map((match) => Number(match[1]));
}

/** The number of rows of each; refuses other numbers for whole tables than the manifest's. */
export function checkTags(tags: string, batch: RowsToLoad[]): number[] {
  const counts = copyCounts(tags);
  const lines = batch.flatMap(({ table: { name, rows }, isWhole }, index) => {
    const loaded = counts[index] ?? 0;
    return isWhole && loaded !== rows ? [rowsDiffer(name, { loaded, expected: rows })] : [];
  });
  if (counts.length > batch.length) lines.push(`${counts.length} tables were loaded instead of ${batch.length}`);
  if (lines.length > 0) throw restoreFailed('Not all rows were loaded', lines);
  return counts;
}

function rowsDiffer(table: string, { loaded, expected }: { loaded: number; expected: number }): string {
  return `${table}: ${loaded} rows loaded, ${expected} in the manifest`;
}
