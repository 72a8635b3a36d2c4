import { describe, expect, test } from 'vitest';
import { essentialTexts, listPanes } from '../../components/list-view.tsx';
import { LIST_MARGIN } from '../../components/table-list.tsx';
import { tablesColumns } from '../../screens/tables/tables-screen.tsx';
import { createStyle } from '../../src/cli/printers/style.ts';
import { formatTable } from '../../src/cli/printers/table.ts';
import { branchColumns } from '../../src/operations/branch/list/text.ts';
import { briefTargetColumns, checkedEntry, targetColumns } from '../../src/operations/targets/targets-text.ts';
import type { Column } from '../../src/presentation/shapes/column.ts';
import { fullWidth, layOutTable, measureColumns } from '../../src/presentation/shapes/table-layout.ts';
import { inFamilies } from '../../src/presentation/snapshot.ts';
import { briefSnapshotColumns, snapshotColumns } from '../../src/presentation/snapshot-columns.ts';
import { formatTime } from '../../src/text/format.ts';
import { cellWidth } from '../../src/text/text-width.ts';
import { fakeBranch } from '../helpers/fakes/fake-branches.ts';
import { fakeSnapshot, fakeTarget } from '../helpers/fakes/fake-world.ts';

const style = createStyle({ color: false, unicode: true });
const { glyphs } = style;
const now = Date.parse('2026-11-21T05:00:00Z');
const NOTE = 'before the release of the new checkout, with all orders of the year';
// As the operations list them: a sanitized snapshot before its original, with the same index.
const snapshots = [
  fakeSnapshot({ id: 'bbbb1111', sanitized: true, sanitized_of: 'aaaa0000' }),
  fakeSnapshot({ id: 'aaaa0000', note: NOTE }),
  fakeSnapshot({ id: 'cccc2222', index: 1, created_at: '2026-01-02T00:00:00.000Z' }),
];
const entries = [
  fakeTarget({ name: 'shop', status: 'ok', size_bytes: 61_400_000, last_snapshot_at: '2026-11-21T04:00:00.000Z' }),
  fakeTarget({ name: 'warehouse_of_the_north', status: 'denied', error_code: 'certificate_refused' }),
].map(checkedEntry);
const branches = [fakeBranch('login-form'), fakeBranch('a_branch_with_a_long_name_of_its_own', { current: true })];
const tables = [
  { table: 'public.orders', rows: 120_000, bytes: 32_000_000 },
  { table: `public.${'very_'.repeat(10)}long`, rows: 78_000, bytes: 15_900_000 },
];
const WIDTHS = Array.from({ length: 201 }, (_, index) => 40 + index);

interface Shown {
  titles: string[];
  /** Cells of columns that must be whole, and are not. */
  cut: string[];
  place: 'beside' | 'below' | 'none';
}

type At = (width: number) => Shown;

function laidOut<Row>(columns: Column<Row>[], rows: Row[], width: number): Omit<Shown, 'place'> {
  const layout = layOutTable(columns, rows, width);
  const cut = layout.columns.flatMap((entry) =>
    entry.column.whole
      ? rows.map((row) => entry.column.cell(row).text).filter((text) => cellWidth(text) > entry.width)
      : [],
  );
  const used = layout.columns.reduce((sum, entry) => sum + entry.width, 2 * (layout.columns.length - 1));
  if (used > width) cut.push(`${used} of ${width} cells`);
  return { titles: layout.columns.map(({ column }) => column.title), cut };
}

function onScreen<Row>(columns: Column<Row>[], rows: Row[], { wide, height }: { wide: boolean; height: number }): At {
  return (width) => {
    const { place, listWidth } = listPanes({
      width,
      height,
      wide: wide && width > 84,
      needed: fullWidth(measureColumns(columns, rows)),
    });
    return { ...laidOut(columns, rows, listWidth - LIST_MARGIN), place };
  };
}

function lists(wide: boolean, height: number): [string, At][] {
  const room = { wide, height };
  return [
    ['targets', onScreen(briefTargetColumns(entries, { glyphs, now }), entries, room)],
    [
      'snapshots',
      onScreen(briefSnapshotColumns({ rows: snapshots, now, glyphs, marked: ['aaaa0000'] }), snapshots, room),
    ],
    ['branches', onScreen(branchColumns(branches, new Date(now)), branches, room)],
    ['tables', onScreen(tablesColumns({ tables, excluded: [], marked: [], glyphs }), tables, room)],
  ];
}

const PANELS: [string, boolean, number][] = [
  ['with a side panel', true, 36],
  ['with details below', false, 20],
  ['without details', false, 6],
];

