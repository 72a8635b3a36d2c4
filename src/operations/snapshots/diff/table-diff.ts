import { diffLines } from '../../../config/edit/diff-lines.ts';
import type { ManifestTable } from '../../../repository/manifest/manifest.ts';
import { createObjectPool } from '../../../repository/objects/object-pool.ts';
import type { TableDiff } from '../../../results/review/diff-results.ts';
import type { Context } from '../../../runtime/context.ts';
import type { SnapshotSelector } from '../../../text/snapshot-selector.ts';
import { assertLocal, tableNamed } from '../rows/rows.ts';
import { findSnapshot } from '../snapshots.ts';
import { type ComparedSide, compareStored, readSide, shownDifference } from './compare-stored.ts';

export interface TableDiffRequest {
  target: string;
  a: SnapshotSelector;
  b: SnapshotSelector;
  original?: boolean;
  /** `schema.table` */
  table: string;
  /** Values that look like personal data as they are. */
  reveal?: boolean;
  /** Rows of each kind. Default: 10. */
  limit?: number;
}

const DEFAULT_ROWS = 10;

/** Definitions and rows of a table in two snapshots of this machine. */
export async function diffTable(context: Context, request: TableDiffRequest): Promise<TableDiff> {
  const { target, a, b, original = false, reveal = false, limit = DEFAULT_ROWS } = request;
  const [from, to] = [
    await findSnapshot(context, { target, snapshot: a, original }),
    await findSnapshot(context, { target, snapshot: b, original }),
  ];
  for (const found of [from, to]) assertLocal(found, target);
  const names = [from, to].flatMap(({ manifest }) => manifest.tables);
  const { name } = tableNamed({ ...to.manifest, tables: distinct(names) }, request.table);
  // Both sides are read at the same time.
  await using pool = createObjectPool(2);
  const [before, after] = [
    await readSide(context, { manifest: from.manifest, table: name, pool }),
    await readSide(context, { manifest: to.manifest, table: name, pool }),
  ];
  const base = { target, table: name, from: from.row, to: to.row, definition: definitionOf(before, after) };
  const isEverywhere = before.table !== null && after.table !== null;
  const compared = isEverywhere ? await compareStored(context, before, after) : 'one_side';
  if (typeof compared === 'string') return { ...base, rows: null, rows_not_compared: compared };
  return {
    ...base,
    rows: shownDifference(compared, { table: name, limit, reveal }),
    rows_not_compared: null,
  };
}

function distinct(tables: ManifestTable[]): ManifestTable[] {
  return [...new Map(tables.map((table) => [table.name, table])).values()];
}

function definitionOf(before: ComparedSide, after: ComparedSide): TableDiff['definition'] {
  const unknown = [before, after].some(({ table, stored }) => table && !stored);
  return unknown ? null : diffText(before.stored?.text ?? '', after.stored?.text ?? '');
}

export function diffText(old: string, now: string): NonNullable<TableDiff['definition']> {
  const [oldLines, newLines] = [old.split('\n'), now.split('\n')];
  return diffLines(old, now).map(({ kind, number }) => ({
    change: kind,
    text: (kind === 'removed' ? oldLines : newLines)[number] ?? '',
  }));
}
