import { expect, test } from 'vitest';
import { selectTables } from '../../src/repository/select-tables.ts';
import type { NeededTable } from '../../src/results/selected-tables.ts';

const TABLES = ['public.country', 'public.customer', 'public.item', 'public.log_1', 'public.log_2', 'public.orders'];

function refers(needed_by: string, table: string): NeededTable {
  return { table, needed_by, why: 'reference' };
}

const NEEDS: NeededTable[] = [
  refers('public.item', 'public.orders'),
  refers('public.item', 'public.country'),
  refers('public.orders', 'public.customer'),
  refers('public.customer', 'public.country'),
  refers('public.customer', 'public.orders'),
  { table: 'public.log_1', needed_by: 'public.log', why: 'part' },
  { table: 'public.log_2', needed_by: 'public.log', why: 'part' },
];

function select(wanted: string[], needs = NEEDS) {
  return selectTables({ wanted, tables: TABLES, needs });
}

test('a table requires the tables that it references, at any distance, by the shortest path; cycles end', () => {
  expect(select(['public.item'])).toEqual({
    chosen: ['public.item'],
    needed: [
      refers('public.item', 'public.orders'),
      refers('public.item', 'public.country'),
      refers('public.orders', 'public.customer'),
    ],
    empty: ['public.log_1', 'public.log_2'],
  });
});

test('requested tables are not listed as required, and referencing tables are not included', () => {
  expect(select(['public.customer', 'public.country']).needed).toEqual([refers('public.customer', 'public.orders')]);
  expect(select(['public.country']).needed).toEqual([]);
});

test('a partitioned table includes its partitions; a partition is included alone', () => {
  expect(select(['public.log'])).toMatchObject({
    chosen: ['public.log'],
    needed: [{ table: 'public.log_1', why: 'part' }, { table: 'public.log_2' }],
  });
  expect(select(['public.log_1'])).toMatchObject({ chosen: ['public.log_1'], needed: [] });
});

test.each([
  { wanted: ['public.item,public.orders'], chosen: ['public.item', 'public.orders'] },
  { wanted: ['public.item', ' public.orders , public.item'], chosen: ['public.item', 'public.orders'] },
  { wanted: ['public.log_*'], chosen: ['public.log_1', 'public.log_2'] },
  { wanted: ['*.c*'], chosen: ['public.country', 'public.customer'] },
  { wanted: ['*'], chosen: [...TABLES, 'public.log'] },
])('$wanted means $chosen', ({ wanted, chosen }) => {
  expect(select(wanted).chosen).toEqual(chosen);
});

test('an exact name is used literally, commas and stars included', () => {
  const tables = ['public.a,b', 'public.a*', 'public.ab', 'public.a'];
  const chosen = (name: string) => selectTables({ wanted: [name], tables, needs: [] }).chosen;
  expect(chosen('public.a,b')).toEqual(['public.a,b']);
  expect(chosen('public.a*')).toEqual(['public.a*']);
  expect(() => chosen('publicXa')).toThrow('publicXa');
  expect(() => chosen('public?a')).toThrow('public?a');
});

test('all unknown names are reported at once, with close matches', () => {
  expect(() => select(['orders', 'public.item', 'public.custommer', 'sales.x_*'])).toThrow(
    expect.objectContaining({
      code: 'table_unknown',
      exit: 2,
      message: 'The snapshot has no table orders, public.custommer, sales.x_*',
      details: [
        expect.stringMatching(/^orders: did you mean public\.orders\b/),
        expect.stringMatching(/^public\.custommer: did you mean public\.customer\b/),
      ],
    }),
  );
});

test('no name is none', () => {
  expect(() => select([''])).toThrow(expect.objectContaining({ code: 'table_unknown' }));
  expect(() => select(['public.item,'])).toThrow(expect.objectContaining({ code: 'table_unknown' }));
});

test('a pattern is matched without trying every way to divide the name among its stars', () => {
  const tables = [`public.${'a'.repeat(63)}`, `public.${'ab'.repeat(28)}`, 'public.ab'];
  for (let stars = 1; stars <= 1000; stars++) {
    expect(() => selectTables({ wanted: [`public.${'a*'.repeat(stars)}c`], tables, needs: [] })).toThrow(
      'has no table',
    );
  }
  const chosen = (name: string) => selectTables({ wanted: [name], tables, needs: [] }).chosen;
  expect(chosen('public.a*a*a*a*a*a*a*aa')).toEqual([tables[0]]);
  expect(chosen('public.*b*a*')).toEqual([tables[1]]);
  expect(chosen('*.*b')).toEqual([tables[1], tables[2]]);
  expect(chosen('public.a*b')).toEqual([tables[1], tables[2]]);
  expect(chosen('public.ab*b')).toEqual([tables[1]]);
  expect(chosen('**')).toEqual(tables);
});
