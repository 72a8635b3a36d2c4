import { expect, test } from 'vitest';
import { diffColumns } from '../../../src/operations/snapshots/diff-text.ts';
import { UNICODE } from '../../../src/presentation/shapes/glyphs.ts';
import { layOutTable } from '../../../src/presentation/shapes/table-layout.ts';
import { fakeSnapshot } from '../../helpers/fakes/fake-world.ts';

const side = (rows: number, bytes: number) => ({ rows, bytes });
const result = {
  ...{ target: 'app', from: fakeSnapshot({ index: 1 }), to: fakeSnapshot(), destination: null, unchanged: 20 },
  changes: [
    { table: 'public.grown', change: 'changed' as const, from: side(10, 1000), to: side(30, 9000) },
    { table: 'public.shrunk', change: 'changed' as const, from: side(10, 5000), to: side(5, 1000) },
    { table: 'public.gone', change: 'gone' as const, from: side(1, 1), to: null },
    { table: 'public.altered', change: 'changed' as const, from: side(5, 500), to: side(5, 500) },
  ],
};

test('a bar for each table is green where it has grown and red where it has shrunk, by bytes', () => {
  const bars = diffColumns(result, UNICODE).find(({ title }) => title === '');
  expect(result.changes.map((change) => bars?.cell(change))).toEqual([
    { text: `+${'█'.repeat(16)}`, tone: 'good' },
    { text: `-${'█'.repeat(8)}`, tone: 'bad' },
    { text: '-█', tone: 'bad' },
    { text: '' },
  ]);
});

test.each([
  [37, ['TABLE', 'CHANGE', 'DIFFERENCE']],
  [70, ['TABLE', 'CHANGE', 'ROWS', 'DIFFERENCE', 'SIZE', 'DIFFERENCE']],
  [100, ['TABLE', 'CHANGE', 'ROWS', 'DIFFERENCE', 'SIZE', 'DIFFERENCE', '']],
])('in %d cells the names of tables stay legible', (width, titles) => {
  const { columns } = layOutTable(diffColumns(result, UNICODE), result.changes, width);
  expect(columns.map(({ column }) => column.title)).toEqual(titles);
  expect(columns[0]?.width).toBeGreaterThanOrEqual('public.altered'.length);
});
