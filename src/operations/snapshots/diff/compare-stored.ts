import type { StoredTable } from '../../../engines/facets/restore.ts';
import { engineOf } from '../../../engines/registry.ts';
import { compareRows } from '../../../engines/shared/compare-rows.ts';
import { pairsOf } from '../../../engines/shared/stored-pairs.ts';
import type { Manifest, ManifestTable } from '../../../repository/manifest/manifest.ts';
import type { ObjectPool } from '../../../repository/objects/object-pool.ts';
import type { RowsDiff, TableDiff } from '../../../results/table-diff.ts';
import type { Context } from '../../../runtime/context.ts';
import { localRepository } from '../local-repository.ts';
import { columnsOf, maskedRows } from '../rows.ts';
import { snapshotReader } from '../snapshot-reader.ts';
import { scanLines, storedLines } from './stored-lines.ts';

/** A table in one of two snapshots. */
export interface ComparedSide {
  manifest: Manifest;
  read: ReturnType<typeof snapshotReader>;
  /** `null` where the snapshot does not have it. */
  table: ManifestTable | null;
  columns: string[];
  stored: StoredTable | null;
}

export interface SideRequest {
  manifest: Manifest;
  table: string;
  pool: ObjectPool;
}

export function readerOf(context: Context, { manifest, pool }: Pick<SideRequest, 'manifest' | 'pool'>) {
  const { signal } = context;
  return snapshotReader({
    ...{ manifest, pool, signal },
    repository: localRepository(context),
    state: 'Nothing was changed.',
  });
}

export async function readSide(context: Context, { manifest, table: name, pool }: SideRequest): Promise<ComparedSide> {
  const table = manifest.tables.find((one) => one.name === name) ?? null;
  const read = readerOf(context, { manifest, pool });
  const stored = table ? await engineOf(manifest.engine).readTable({ manifest, table: name, read }) : null;
  return { manifest, read, table, stored, columns: table ? columnsOf(manifest, table) : [] };
}

/** Rows that only one side has, as lines in the text of COPY. */
export interface ComparedRows {
  columns: string[];
  /** Indexes of the columns of the primary key; none where it is missing, or differs. */
  key: number[];
  removed: string[];
  added: string[];
  /** Rows with the same key, as they were and as they are. */
  changed: [before: string, after: string][];
}

type NotComparedReason = Exclude<TableDiff['rows_not_compared'], 'one_side' | null>;

/** Memory of the rows that differ. */
const MOST_BYTES = 128 * 1024 * 1024;

/** Compares all rows of a table, equal ones as often as there are. Reads no object that both sides have. */
export async function compareStored(
  { signal }: Pick<Context, 'signal'>,
  before: ComparedSide,
  after: ComparedSide,
): Promise<ComparedRows | NotComparedReason> {
  const [old, now] = [before, after].map((side) => ({
    table: side.table,
    rows: storedLines(side.manifest, side.read),
  }));
  const isEverywhere = before.table !== null && after.table !== null;
  if (!old || !now || (isEverywhere && JSON.stringify(before.columns) !== JSON.stringify(after.columns))) {
    return 'columns_differ';
  }
  const limits = { mostRemoved: MOST_BYTES, mostAdded: MOST_BYTES, mostBytes: MOST_BYTES, signal };
  const difference = await compareRows(pairsOf(old, now), limits);
  if (typeof difference === 'string') return 'too_large';
  const columns = after.table ? after.columns : before.columns;
  const key = keyColumns(before, after, columns);
  return { columns, key, ...withChanged(difference, key) };
}

function keyColumns(before: ComparedSide, after: ComparedSide, columns: string[]): number[] {
  const [old, now] = [before, after].map(({ table, stored }) => (table ? stored?.key : undefined));
  if (old && now && JSON.stringify(old) !== JSON.stringify(now)) return [];
  const indexes = (now ?? old ?? []).map((name) => columns.indexOf(name));
  return indexes.includes(-1) ? [] : indexes;
}

/** Equal values are equal text in a line. */
function withChanged({ removed, added }: Pick<ComparedRows, 'removed' | 'added'>, key: number[]) {
  if (key.length === 0 || removed.length === 0 || added.length === 0) return { removed, added, changed: [] };
  const keyOf = (line: string): string => {
    const fields = line.split('\t');
    return key.map((index) => fields[index]).join('\t');
  };
  const old = new Map(removed.map((line) => [keyOf(line), line]));
  const changed: [string, string][] = [];
  const only = added.filter((line) => {
    const own = keyOf(line);
    const earlier = old.get(own);
    if (earlier === undefined) return true;
    old.delete(own);
    changed.push([earlier, line]);
    return false;
  });
  return { removed: [...old.values()], added: only, changed };
}

export interface ShownRows {
  table: string;
  /** Rows of each kind. */
  limit: number;
  reveal: boolean;
}

const MOST_VALUE_BYTES = 512;

/** The counts, and the first rows of each kind with personal values masked. */
export function shownDifference(
  { columns, key, removed, added, changed }: ComparedRows,
  { table, limit, reveal }: ShownRows,
): RowsDiff {
  const samples = [
    ...removed.slice(0, limit).map((line) => ({ change: 'removed' as const, line })),
    ...added.slice(0, limit).map((line) => ({ change: 'added' as const, line })),
    ...changed.slice(0, limit).flatMap(([old, now]) => [
      { change: 'before' as const, line: old },
      { change: 'after' as const, line: now, changed_columns: differing(columns, old, now) },
    ]),
  ];
  const rows = scanLines(
    samples.map(({ line }) => line),
    MOST_VALUE_BYTES,
  );
  const shown = maskedRows({ table, columns, rows, reveal });
  return {
    columns: shown.columns,
    key: key.map((index) => columns[index] ?? ''),
    ...{ added: added.length, removed: removed.length },
    changed: key.length === 0 ? null : changed.length,
    samples: samples.map(({ line: _, ...sample }, index) => ({ ...sample, values: shown.rows[index] ?? [] })),
  };
}

function differing(columns: string[], before: string, after: string): string[] {
  const [old, now] = [before.split('\t'), after.split('\t')];
  return columns.filter((_, index) => old[index] !== now[index]);
}
