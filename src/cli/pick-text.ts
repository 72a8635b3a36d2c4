import { briefName } from '../presentation/snapshot.ts';
import type { SnapshotRow, TargetRow } from '../results/results.ts';
import { formatAge, formatBytes, formatNumberOf } from '../text/format.ts';
import { cellWidth, fitCells } from '../text/text-width.ts';

export const PICK = {
  target: 'Target:',
  snapshot: 'Snapshot:',
  keys: '↑↓ move, type to filter, Enter select, Esc cancel',
  keysAscii: 'Up/Down move, type to filter, Enter select, Esc cancel',
  noMatch: 'No match',
};

export interface PickItem {
  label: string;
  value: string;
}

export function targetItems(rows: TargetRow[]): PickItem[] {
  return aligned(
    rows.map(({ name, title, snapshots, src_url }) => ({
      value: name,
      cells: [name, title === name ? '' : title, formatNumberOf(snapshots, 'snapshot'), src_url ?? ''],
    })),
  );
}

export function snapshotItems(rows: SnapshotRow[], now: number): PickItem[] {
  return aligned(
    rows.map((row) => ({
      value: row.id,
      cells: [briefName(row), formatAge(now - Date.parse(row.created_at)), formatBytes(row.size_bytes), row.note ?? ''],
    })),
  );
}

function aligned(rows: { value: string; cells: string[] }[]): PickItem[] {
  const widths = (rows[0]?.cells ?? []).map((_, index) =>
    Math.max(...rows.map(({ cells }) => cellWidth(cells[index] ?? ''))),
  );
  return rows.map(({ value, cells }) => ({
    value,
    label: cells
      .flatMap((text, index) => (widths[index] === 0 ? [] : fitCells(text, widths[index] ?? 0)))
      .join('  ')
      .trimEnd(),
  }));
}
