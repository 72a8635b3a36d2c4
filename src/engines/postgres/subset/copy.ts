import type { Writable } from 'node:stream';
import { redact } from '../../../process/redact.ts';
import type { RunningProcess } from '../../../process/runner.ts';
import { createRowSet } from '../../../subset/row-set.ts';
import type { EngineContext } from '../../engine.ts';
import type { SubsetRun } from '../../subset.ts';
import { PSQL_FLAGS, quoteName, quoteText } from '../connection/session.ts';
import { connectionOf, type Settings } from '../connection/url.ts';
import { COPY_FLAGS } from '../restore/load-tables.ts';
import { restoreFailed } from '../restore/restore-failed.ts';
import type { Leaf, SubsetTable } from './catalogue.ts';
import { type OpenSource, READING_SETTINGS } from './reading.ts';
import { batchesOf, isOneOf } from './rows.ts';

export interface Copying {
  source: OpenSource;
  run: SubsetRun;
  /** Of the sessions that write. */
  settings: Settings;
}

/** TRUNCATE, COPY, and the end of the rows. */
const SCRIPT_LINES = 3;

/** A leaf of which rows are copied. */
interface Task {
  table: SubsetTable;
  leaf: Leaf;
  /** How many; an estimate where all are. */
  rows: number;
}

/**
 * Copies the rows, several tables at once: one psql reads them, and what it says is the script of another that writes
 * them, so that nothing is kept. The result is the number of rows by table.
 */
export async function copyRows(context: EngineContext, copying: Copying): Promise<Map<string, number>> {
  const { run } = copying;
  const tasks = tasksOf(copying);
  const total = tasks.reduce((sum, { rows }) => sum + rows, 0);
  // The lines around the rows of each leaf are no rows.
  let done = -SCRIPT_LINES * tasks.length;
  const onRows = (current: string, rows: number): void => {
    done += rows;
    context.report({
      event: 'progress',
      step: 'copy',
      done: Math.max(0, done),
      total: Math.max(total, done),
      unit: 'rows',
      current,
    });
  };
  const failed = new AbortController();
  const signal = AbortSignal.any([context.signal, failed.signal]);
  const counts = new Map<string, number>();
  const outcomes = await Promise.allSettled(
    shares(tasks, run.jobs).map(async (share) => {
      try {
        const copied = await copyShare({ ...context, signal }, { ...copying, share, onRows });
        for (const [index, { table }] of share.entries()) {
          counts.set(table.name, (counts.get(table.name) ?? 0) + (copied[index] ?? 0));
        }
      } catch (error) {
        failed.abort(error);
        throw error;
      }
    }),
  );
  context.signal.throwIfAborted();
  if (failed.signal.aborted) throw failed.signal.reason;
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  return counts;
}

function tasksOf({ source: { catalogue }, run: { plan, collected } }: Copying): Task[] {
  return [...catalogue.tables.values()].flatMap((table): Task[] => {
    if (plan.rules.get(table.name) === 'copy') {
      const rows = plan.graph.tables.get(table.name)?.rows ?? 0;
      return table.leaves.map((leaf) => ({ table, leaf, rows: Math.ceil(rows / table.leaves.length) }));
    }
    const rows = collected.taken.get(table.name);
    if (rows === undefined || rows.size === 0) return [];
    const counts = new Map<Leaf, number>();
    for (const batch of batchesOf(rows, table.leaves)) {
      counts.set(batch.leaf, (counts.get(batch.leaf) ?? 0) + batch.rows.length);
    }
    return [...counts].map(([leaf, count]) => ({ table, leaf, rows: count }));
  });
}

/** As many shares as jobs, of about as many rows each. */
function shares(tasks: Task[], jobs: number): Task[][] {
  const all = Array.from({ length: jobs }, (): { tasks: Task[]; rows: number } => ({ tasks: [], rows: 0 }));
  for (const task of tasks.sort((a, b) => b.rows - a.rows)) {
    const lightest = all.reduce((least, share) => (share.rows < least.rows ? share : least));
    lightest.tasks.push(task);
    lightest.rows += task.rows;
  }
  return all.filter((share) => share.tasks.length > 0).map((share) => share.tasks);
}

interface Share extends Copying {
  share: Task[];
  onRows: (table: string, rows: number) => void;
}

