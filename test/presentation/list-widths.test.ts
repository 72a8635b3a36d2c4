import { expect, test } from 'vitest';
import { createStyle } from '../../src/cli/printers/style.ts';
import { formatTable } from '../../src/cli/printers/table.ts';
import type { Column } from '../../src/presentation/shapes/column.ts';
import { layOutTable } from '../../src/presentation/shapes/table-layout.ts';
import { briefSnapshotColumns, snapshotColumns } from '../../src/presentation/snapshot.ts';
import { briefTargetColumns, checkedEntry, targetColumns } from '../../src/presentation/targets.ts';
import { fakeSnapshot, fakeTarget } from '../helpers/fake-world.ts';

const style = createStyle({ color: false, unicode: true });
const now = Date.parse('2026-11-21T05:00:00Z');
const snapshots = [fakeSnapshot({ id: 'aaaa0000', note: 'before the release' }), fakeSnapshot({ id: 'bbbb1111' })];
const entries = [fakeTarget({ name: 'shop' }), fakeTarget({ name: 'warehouse' })].map(checkedEntry);
const WIDTHS = Array.from({ length: 201 }, (_, index) => 40 + index);

const LISTS: [string, (width: number) => number][] = [
  ['targets', shown(targetColumns(entries, { glyphs: style.glyphs, now }), entries)],
  ['targets on screen', shown(briefTargetColumns(entries, { glyphs: style.glyphs, now }), entries)],
  ['snapshots', shown(snapshotColumns(snapshots, now), snapshots)],
  [
    'snapshots on screen',
    shown(briefSnapshotColumns({ rows: snapshots, now, glyphs: style.glyphs, marked: [] }), snapshots),
  ],
];

function shown<Row>(columns: Column<Row>[], rows: Row[]): (width: number) => number {
  return (width) => layOutTable(columns, rows, width).columns.length;
}

test.each(LISTS)('%s: no wider window shows fewer columns', (_, columnsAt) => {
  const counts = WIDTHS.map(columnsAt);
  expect(counts).toEqual([...counts].sort((a, b) => a - b));
  expect(counts.at(-1)).toBeGreaterThan(counts[0] ?? 0);
});

test('ids, times, kinds and sizes of snapshots are whole on a terminal of 80 columns', () => {
  const text = formatTable(snapshotColumns(snapshots, now), snapshots, { columns: 80, style });
  for (const { id, created_at } of snapshots) {
    expect(text).toContain(` ${id}  ${created_at.replace(/\.\d+Z$/, 'Z')}  RAW   48.3 MB  local`);
  }
});
