import type { StoredTable } from '../../../engines/facets/restore.ts';
import { profileOf } from '../../../engines/list.ts';
import { engineOf } from '../../../engines/registry.ts';
import type { RowChunks } from '../../../engines/shared/rows/compare-rows.ts';
import { createRowScanner, type ScannedRow } from '../../../engines/shared/rows/row-scanner.ts';
import { pairsOf, type StoredSide } from '../../../engines/shared/rows/stored-pairs.ts';
import type { Manifest, ManifestFile, ManifestTable } from '../../../repository/manifest/manifest.ts';
import type { ObjectPool } from '../../../repository/objects/object-pool.ts';
import { release } from '../../../repository/objects/release.ts';
import type { RowsDiff, TableDiff } from '../../../results/review/diff-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { columnsOf, formatOf, maskedRows, readerOf } from '../rows/rows.ts';
import type { snapshotReader } from '../snapshot-reader.ts';
import { findDifference, type RowDifference } from './difference.ts';

/** A table in one of two snapshots. */
export interface ComparedSide {
  manifest: Manifest;
  read: ReturnType<typeof snapshotReader>;
  /** `null` where the snapshot does not have it. */
  table: ManifestTable | null;
  columns: string[];
  stored: StoredTable | null;
}

export async function readSide(
  context: Context,
  { manifest, table: name, pool }: { manifest: Manifest; table: string; pool: ObjectPool },
): Promise<ComparedSide> {
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

/** Rows of a stored file as lines in the text of COPY, also those that mysqldump wrote as statements. */
function storedLines(manifest: Manifest, read: ReturnType<typeof snapshotReader>): (file: ManifestFile) => RowChunks {
  return formatOf(manifest) === 'copied'
    ? (file) => withoutEnd(manifest, read, file)
    : (file) => fromStatements(read(file));
}

async function* withoutEnd(
  { engine }: Manifest,
  read: ReturnType<typeof snapshotReader>,
  file: ManifestFile,
): RowChunks {
  let left = file.bytes - profileOf(engine).rows.endBytes;
  for await (const chunk of read(file)) {
    const rows = chunk.subarray(0, Math.max(0, left));
    left -= rows.length;
    yield rows;
  }
}

async function* fromStatements(chunks: AsyncIterable<Uint8Array>): RowChunks {
  let lines: Buffer[] = [];
  const scanner = createRowScanner({
    ...{ format: 'inserted', mostBytes: Number.POSITIVE_INFINITY, emptyEnd: false },
    onRow: ({ values }) => lines.push(Buffer.from(`${values.map(fieldOf).join('\t')}\n`, 'latin1')) > 0,
  });
  for await (const chunk of chunks) {
    scanner.push(chunk);
    yield Buffer.concat(lines);
    lines = [];
  }
}

/** The lines with only the fields at these places, in this order. */
async function* selectFields(chunks: RowChunks, places: number[]): RowChunks {
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1')).split('\n');
    release(chunk);
    rest = lines.pop() ?? '';
    const selected = lines.map((line) => {
      const fields = line.split('\t');
      return `${places.map((place) => fields[place] ?? '').join('\t')}\n`;
    });
    yield Buffer.from(selected.join(''), 'latin1');
  }
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n' };

function fieldOf(value: ScannedRow['values'][number]): string {
  if (value === null) return '\\N';
  return Buffer.from(value.bytes)
    .toString('latin1')
    .replaceAll(/[\\\t\n]/g, (letter) => ESCAPES[letter] ?? letter);
}

/** The values of lines, in Latin-1 text; of each at most so many bytes. */
function scanLines(lines: string[], mostBytes: number): ScannedRow[] {
  const rows: ScannedRow[] = [];
  const scanner = createRowScanner({
    ...{ format: 'copied', mostBytes, emptyEnd: false },
    onRow: (row) => rows.push(row) > 0,
  });
  for (const line of lines) scanner.push(Buffer.from(`${line}\n`, 'latin1'));
  return rows;
}