/** The numbers of rows written, leaf by leaf. */
async function copyShare(context: EngineContext, { source, run, settings, share, onRows }: Share): Promise<number[]> {
  const { runner, signal } = context;
  const psql = source.tools.psql;
  const from = connectionOf(source.url, { ...COPY_SETTINGS, ...READING_SETTINGS });
  const to = connectionOf(run.url, { ...COPY_SETTINGS, ...settings });
  let current = '';
  const reader = runner.start(
    { file: psql, args: [...PSQL_FLAGS, ...COPY_FLAGS, ...from.args], env: from.env, mounts: from.mounts },
    { signal, onErrorLine: (line) => (current = line.startsWith(NOW) ? line.slice(NOW.length) : current) },
  );
  const flags = [...PSQL_FLAGS.filter((flag) => flag !== '--quiet'), '--single-transaction', ...COPY_FLAGS];
  const writer = runner.start({ file: psql, args: [...flags, ...to.args], env: to.env, mounts: to.mounts }, { signal });
  let tags = '';
  writer.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    tags += chunk;
  });
  const [, passed, read, written] = await Promise.allSettled([
    ask(reader, { source, run, share }),
    pass(reader, { writer, onLines: (lines) => onRows(current, lines) }),
    reader.ended,
    writer.ended,
  ]);
  signal.throwIfAborted();
  for (const [side, ended] of Object.entries({ read, written })) {
    if (ended.status === 'rejected') throw ended.reason;
    const { exitCode, stderr } = ended.value;
    if (exitCode === 0 || exitCode === null) continue;
    const words = redact(stderr).trim().split('\n');
    const lines = words.filter((line) => !line.startsWith(NOW)).slice(0, 20);
    throw restoreFailed(`The rows of the subset could not be ${side}`, lines);
  }
  if (passed.status === 'rejected') throw passed.reason;
  return [...tags.matchAll(/^COPY (\d+)$/gm)].map((match) => Number(match[1]));
}

const COPY_SETTINGS = {
  search_path: 'pg_catalog',
  row_security: 'off',
  xmloption: 'content',
  client_min_messages: 'warning',
};

/** Begins the line on standard error by which the reader says at which table it is. */
const NOW = 'tool: now at ';

type Asking = Pick<Copying, 'source' | 'run'> & { share: Task[] };

/** Tells the reader what to read; what it echoes around the rows is what the writer has to be told. */
async function ask(reader: RunningProcess, { source, run, share }: Asking): Promise<void> {
  const { stdin } = reader;
  stdin.on('error', () => {});
  await write(stdin, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;\n');
  await write(stdin, `SET TRANSACTION SNAPSHOT ${quoteText(source.snapshot)};\n`);
  for (const { table, leaf } of share) {
    const nulled = run.plan.nulled.get(table.name);
    const columns = table.columns.map(quoteName);
    const values = table.columns.map((column) => (nulled?.has(column) ? 'NULL' : quoteName(column)));
    const query = `SELECT ${values.join(', ')} FROM ${leaf.from}`;
    const list = columns.length > 0 ? ` (${columns.join(', ')})` : '';
    await write(stdin, `\\warn ${echoed(`${NOW}${table.name}`)}\n`);
    await write(stdin, `\\echo ${echoed(`TRUNCATE ONLY ${leaf.name};`)}\n`);
    // FREEZE writes the rows as the vacuum would leave them.
    await write(stdin, `\\echo ${echoed(`COPY ${leaf.name}${list} FROM STDIN WITH (FREEZE);`)}\n`);
    if (run.plan.rules.get(table.name) === 'copy') await write(stdin, `COPY (${query}) TO STDOUT;\n`);
    else {
      for (const batch of batchesOf(run.collected.taken.get(table.name) ?? createRowSet(), [leaf])) {
        await write(stdin, `COPY (${query} WHERE ${isOneOf(batch)}) TO STDOUT;\n`);
      }
    }
    await write(stdin, `\\echo ${echoed('\\.')}\n`);
  }
  stdin.end('COMMIT;\n');
}

/** A text as an argument of psql's own commands. */
function echoed(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

const LINE_FEED = 0x0a;

/** When the reader does not end well the writer is ended: an end of its input would be taken for the end of the rows. */
async function pass(
  reader: RunningProcess,
  { writer, onLines }: { writer: RunningProcess; onLines: (lines: number) => void },
): Promise<void> {
  writer.stdin.on('error', () => reader.kill());
  try {
    for await (const chunk of reader.stdout as AsyncIterable<Buffer>) {
      let lines = 0;
      for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, at + 1)) lines += 1;
      await write(writer.stdin, chunk);
      onLines(lines);
    }
    const { exitCode } = await reader.ended;
    if (exitCode !== 0) throw new Error('the reader did not end well');
    writer.stdin.end();
  } catch (error) {
    writer.kill();
    throw error;
  }
}

function write(input: Writable, content: Uint8Array | string): Promise<void> {
  return new Promise((resolve, reject) => {
    input.write(content, (error) => (error ? reject(error) : resolve()));
  });
}
