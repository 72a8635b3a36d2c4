import { randomBytes } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import type { Completed, RunningProcess } from '../../../process/runner.ts';
import type { ManifestTable } from '../../../repository/manifest.ts';
import { release } from '../../../repository/objects/release.ts';
import { UserError } from '../../../runtime/errors.ts';
import type { EngineContext } from '../../engine.ts';
import { restoreFailed } from '../../shared/restore-failed.ts';
import { runTogether } from '../../shared/run-together.ts';
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
/** Loads the rows, several tables at once, the largest first, each straight from its compressed object. */
export async function loadTables(context: EngineContext, fill: Filling): Promise<void> {
  const { plan, jobs } = fill;
  const total = plan.tables.reduce((sum, table) => sum + table.file.bytes, 0);
  const queue = batches(plan.tables, fill.details);
  let done = 0;
  const onBytes = (current: string, bytes: number): void => {
    done += bytes;
    context.report({ event: 'progress', step: 'restore', done, total, unit: 'bytes', current });
  };
  const worker = async (signal: AbortSignal): Promise<void> => {
    for (let batch = queue.shift(); batch && !signal.aborted; batch = queue.shift()) {
      let read = 0;
      const refusal = await loadBatch(
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
      if (!refusal) continue;
      if (!fill.errors) throw refusal;
      // The batch is one transaction: which of its tables can be loaded shows one at a time.
      done -= read;
      if (batch.length > 1) queue.unshift(...batch.map((table) => [table]));
      else fill.errors.push([refusal.message, ...refusal.details].join(': '));
    }
  };
  await runTogether(
    context.signal,
    Array.from({ length: Math.min(jobs, queue.length) }, () => worker),
  );
}

/** Large tables alone and first, small ones together; tables without rows need nothing. */
function batches(tables: ManifestTable[], details: ArchiveDetails): ManifestTable[][] {
  const bySize = tables.filter((table) => table.rows > 0).sort((a, b) => b.file.bytes - a.file.bytes);
  const all: ManifestTable[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  let argumentBytes = 0;
  for (const table of bySize) {
    const last = all.at(-1);
    const command = Buffer.byteLength(copyStatement(table, details));
    bytes += table.file.bytes;
    argumentBytes += command;
    if (!last || bytes > BATCH_BYTES || last.length === BATCH_TABLES || argumentBytes > MOST_BYTES_OF_ALL) {
      all.push([table]);
      bytes = table.file.bytes;
      argumentBytes = command;
    } else {
      last.push(table);
    }
  }
  return all;
}

interface Batch {
  fill: Filling;
  batch: ManifestTable[];
  onBytes: (current: string, bytes: number) => void;
}

/** How psql exits when the server has refused a command: an argument, or a line of its input. */
const REFUSED_BY_SERVER = new Set<number | null>([1, 3]);

/** One psql for the batch, in one transaction. Resolves with what the server has refused of it, which then is empty. */
async function loadBatch(context: EngineContext, { fill, batch, onBytes }: Batch): Promise<UserError | null> {
  const { url, tools, details, settings } = fill;
  const connection = connectionOf(url, { ...settings, ...COPY_SETTINGS });
  const commands = copyCommands(
    batch.map((table) => copyStatement(table, details)),
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
    refuseUnlessFed({ fed, ended, details, what: `The rows of ${current?.name} could not be loaded` });
  } catch (error) {
    const refused = ended.status === 'fulfilled' && REFUSED_BY_SERVER.has(ended.value.exitCode);
    if (refused && error instanceof UserError && error.code === 'restore_failed') return error;
    throw error;
  }
  checkTags(said(), batch);
  return null;
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
 * partitioned table those of its other partitions.
 */
export function copyStatement(table: ManifestTable, details: ArchiveDetails): string {
  const data = details.data[table.file.name];
  if (!data) throw new Error(`the manifest has no columns for ${table.name}`);
  const { schema, table: tableName } = data.root ?? data;
  const name = `${quoteName(schema)}.${quoteName(tableName)}`;
  const columns = data.columns.length > 0 ? ` (${data.columns.map(quoteName).join(', ')})` : '';
  const copy = `COPY ${name}${columns} FROM STDIN`;
  return data.of_extension || data.root ? copy : `TRUNCATE ONLY ${name}; ${copy} WITH (FREEZE)`;
}

export interface Feed {
  read: Filling['read'];
  batch: ManifestTable[];
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
    for (const [index, table] of batch.entries()) {
      if (commands.before) await write(child.stdin, commands.before(index));
      await feedTable({ read, table, child, onBytes });
      await write(child.stdin, END_OF_COPY);
    }
    child.stdin.end(commands.after);
  } catch (error) {
    child.kill();
    throw error;
  }
}

/** Exactly as many bytes as the manifest says, rows and then the terminator. */
async function feedTable({
  read,
  table,
  child,
  onBytes,
}: Omit<Feed, 'batch' | 'commands'> & { table: ManifestTable }): Promise<void> {
  const guard = createRowGuard(table.name);
  let left = table.file.bytes - DATA_TERMINATOR.length;
  let ending = Buffer.alloc(0);
  for await (const frame of read(table.file)) {
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

/** Refuses other numbers of rows than the manifest's. */
export function checkTags(tags: string, batch: ManifestTable[]): void {
  const counts = copyCounts(tags);
  const lines = batch.flatMap(({ name, rows }, index) =>
    counts[index] === rows ? [] : [`${name}: ${counts[index] ?? 0} rows loaded, ${rows} in the manifest`],
  );
  if (counts.length > batch.length) lines.push(`${counts.length} tables were loaded instead of ${batch.length}`);
  if (lines.length === 0) return;
  throw restoreFailed('Not all rows were loaded', lines);
}
