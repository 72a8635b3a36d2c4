import type { Writable } from 'node:stream';
import { redact } from '../../../process/redact.ts';
import type { RunningProcess } from '../../../process/runner.ts';
import type { ManifestTable } from '../../../snapshots/manifest.ts';
import { release } from '../../../snapshots/objects/release.ts';
import type { EngineContext } from '../../engine.ts';
import { PSQL_FLAGS, quoteName } from '../connection/session.ts';
import { connectionOf } from '../connection/url.ts';
import { AFTER_END_OF_COPY, type ArchiveDetails } from '../dump/archive.ts';
import { failureHint } from './failure-hint.ts';
import type { Filling } from './filling.ts';
import { restoreFailed } from './restore-failed.ts';

/** Tables up to so many bytes together share one connection: starting one costs as much as loading a small table. */
const BATCH_BYTES = 16 * 1024 * 1024;
const BATCH_TABLES = 200;

/** Loads the rows, several tables at once, the largest first, each straight from its compressed object. */
export async function loadTables(context: EngineContext, fill: Filling): Promise<void> {
  const { plan, jobs } = fill;
  const total = plan.tables.reduce((sum, table) => sum + table.file.bytes, 0);
  const queue = batches(plan.tables);
  let done = 0;
  const onBytes = (current: string, bytes: number): void => {
    done += bytes;
    context.report({ event: 'progress', step: 'restore', done, total, unit: 'bytes', current });
  };
  const failed = new AbortController();
  const signal = AbortSignal.any([context.signal, failed.signal]);
  const worker = async (): Promise<void> => {
    for (let batch = queue.shift(); batch && !signal.aborted; batch = queue.shift()) {
      await loadBatch({ ...context, signal }, { fill, batch, onBytes });
    }
  };
  const workers = Array.from({ length: Math.min(jobs, queue.length) }, () =>
    worker().catch((error) => {
      failed.abort(error);
      throw error;
    }),
  );
  const outcomes = await Promise.allSettled(workers);
  context.signal.throwIfAborted();
  if (failed.signal.aborted) throw failed.signal.reason;
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

/** Large tables alone and first, small ones together; tables without rows need nothing. */
function batches(tables: ManifestTable[]): ManifestTable[][] {
  const bySize = tables.filter((table) => table.rows > 0).sort((a, b) => b.file.bytes - a.file.bytes);
  const all: ManifestTable[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const table of bySize) {
    const last = all.at(-1);
    if (!last || bytes + table.file.bytes > BATCH_BYTES || last.length === BATCH_TABLES) {
      all.push([table]);
      bytes = table.file.bytes;
    } else {
      last.push(table);
      bytes += table.file.bytes;
    }
  }
  return all;
}

interface Batch {
  fill: Filling;
  batch: ManifestTable[];
  onBytes: (current: string, bytes: number) => void;
}

/** One psql for the batch, in one transaction. */
async function loadBatch(context: EngineContext, { fill, batch, onBytes }: Batch): Promise<void> {
  const { url, tools, details, settings } = fill;
  const connection = connectionOf(url, { ...settings, ...COPY_SETTINGS });
  const flags = [...PSQL_FLAGS.filter((flag) => flag !== '--quiet'), '--single-transaction', ...COPY_FLAGS];
  const { signal } = context;
  const child = context.runner.start(
    { file: tools.psql, ...connection, args: [...flags, ...connection.args] },
    { signal },
  );
  let tags = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    tags += chunk;
  });
  const feeding = feedTables({ read: fill.read, batch, details, child, onBytes });
  const [fed, ended] = await Promise.allSettled([feeding, child.ended]);
  if (ended.status === 'rejected') throw ended.reason;
  if (ended.value.exitCode !== 0 && ended.value.exitCode !== null) {
    const words = redact(ended.value.stderr).trim().split('\n');
    // One COPY has ended for each table before the one that failed.
    const failed = batch[countsOf(tags).length] ?? batch[0];
    throw restoreFailed(
      `The rows of ${failed?.name} could not be loaded`,
      words.slice(0, 20),
      failureHint(words, details),
    );
  }
  if (fed.status === 'rejected') throw fed.reason;
  checkTags(tags, batch);
}

/**
 * psql reads statements and rows from its standard input, the one way in which all versions take several tables (18
 * no longer sees the end of the rows in `\copy … FROM pstdin`). It ends at the first error, so that rows are never
 * taken for statements, even when a COPY is refused.
 */
export const COPY_FLAGS = ['--set=ON_ERROR_STOP=1', '--file=-'];

const COPY_SETTINGS = {
  search_path: 'pg_catalog',
  row_security: 'off',
  xmloption: 'content',
  client_min_messages: 'warning',
};

/**
 * FREEZE writes the rows as the vacuum would leave them, so that nobody has to rewrite them later; it wants the table
 * emptied in the same transaction. A table of an extension keeps the rows that the extension put there, and a
 * partitioned table those of its other partitions.
 */
function copyStatement(table: ManifestTable, details: ArchiveDetails): string {
  const data = details.data[table.file.name];
  if (!data) throw new Error(`the manifest has no columns for ${table.name}`);
  const { schema, table: tableName } = data.root ?? data;
  const name = `${quoteName(schema)}.${quoteName(tableName)}`;
  const columns = data.columns.length > 0 ? ` (${data.columns.map(quoteName).join(', ')})` : '';
  const copy = `COPY ${name}${columns} FROM STDIN`;
  return data.of_extension || data.root ? `${copy};\n` : `TRUNCATE ONLY ${name};\n${copy} WITH (FREEZE);\n`;
}

export interface Feed {
  read: Filling['read'];
  batch: ManifestTable[];
  details: ArchiveDetails;
  child: RunningProcess;
  onBytes: (current: string, bytes: number) => void;
}

/**
 * The tables one after the other, each a COPY and its rows up to the end-of-copy mark. When an object is damaged the child is
 * ended: an end of its input would be taken for the end of the rows.
 */
export async function feedTables({ read, batch, details, child, onBytes }: Feed): Promise<void> {
  child.stdin.on('error', () => {});
  try {
    for (const table of batch) {
      await write(child.stdin, copyStatement(table, details));
      let left = table.file.bytes - AFTER_END_OF_COPY;
      for await (const frame of read(table.file)) {
        const content = frame.subarray(0, Math.max(0, left));
        left -= content.length;
        await write(child.stdin, content);
        onBytes(table.name, content.length);
        release(frame);
      }
    }
    child.stdin.end();
  } catch (error) {
    child.kill();
    throw error;
  }
}

function write(input: Writable, content: Uint8Array | string): Promise<void> {
  return new Promise((resolve, reject) => {
    input.write(content, (error) => (error ? reject(error) : resolve()));
  });
}

/** psql says `COPY n` for each table, in order. */
function checkTags(tags: string, batch: ManifestTable[]): void {
  const counts = countsOf(tags);
  const wrong = batch.filter((table, index) => counts[index] !== table.rows);
  if (wrong.length === 0) return;
  const lines = wrong.map(
    (table) => `${table.name}: ${counts[batch.indexOf(table)] ?? 0} rows loaded, ${table.rows} in the manifest`,
  );
  throw restoreFailed('Not all rows were loaded', lines);
}

function countsOf(tags: string): number[] {
  return [...tags.matchAll(/^COPY (\d+)$/gm)].map((match) => Number(match[1]));
}
