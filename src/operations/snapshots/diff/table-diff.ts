import { diffLines } from '../../../config/edit/diff-lines.ts';
import type { StoredTable } from '../../../engines/facets/restore.ts';
import { engineOf } from '../../../engines/registry.ts';
import type { ScannedRow } from '../../../engines/shared/row-scanner.ts';
import {
  filesOfTable,
  type Manifest,
  type ManifestFile,
  type ManifestTable,
} from '../../../repository/manifest/manifest.ts';
import { createObjectPool } from '../../../repository/objects/object-pool.ts';
import type { RowsDiff, TableDiff } from '../../../results/table-diff.ts';
import type { Context } from '../../../runtime/context.ts';
import type { SnapshotSelector } from '../../../text/snapshot-selector.ts';
import { localRepository } from '../local-repository.ts';
import { assertLocal, columnsOf, maskedRows, scanRows, tableNamed } from '../rows.ts';
import { snapshotReader } from '../snapshot-reader.ts';
import { findSnapshot } from '../snapshots.ts';

export interface TableDiffRequest {
  target: string;
  a: SnapshotSelector;
  b: SnapshotSelector;
  original?: boolean;
  /** `schema.table` */
  table: string;
  /** Values that look like personal data as they are. */
  reveal?: boolean;
}

/** Bytes of rows to compare, of both sides; parts that both have are not read. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Rows of either side: their hashes are in memory. */
const MOST_ROWS = 1_000_000;
/** Values of the differing rows whose keys are compared, of each side. */
const MOST_KEPT = 100_000;
const MOST_VALUE_BYTES = 512;
const SAMPLES = 10;

/** Definitions and rows of a table in two snapshots of this machine. */
export async function diffTable(context: Context, request: TableDiffRequest): Promise<TableDiff> {
  const { target, a, b, original = false, reveal = false } = request;
  const [from, to] = [
    await findSnapshot(context, { target, snapshot: a, original }),
    await findSnapshot(context, { target, snapshot: b, original }),
  ];
  for (const found of [from, to]) assertLocal(found, target);
  const names = [from, to].flatMap(({ manifest }) => manifest.tables);
  const { name } = tableNamed({ ...to.manifest, tables: distinct(names) }, request.table);
  const [before, after] = [await sideOf(context, from.manifest, name), await sideOf(context, to.manifest, name)];
  const base = { target, table: name, from: from.row, to: to.row, definition: definitionOf(before, after) };
  const reason = notCompared(before, after);
  if (reason || !before.table || !after.table) return { ...base, rows: null, rows_not_compared: reason };
  return { ...base, rows: await diffRows(context, { before, after, reveal }), rows_not_compared: null };
}

function distinct(tables: ManifestTable[]): ManifestTable[] {
  return [...new Map(tables.map((table) => [table.name, table])).values()];
}

interface Side {
  manifest: Manifest;
  table: ManifestTable | undefined;
  columns: string[];
  stored: StoredTable | null;
}

async function sideOf(context: Context, manifest: Manifest, name: string): Promise<Side> {
  const table = manifest.tables.find((one) => one.name === name);
  await using pool = createObjectPool(1);
  const { signal } = context;
  const repository = localRepository(context);
  const read = snapshotReader({ manifest, repository, pool, signal, state: 'Nothing was changed.' });
  const stored = table ? await engineOf(manifest.engine).readTable({ manifest, table: name, read }) : null;
  return { manifest, table, stored: stored ?? null, columns: table ? columnsOf(manifest, table) : [] };
}

function definitionOf(before: Side, after: Side): TableDiff['definition'] {
  const unknown = [before, after].some(({ table, stored }) => table && !stored);
  if (unknown) return null;
  const [old, now] = [before.stored?.text ?? '', after.stored?.text ?? ''];
  const [oldLines, newLines] = [old.split('\n'), now.split('\n')];
  return diffLines(old, now).map(({ kind, number }) => ({
    change: kind,
    text: (kind === 'removed' ? oldLines : newLines)[number] ?? '',
  }));
}

