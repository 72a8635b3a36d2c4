import { expect, test } from 'vitest';
import type { CatalogTable } from '../../../../src/engines/postgres/catalog/introspect.ts';
import { copyOut, RANGE_BLOCKS, rangesOf } from '../../../../src/engines/postgres/dump/ranges.ts';

const TABLE: CatalogTable = {
  oid: 1,
  schema: 'public',
  name: 'event',
  columns: ['id', 'a"b'],
  bytes: 0,
  blocks: 0,
  is_heap: true,
  of_extension: false,
  row_security: false,
};

function table(blocks: number, change: Partial<CatalogTable> = {}): CatalogTable {
  return { ...TABLE, blocks, bytes: blocks * 8192, ...change };
}

function starts(one: CatalogTable, serverMajor = 15): (number | null)[] {
  return (
    rangesOf([one], { serverMajor })
      .get(one)
      ?.map(({ start }) => start) ?? []
  );
}

test('a table that grows keeps its ranges and gets further ones', () => {
  const before = starts(table(10 * RANGE_BLOCKS));
  expect(before).toHaveLength(10);
  expect(starts(table(10 * RANGE_BLOCKS + 1))).toEqual([...before, 10 * RANGE_BLOCKS]);
  expect(starts(table(100 * RANGE_BLOCKS)).slice(0, 10)).toEqual(before);
});

test('ranges follow each other without a gap; the first and the last are open', () => {
  const one = table(3 * RANGE_BLOCKS + 7);
  const ranges = rangesOf([one], { serverMajor: 18 }).get(one) ?? [];
  expect(ranges.map(({ end }) => end)).toEqual([...ranges.slice(1).map(({ start }) => start), null]);
  expect(ranges[0]?.start).toBeNull();
});

test.each([
  ['a small table', table(RANGE_BLOCKS), 15],
  ['an empty table', table(0), 15],
  ['a table of PostgreSQL 13', table(10 * RANGE_BLOCKS), 13],
  ['a table of another access method', table(10 * RANGE_BLOCKS, { is_heap: false }), 15],
] as const)('%s is read in one piece', (_, one, major) => {
  expect(starts(one, major)).toEqual([null]);
  expect(copyOut(one, { start: null, end: null })).toBe('COPY "public"."event" ("id", "a""b") TO STDOUT');
});

test('a table with large values has narrower ranges', () => {
  const plain = starts(table(4 * RANGE_BLOCKS));
  const large = starts(table(4 * RANGE_BLOCKS, { bytes: 4 * RANGE_BLOCKS * 8192 * 9 }));
  expect(large.length).toBe(8 * plain.length);
});

test('a manifest names a bounded number of ranges for any size of tables and database', () => {
  const terabytes = table(2 ** 31);
  expect(starts(terabytes).length).toBeLessThanOrEqual(1024);
  const many = Array.from({ length: 500 }, (_, oid) => table(2 ** 21, { oid }));
  const all = [...rangesOf(many, { serverMajor: 15 }).values()].flat();
  expect(all.length).toBeLessThanOrEqual(32 * 1024 + many.length);
});
