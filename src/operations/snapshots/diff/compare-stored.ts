import type { StoredTable } from '../../../engines/facets/restore.ts';
import { engineOf } from '../../../engines/registry.ts';
import { pairsOf, type StoredSide } from '../../../engines/shared/rows/stored-pairs.ts';
import type { Manifest, ManifestTable } from '../../../repository/manifest/manifest.ts';
import type { ObjectPool } from '../../../repository/objects/object-pool.ts';
import type { RowsDiff, TableDiff } from '../../../results/review/diff-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { columnsOf, maskedRows, readerOf } from '../rows/rows.ts';
import type { snapshotReader } from '../snapshot-reader.ts';
import { findDifference, type RowDifference } from './difference.ts';
import { scanLines, selectFields, storedLines } from './stored-lines.ts';

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

export async function readSide(context: Context, { manifest, table: name, pool }: SideRequest): Promise<ComparedSide> {
  const table = manifest.tables.find((one) => one.name === name) ?? null;
  const read = readerOf(context, manifest, pool);
  const stored = table ? await engineOf(manifest.engine).readTable({ manifest, table: name, read }) : null;
  return { manifest, read, table, stored, columns: table ? columnsOf(manifest, table) : [] };
}

export interface ComparedRows extends RowDifference {
  columns: string[];
  /** Indexes of the columns of the primary key; none where it is missing, or differs. */
  key: number[];
}

type NotComparedReason = Exclude<TableDiff['rows_not_compared'], 'one_side' | null>;

/**
 * Compares all rows of a table, equal ones as often as there are, by the columns that both sides have. Reads no object
 * that both sides have.
 */
export async function compareStored(
  { signal }: Pick<Context, 'signal'>,
  before: ComparedSide,
  after: ComparedSide,
): Promise<ComparedRows | NotComparedReason> {
  const columns = commonColumns(before, after);
  if (columns.length === 0 && before.columns.length + after.columns.length > 0) return 'columns_differ';
  const key = keyColumns(before, after, columns);
  const [old, now] = [storedSide(before, columns), storedSide(after, columns)];
  const difference = await findDifference(() => pairsOf(old, now), { key, signal });
  return difference ? { columns, key, ...difference } : 'too_large';
}

function commonColumns(before: ComparedSide, after: ComparedSide): string[] {
  if (!before.table) return after.columns;
  return after.table ? after.columns.filter((column) => before.columns.includes(column)) : before.columns;
}

function storedSide({ manifest, read, table, columns: own }: ComparedSide, columns: string[]): StoredSide {
  const lines = storedLines(manifest, read);
  if (!table || JSON.stringify(own) === JSON.stringify(columns)) return { table, rows: lines };
  const places = columns.map((column) => own.indexOf(column));
  return { table, rows: (file) => selectFields(lines(file), places) };
}

function keyColumns(before: ComparedSide, after: ComparedSide, columns: string[]): number[] {
  const [old, now] = [before, after].map(({ table, stored }) => (table ? stored?.key : undefined));
  if (old && now && JSON.stringify(old) !== JSON.stringify(now)) return [];
  const indexes = (now ?? old ?? []).map((name) => columns.indexOf(name));
  return indexes.includes(-1) ? [] : indexes;
}

export interface ShownRows {
  table: string;
  /** Rows of each kind. */
  limit: number;
  reveal: boolean;
}

/** Bytes of all values together, and of one at most. */
const MOST_BYTES = 8 * 1024 * 1024;
const MOST_VALUE_BYTES = 4096;

/** The counts, and the first rows of each kind with personal values masked. */
export function shownDifference(
  { columns, key, counts, removed, added, changed }: ComparedRows,
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
  const each = Math.floor(MOST_BYTES / Math.max(1, samples.length * columns.length));
  const rows = scanLines(
    samples.map(({ line }) => line),
    Math.min(MOST_VALUE_BYTES, each),
  );
  const shown = maskedRows({ table, columns, rows, reveal });
  return {
    columns: shown.columns,
    key: key.map((index) => columns[index] ?? ''),
    ...{ added: counts.added, removed: counts.removed },
    changed: key.length === 0 ? null : counts.changed,
    samples: samples.map(({ line: _, ...sample }, index) => ({ ...sample, values: shown.rows[index] ?? [] })),
    ...(shown.cut.length > 0 && { cut: shown.cut }),
  };
}

function differing(columns: string[], before: string, after: string): string[] {
  const [old, now] = [before.split('\t'), after.split('\t')];
  return columns.filter((_, index) => old[index] !== now[index]);
}