function notCompared(before: Side, after: Side): TableDiff['rows_not_compared'] {
  if (!before.table || !after.table) return 'one_side';
  if (JSON.stringify(before.columns) !== JSON.stringify(after.columns)) return 'columns_differ';
  const files = [...ownFiles(before, after), ...ownFiles(after, before)];
  const isLarge = files.reduce((sum, { bytes }) => sum + bytes, 0) > MOST_BYTES;
  return isLarge || before.table.rows > MOST_ROWS || after.table.rows > MOST_ROWS ? 'too_large' : null;
}

function ownFiles({ table }: Side, other: Side): ManifestFile[] {
  const known = new Set((other.table ? filesOfTable(other.table) : []).map(({ sha256 }) => sha256));
  return table ? filesOfTable(table).filter(({ sha256 }) => !known.has(sha256)) : [];
}

interface CompareOptions {
  before: Side;
  after: Side;
  reveal: boolean;
}

interface DifferentRows {
  count: number;
  /** The first of them. */
  kept: ScannedRow[];
}

async function diffRows(context: Context, { before, after, reveal }: CompareOptions): Promise<RowsDiff> {
  const { columns } = after;
  const hashes = { before: new Set<number>(), after: new Set<number>() };
  await scanRows(context, before.manifest, {
    files: ownFiles(before, after),
    mostBytes: 0,
    // A manifest may name fewer rows than there are.
    onRow: ({ hash }) => hashes.before.add(hash).size <= MOST_ROWS,
  });
  const differing = async (
    [side, other]: [Side, Side],
    known: Set<number>,
    own?: Set<number>,
  ): Promise<DifferentRows> => {
    const found: DifferentRows = { count: 0, kept: [] };
    const most = Math.ceil(MOST_KEPT / columns.length);
    await scanRows(context, side.manifest, {
      files: ownFiles(side, other),
      mostBytes: MOST_VALUE_BYTES,
      onRow(row) {
        own?.add(row.hash);
        if (known.has(row.hash)) return true;
        found.count += 1;
        if (found.kept.length < most) found.kept.push(row);
        return found.count <= MOST_ROWS;
      },
    });
    return found;
  };
  const added = await differing([after, before], hashes.before, hashes.after);
  const removed = await differing([before, after], hashes.after);
  const pairs = pairsOf({ added, removed, key: keyColumns(before, after, columns) });
  const paired = new Set(pairs?.flat());
  const only = ({ kept }: DifferentRows): ScannedRow[] => kept.filter((row) => !paired.has(row)).slice(0, SAMPLES);
  const samples = [
    ...only(removed).map((row) => ({ change: 'removed' as const, row })),
    ...only(added).map((row) => ({ change: 'added' as const, row })),
    ...(pairs ?? []).slice(0, SAMPLES).flatMap(([old, now]) => [
      { change: 'before' as const, row: old },
      { change: 'after' as const, row: now },
    ]),
  ];
  const shown = maskedRows({ table: after.table?.name ?? '', columns, rows: samples.map(({ row }) => row), reveal });
  return {
    columns: shown.columns,
    added: added.count - (pairs?.length ?? 0),
    removed: removed.count - (pairs?.length ?? 0),
    changed: pairs?.length ?? null,
    samples: samples.map(({ change }, index) => ({ change, values: shown.rows[index] ?? [] })),
  };
}

/** Indexes of the columns of the primary key, where both sides have the same. */
function keyColumns({ stored: old }: Side, { stored: now }: Side, columns: string[]): number[] {
  if (!old || !now || JSON.stringify(old.key) !== JSON.stringify(now.key)) return [];
  const indexes = now.key.map((name) => columns.indexOf(name));
  return indexes.includes(-1) ? [] : indexes;
}

/** Rows of both sides with the same key; `null` where that cannot be told. */
function pairsOf({ added, removed, key }: { added: DifferentRows; removed: DifferentRows; key: number[] }) {
  const isAll = [added, removed].every(({ count, kept }) => count === kept.length);
  if (key.length === 0 || !isAll) return null;
  const keyOf = ({ values }: ScannedRow): string =>
    JSON.stringify(key.map((index) => values[index] && Buffer.from(values[index].bytes).toString('latin1')));
  const old = new Map(removed.kept.map((row) => [keyOf(row), row]));
  return added.kept.flatMap((row): [ScannedRow, ScannedRow][] => {
    const earlier = old.get(keyOf(row));
    return earlier ? [[earlier, row]] : [];
  });
}
