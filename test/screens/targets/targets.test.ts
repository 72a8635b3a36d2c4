import { describe, expect, test } from 'vitest';
import { tableHead, tableRow } from '../../../components/table-list.tsx';
import { createTheme } from '../../../components/theme.ts';
import { createViews } from '../../../screens/app/lists/in-view.ts';
import type { Sort } from '../../../screens/app/lists/sort-targets.ts';
import { headingLines, keyOfLine, lineOfEntry, targetLines } from '../../../screens/targets/group-headings.ts';
import { briefTargetColumns } from '../../../src/operations/targets/targets-text.ts';
import { layOutTable } from '../../../src/presentation/shapes/table-layout.ts';
import type { TargetEntry } from '../../../src/state/targets.ts';
import { cellWidth } from '../../../src/text/text-width.ts';
import { fakeTarget } from '../../helpers/fakes/fake-world.ts';

const { glyphs } = createTheme({ unicode: true });
const now = Date.parse('2026-11-21T05:00:00Z');

describe('groups', () => {
  const entries = [
    entry({ name: 'team', type: 'share' }),
    entry({ name: 'b', size_bytes: 1 }),
    entry({ name: 'hosted', type: 'cloud' }),
    entry({ name: 'a', size_bytes: 2 }),
  ];

  test('local ones come first, then those of the cloud, then shared ones, each as the configuration has them', () => {
    expect(names('configured')).toEqual(['b', 'a', 'hosted', 'team']);
    expect(targetLines(inView('configured'), true).map(keyOfLine)).toEqual([
      '\nlocal',
      'b',
      'a',
      '\ncloud',
      'hosted',
      '\nshare',
      'team',
    ]);
  });

  test('an entry is found below the headings before it', () => {
    const entriesInOrder = inView('configured');
    const lines = targetLines(entriesInOrder, true);
    const found = entriesInOrder.map((_, index) => lines[lineOfEntry(headingLines(lines), index)]);
    expect(found).toEqual(entriesInOrder.map((entry) => ({ entry })));
  });

  test('stay together in every order', () => {
    expect(names('name')).toEqual(['a', 'b', 'hosted', 'team']);
    expect(names('size')).toEqual(['a', 'b', 'hosted', 'team']);
  });

  const inView = (sort: Sort) => createViews().targets(entries, sort, '').items;
  const names = (sort: Sort) => inView(sort).map(({ row }) => row.name);
});

test('sorting by age puts the target with the newest snapshot first, one without any last', () => {
  const entries = [
    entry({ name: 'none' }),
    entry({ name: 'old', last_snapshot_at: '2026-11-01T00:00:00.000Z' }),
    entry({ name: 'new', last_snapshot_at: '2026-11-20T00:00:00.000Z' }),
  ];
  const sorted = createViews().targets(entries, 'age', '').items;
  expect(sorted.map(({ row }) => row.name)).toEqual(['new', 'old', 'none']);
});

describe('columns', () => {
  const entries = [
    entry({
      name: '漢字データ🚀',
      size_bytes: 9_120_000_000,
      last_snapshot_at: '2026-11-20T00:00:00.000Z',
      snapshots: 12,
    }),
    entry({ name: 'app', storage_profile: 'bucket' }),
  ];

  test.each([
    [200, 'TARGET STATUS SIZE LATEST SNAPSHOTS STORAGE LATENCY SOURCE'],
    [81, 'TARGET STATUS SIZE LATEST SNAPSHOTS STORAGE LATENCY'],
    [66, 'TARGET STATUS SIZE LATEST SNAPSHOTS STORAGE'],
    [60, 'TARGET STATUS SIZE LATEST SNAPSHOTS'],
    [50, 'TARGET STATUS SIZE LATEST'],
    [40, 'TARGET STATUS LATEST'],
  ])('layout in %d cells: %s', (width, titles) => {
    const layout = layOutTable(briefTargetColumns(entries, { glyphs, now }), entries, width);
    expect(text(tableHead(layout, '…')).trim().split(/ +/).join(' ')).toBe(titles);
    const rows = entries.map((row) => text(tableRow(layout, row, '…')));
    expect(new Set(rows.map((row) => cellWidth(row))).size).toBe(1);
    expect(cellWidth(rows[0] ?? '')).toBeLessThanOrEqual(width);
  });

  test('the age of the last snapshot is told, and that there is none', () => {
    const layout = layOutTable(briefTargetColumns(entries, { glyphs, now }), entries, 200);
    const [first, second] = entries.map((row) => text(tableRow(layout, row, '…')));
    expect(first).toContain('29 h ago');
    expect(second).toMatch(/not checked +– +– +0 +bucket/);
  });
});

function entry(row: Parameters<typeof fakeTarget>[0]): TargetEntry {
  return { row: fakeTarget(row), checking: false, checkedAt: null };
}

function text(spans: { text: string }[]): string {
  return spans.map((span) => span.text).join('');
}