describe.each(PANELS)('on a screen %s', (_, wide, height) => {
  test.each(lists(wide, height))('%s: no wider window shows fewer columns, nor cuts what must be whole', (name, at) => {
    const shown = WIDTHS.map(at);
    const counts = shown.map(({ titles }) => titles.length);
    expect(counts).toEqual([...counts].sort((a, b) => a - b));
    for (const { titles } of shown) expect(shown.at(-1)?.titles).toEqual(expect.arrayContaining(titles));
    // A branch is wider than the narrowest windows: a name, an age, a size and the last use.
    const least = name === 'branches' ? 60 : 40;
    expect(shown.filter((__, index) => (WIDTHS[index] ?? 0) >= least).flatMap(({ cut }) => cut)).toEqual([]);
    if (wide && name !== 'tables') expect(shown.at(-1)?.place).toBe('beside');
  });
});

test('a snapshot has its id, age and kind in the narrowest window', () => {
  const columns = briefSnapshotColumns({ rows: snapshots, now, glyphs, marked: ['aaaa0000'] });
  expect(laidOut(columns, snapshots, 40 - LIST_MARGIN).titles).toEqual(['ID', '#', 'AGE', 'KIND']);
});

test.each(WIDTHS)('writing a note drops no column of %d cells, and the note is shown whole', (width) => {
  const noted = snapshots.map((row) => ({ ...row, note: NOTE }));
  const none = snapshots.map((row) => ({ ...row, note: null }));
  const columnsOf = (rows: typeof noted | typeof none) => briefSnapshotColumns({ rows, now, glyphs, marked: [] });
  expect(laidOut(columnsOf(noted), noted, width).titles).toEqual(laidOut(columnsOf(none), none, width).titles);
  const layout = layOutTable(columnsOf(noted), noted, width);
  const column = layout.columns.find(({ column: { title } }) => title === 'NOTE');
  const below = essentialTexts(columnsOf(noted), layout, noted[0] as (typeof noted)[0]);
  expect(below).toEqual((column?.width ?? 0) < cellWidth(NOTE) ? [`NOTE: ${NOTE}`] : []);
});

test.each<[string, At]>([
  ['targets', (width) => ({ ...laidOut(targetColumns(entries, { glyphs, now }), entries, width), place: 'none' })],
  ['snapshots', (width) => ({ ...laidOut(snapshotColumns(snapshots, now), snapshots, width), place: 'none' })],
])('%s on the command line: no wider terminal shows fewer columns', (_, at) => {
  const counts = WIDTHS.map((width) => at(width).titles.length);
  expect(counts).toEqual([...counts].sort((a, b) => a - b));
  expect(counts.at(-1)).toBeGreaterThan(counts[0] ?? 0);
});

test.each(WIDTHS)('ids, times, kinds and sizes of snapshots are whole on a terminal of %d columns', (width) => {
  const text = formatTable(snapshotColumns(snapshots, now), snapshots, { columns: width, style });
  expect(Math.max(...text.split('\n').map(cellWidth))).toBeLessThanOrEqual(width);
  for (const { id, created_at, sanitized } of snapshots) {
    for (const value of [id, formatTime(created_at), sanitized ? 'SAFE' : 'RAW', '48.3 MB']) {
      expect(text).toContain(value);
    }
  }
});

test('a sanitized snapshot is indented below its original, and the index names the one that it selects', () => {
  const rows = inFamilies(snapshots);
  const text = formatTable(snapshotColumns(snapshots, now), rows, { columns: 80, style });
  expect(text.split('\n').slice(1)).toEqual([
    expect.stringMatching(/^ {7}aaaa0000 {4}2026-11-21 \d\d:\d\d[+-]\d\d {2}RAW {3}48\.3 MB/),
    expect.stringMatching(/^ {4}0 {4}bbbb1111 {2}2026-11-21 \d\d:\d\d[+-]\d\d {2}SAFE {2}48\.3 MB/),
    expect.stringMatching(/^ {4}1 {2}cccc2222 {4}2026-01-0\d \d\d:\d\d[+-]\d\d {2}RAW {3}48\.3 MB/),
  ]);
});

test('a table becomes lines of names and values where its columns do not fit', () => {
  expect(formatTable(snapshotColumns(snapshots, now), snapshots.slice(2), { columns: 40, style })).toContain(
    `INDEX: 1\nID: cccc2222\nCREATED: ${formatTime('2026-01-02T00:00:00Z')}\n`,
  );
});
