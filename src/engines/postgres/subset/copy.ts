import { createRowSet } from '../../../subset/row-set.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { SubsetRun } from '../../facets/subset.ts';
import { type CopiedAmount, copyProgress } from '../../shared/bytes-progress.ts';
import { runTogether } from '../../shared/run-together.ts';
import { quoteName } from '../connection/quote.ts';
import type { SessionSettings } from '../connection/url.ts';
import type { OpenSource } from './open-source.ts';
import { type Part, pipeRows } from './pipe.ts';
import { batchesOf, isOneOf } from './rows.ts';
import type { Leaf, SubsetTable } from './subset-catalog.ts';

export interface SubsetCopyOptions {
  source: OpenSource;
  run: SubsetRun;
  settings: SessionSettings;
}

interface Task {
  table: SubsetTable;
  leaf: Leaf;
  rows: number;
}

/** Pipes rows from one psql to another, several tables at a time. Returns rows by table. */
export async function copyRows(context: EngineContext, copying: SubsetCopyOptions): Promise<Map<string, number>> {
  const { run } = copying;
  const tasks = tasksOf(copying);
  const expected = new Map<string, number>();
  for (const { table, rows } of tasks) expected.set(table.name, (expected.get(table.name) ?? 0) + rows);
  const onMoved = copyProgress(context.report, expected);
  const counts = new Map<string, number>();
  const copies = shares(tasks, run.cpus).map((share) => async (signal: AbortSignal): Promise<void> => {
    const copied = await copyShare({ ...context, signal }, { ...copying, share, onMoved });
    for (const [index, { table }] of share.entries()) {
      counts.set(table.name, (counts.get(table.name) ?? 0) + (copied[index] ?? 0));
    }
  });
  await runTogether(context.signal, copies);
  return counts;
}

function tasksOf({ source: { catalog }, run: { plan, collected } }: SubsetCopyOptions): Task[] {
  return [...catalog.tables.values()].flatMap((table): Task[] => {
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

function shares(tasks: Task[], cpus: number): Task[][] {
  const all = Array.from({ length: cpus }, (): { tasks: Task[]; rows: number } => ({ tasks: [], rows: 0 }));
  for (const task of tasks.sort((a, b) => b.rows - a.rows)) {
    const lightest = all.reduce((least, share) => (share.rows < least.rows ? share : least));
    lightest.tasks.push(task);
    lightest.rows += task.rows;
  }
  return all.filter((share) => share.tasks.length > 0).map((share) => share.tasks);
}

interface Share extends SubsetCopyOptions {
  share: Task[];
  onMoved: (table: string, moved: CopiedAmount) => void;
}

function copyShare(context: EngineContext, { source, run, settings, share, onMoved }: Share): Promise<number[]> {
  return pipeRows(context, {
    ...{ source, settings, url: run.url, what: 'The rows of the subset' },
    parts: share.map((task) => partOf(run, task)),
    onMoved: ({ name }, moved) => onMoved(name, moved),
  });
}

function partOf({ plan, collected }: SubsetRun, { table, leaf }: Task): Part {
  const nulled = plan.nulled.get(table.name);
  const columns = table.columns.map(quoteName);
  const values = table.columns.map((column) => (nulled?.has(column) ? 'NULL' : quoteName(column)));
  const query = `SELECT ${values.join(', ')} FROM ${leaf.from}`;
  const list = columns.length > 0 ? ` (${columns.join(', ')})` : '';
  function* read(): Generator<string> {
    if (plan.rules.get(table.name) === 'copy') {
      yield `COPY (${query}) TO STDOUT;\n`;
      return;
    }
    for (const batch of batchesOf(collected.taken.get(table.name) ?? createRowSet(), [leaf])) {
      yield `COPY (${query} WHERE ${isOneOf(batch)}) TO STDOUT;\n`;
    }
  }
  // FREEZE saves a vacuum; it needs a TRUNCATE in the transaction, and partitioned tables do not support it.
  const write = leaf.root
    ? `COPY ${leaf.root}${list} FROM STDIN`
    : `TRUNCATE ONLY ${leaf.name}; COPY ${leaf.name}${list} FROM STDIN WITH (FREEZE)`;
  return { name: table.name, read, write };
}
