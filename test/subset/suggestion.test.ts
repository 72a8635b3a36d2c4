import { expect, test } from 'vitest';
import type { SourceForeignKey, SourceSchema } from '../../src/subset/source-schema.ts';
import { PERCENTAGES, suggestSubset } from '../../src/subset/suggestion.ts';
import { fc } from '../helpers/fast-check.ts';

const NONE = new Set<string>();

/** Tables by their rows, of 100 bytes each; references as `from → to`. */
function schema(rows: Record<string, number>, references: string[] = []): SourceSchema {
  return {
    tables: Object.entries(rows).map(([name, count]) => ({
      name,
      columns: [],
      keys: [],
      rows: count,
      bytes: count * 100,
    })),
    foreignKeys: references.map((reference, index): SourceForeignKey => {
      const [from = '', to = ''] = reference.split(' → ');
      return {
        id: String(index),
        name: reference,
        from,
        to,
        columns: [],
        refColumns: [],
        matchFull: false,
        indexed: true,
      };
    }),
  };
}

const SHOP = schema(
  {
    country: 200,
    currency: 30,
    customer: 20_000,
    orders: 200_000,
    order_item: 600_000,
    product: 5000,
    review: 9000,
    log: 50_000,
    unused: 0,
  },
  [
    'customer → country',
    'orders → customer',
    'order_item → orders',
    'order_item → product',
    'review → product',
    'orders → orders',
  ],
);

test('it begins with the table by which most rows come, then with those that no row leads to', () => {
  const suggested = suggestSubset(SHOP, NONE);
  expect(suggested?.subset_tables.map(({ table }) => table)).toEqual(['customer', 'log', 'review']);
  // What rows lead to comes as far as it is needed.
  expect(suggested?.copy_tables).toEqual(['currency']);
});

test('a larger database has a smaller share, and a small table enough rows to see something', () => {
  expect(suggestSubset(SHOP, NONE)?.subset_tables[0]?.percent).toBe(5);
  expect(suggestSubset(schema({ a: 50_000_000 }), NONE)?.subset_tables).toEqual([{ table: 'a', percent: 2 }]);
  expect(suggestSubset(schema({ a: 900_000_000_000 }), NONE)?.subset_tables).toEqual([{ table: 'a', percent: 0.1 }]);
  expect(suggestSubset(schema({ a: 400 }), NONE)?.subset_tables).toEqual([{ table: 'a', percent: 50 }]);
  expect(suggestSubset(schema({ a: 1000 }), NONE)?.subset_tables).toEqual([{ table: 'a', percent: 10 }]);
});

test('tables that stay empty are neither begun with nor copied, and without rows there is nothing to suggest', () => {
  const suggested = suggestSubset(SHOP, new Set(['log', 'currency']));
  expect(suggested?.subset_tables.map(({ table }) => table)).toEqual(['customer', 'review']);
  expect(suggested?.copy_tables).toEqual([]);
  expect(suggestSubset(schema({ a: 0 }), NONE)).toBeNull();
  expect(suggestSubset(schema({}), NONE)).toBeNull();
});

test('a table whose rows need a row of one that stays empty is excluded too, and one that can do without is not', () => {
  const world = schema({ customer: 9000, orders: 90_000, item: 900_000, visit: 5000 }, [
    'orders → customer',
    'item → orders',
    'visit → customer',
  ]);
  const columns = (nullable: boolean) => [{ name: 'ref', nullable, generated: false, type: 'int', family: 'int' }];
  const tables = world.tables.map((table) => ({ ...table, columns: columns(table.name === 'visit') }));
  const foreignKeys = world.foreignKeys.map((key) => ({ ...key, columns: ['ref'] }));
  const suggested = suggestSubset({ tables, foreignKeys }, new Set(['customer']));
  expect(suggested?.excluded_tables).toEqual(['orders', 'item']);
  expect(suggested?.subset_tables.map(({ table }) => table)).toEqual(['visit']);
});

test('at most five tables are begun with in any schema, each by a step of the keys, and none is named twice', () => {
  const name = fc.integer({ min: 0, max: 11 }).map((number) => `t${number}`);
  const world = fc.record({
    rows: fc.dictionary(name, fc.nat({ max: 1_000_000 })),
    references: fc.array(
      fc.tuple(name, name).map(([from, to]) => `${from} → ${to}`),
      { maxLength: 20 },
    ),
  });
  fc.assert(
    fc.property(world, ({ rows, references }) => {
      const suggested = suggestSubset(schema(rows, references), NONE);
      expect(suggested === null).toBe(Object.values(rows).every((count) => count === 0));
      const { subset_tables = [], copy_tables = [] } = suggested ?? {};
      const names = [...subset_tables.map(({ table }) => table), ...copy_tables];
      expect(new Set(names).size).toBe(names.length);
      expect(subset_tables.length).toBeLessThanOrEqual(5);
      if (suggested) expect(subset_tables.length).toBeGreaterThan(0);
      for (const { percent } of subset_tables) expect(PERCENTAGES).toContain(percent);
      for (const each of names) expect(rows[each]).toBeGreaterThan(0);
    }),
  );
});
