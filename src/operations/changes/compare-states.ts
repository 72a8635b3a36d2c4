import { ownFiles } from '../../engines/shared/rows/stored-pairs.ts';
import type { Manifest } from '../../repository/manifest/manifest.ts';
import { createObjectPool, type ObjectPool } from '../../repository/objects/object-pool.ts';
import { chooseTables } from '../../repository/select-tables.ts';
import type { ChangedTable, ChangesResult } from '../../results/review/changes-results.ts';
import type { RowsDiff } from '../../results/review/diff-results.ts';
import type { Context } from '../../runtime/context.ts';
import {
  type ComparedRows,
  type ComparedSide,
  compareStored,
  readSide,
  shownDifference,
} from '../snapshots/diff/compare-stored.ts';
import { type ComparedDefinitions, compareDefinitions } from './compare-definitions.ts';

/** The two states that are compared. */
export interface ComparedStates {
  before: Manifest;
  after: Manifest;
  /** Reads rows that are not stored. Default: all are. */
  read?: ComparedSide['read'];
  /** Default: these are read of both sides. */
  definitions?: ComparedDefinitions;
}

/** The rows of a comparison that are shown. */
export interface ShownTables {
  target: string;
  /** Patterns of tables whose rows are shown; the others are counted. */
  tables?: string[];
  /** Rows of each kind of change and table. */
  limit: number;
  reveal: boolean;
  /** Keeps the rows of every table, for statements. */
  keeps: boolean;
}

export interface Comparison extends Pick<ChangesResult, 'tables' | 'unchanged'>, ComparedDefinitions {
  /** By table, where they are kept. */
  rows: Map<string, ComparedRows>;
}

/** Compares all tables by their rows, and the definitions. */
export async function compareStates(context: Context, states: ComparedStates, shown: ShownTables): Promise<Comparison> {
  const { before, after, definitions } = states;
  const names = [...new Set([before, after].flatMap(({ tables }) => tables.map(({ name }) => name)))].sort();
  const text = { unknown: `${shown.target} has no table`, hint: '' };
  const withRows = new Set(shown.tables ? chooseTables(shown.tables, names, text) : []);
  await using pool = createObjectPool(2);
  const tables: ChangedTable[] = [];
  const rows = new Map<string, ComparedRows>();
  for (const [done, name] of names.entries()) {
    context.signal.throwIfAborted();
    context.report({ event: 'progress', step: 'compare', done, total: names.length, unit: 'tables', current: name });
    const { sides, changed } = await compareRows(context, { name, ...states, pool });
    const found = sides && changed && describeTable(sides, changed, { name, shown, isShown: withRows.has(name) });
    if (!found) continue;
    tables.push(found);
    if (shown.keeps && typeof changed === 'object') rows.set(name, changed);
  }
  const compared = definitions ?? (await compareDefinitions(context, { before, after, pool }));
  return { tables, rows, unchanged: names.length - tables.length, ...compared };
}

export interface ShownTable extends Pick<ShownTables, 'limit' | 'reveal'> {
  /** `schema.table` */
  table: string;
}

/** Compares the rows of one table again; `null` where they are equal or cannot be compared. */
export async function compareTable(
  context: Context,
  states: ComparedStates,
  { table, limit, reveal }: ShownTable,
): Promise<RowsDiff | null> {
  // Both sides are read at the same time.
  await using pool = createObjectPool(2);
  const { changed: rows } = await compareRows(context, { name: table, ...states, pool });
  return rows && typeof rows === 'object' ? shownDifference(rows, { table, limit, reveal }) : null;
}

interface TableStates extends ComparedStates {
  /** `schema.table` */
  name: string;
  pool: ObjectPool;
}

/** Compares the rows of one table; `null` where both sides have the same objects, a reason where they cannot be compared. */
export async function compareRows(context: Context, states: TableStates) {
  const sides = await sidesOf(context, states);
  return { sides, changed: sides && (await compareStored(context, sides.before, sides.after)) };
}

interface Sides {
  before: ComparedSide;
  after: ComparedSide;
}

/** `null` where both sides have the same objects. */
async function sidesOf(context: Context, { name, before, after, read, pool }: TableStates): Promise<Sides | null> {
  const [old = null, now = null] = [before, after].map(({ tables }) => tables.find((table) => table.name === name));
  if (old && now && ownFiles(old, now).length === 0 && ownFiles(now, old).length === 0) return null;
  const sideOf = async (manifest: Manifest): Promise<ComparedSide> => ({
    ...(await readSide(context, { manifest, table: name, pool })),
    ...(read && { read }),
  });
  return { before: await sideOf(before), after: await sideOf(after) };
}

/** `null` where all rows are equal. */
function describeTable(
  { before, after }: Sides,
  rows: Awaited<ReturnType<typeof compareStored>>,
  { name, shown, isShown }: { name: string; shown: Pick<ShownTables, 'limit' | 'reveal'>; isShown: boolean },
): ChangedTable | null {
  const change = before.table && after.table ? 'changed' : after.table ? 'added' : 'gone';
  if (typeof rows === 'string') {
    const [old = 0, now = 0] = [before.table?.rows, after.table?.rows];
    const counts = { added: old === 0 ? now : null, changed: null, removed: now === 0 ? old : null };
    return { table: name, change, ...counts, not_compared: rows };
  }
  if (change === 'changed' && isEqual(rows)) return null;
  const { limit, reveal } = shown;
  const difference = shownDifference(rows, { table: name, limit: isShown ? limit : 0, reveal });
  const { added, changed, removed } = difference;
  return { table: name, change, added, changed, removed, ...(isShown && { rows: difference }) };
}

function isEqual({ counts: { added, changed, removed } }: ComparedRows): boolean {
  return added + changed + removed === 0;
}
