import { describe, expect, it } from 'vitest';
import { POSTGRES } from '../../../../src/operations/rehearse/rules/postgres/dialect.ts';
import type { RuleFacts } from '../../../../src/operations/rehearse/rules/situation.ts';
import { warningsOf } from '../../../../src/operations/rehearse/rules/warnings.ts';

const FACTS: RuleFacts = {
  tables: new Map(
    ['public.orders', 'public.customers', 'Shop."a.b"'].map((name) => [
      name,
      {
        rows: 20_000,
        columns: [{ name: 'total', type: 'integer', isNullable: true, views: [] }],
        indexes: [`${name.replace(/^.*\./, '')}_total`],
        constraints: [],
      },
    ]),
  ),
  searchPath: ['app', 'public'],
  limitsLockWaits: true,
  rewritten: new Set(),
};

describe('warnings of rehearsals', () => {
  it.each([
    ['DROP TABLE orders', ['table_dropped public.orders']],
    ['DROP TABLE public.orders, "customers"', ['table_dropped public.customers', 'table_dropped public.orders']],
    ['DROP TABLE app.orders', []],
    ['TRUNCATE "Shop"."a.b"', ['table_truncated Shop."a.b"']],
    ['TRUNCATE "Orders"', []],
    ['SET search_path = other; DROP TABLE orders', []],
    ['CREATE TABLE app.orders (id bigint); DROP TABLE app.orders', []],
    ['WITH old AS (SELECT 1) DELETE FROM orders', ['all_rows_changed public.orders']],
    ['WITH old AS (SELECT 1 AS id) DELETE FROM orders WHERE id IN (SELECT id FROM old)', []],
    ['UPDATE orders SET total = (SELECT 1 WHERE true)', ['all_rows_changed public.orders']],
    ['DROP SCHEMA public CASCADE', ['table_dropped public.customers', 'table_dropped public.orders']],
    ['DROP TABLE orders; DROP TABLE orders', ['table_dropped public.orders']],
    ["SELECT 'it''s'; DROP TABLE orders", ['table_dropped public.orders']],
    ["SELECT E'it\\'s; DROP TABLE orders'", []],
    ['SELECT $x$ ; DROP TABLE orders; $y$ $x$', []],
    [
      'ALTER TABLE orders ADD x int, DROP total, ADD CHECK (x > 0)',
      ['check_validated public.orders', 'column_dropped public.orders'],
    ],
  ])('%s', (text, expected) => {
    const found = warningsOf(POSTGRES, [{ text, inTransaction: false, session: 1 }], FACTS);
    expect(found.map(({ code, table }) => `${code} ${table}`).sort()).toEqual(expected);
  });

  it('keeps transactions of sessions apart, and lock_timeout', () => {
    const facts = { ...FACTS, limitsLockWaits: false };
    const found = warningsOf(
      POSTGRES,
      [
        { text: "SELECT set_config('lock_timeout', '2s', false)", inTransaction: false, session: 1 },
        { text: 'BEGIN', inTransaction: false, session: 1 },
        { text: 'ALTER TABLE orders ADD x int', inTransaction: true, session: 1 },
        { text: 'UPDATE orders SET x = 1 WHERE total > 1', inTransaction: false, session: 2 },
        { text: 'ALTER TABLE customers ADD x int', inTransaction: false, session: 2 },
      ],
      facts,
    );
    expect(found.map(({ code, index }) => `${code} ${index}`)).toEqual(['lock_timeout_missing 4']);
  });

  const SHAPES = [
    ...['(', "'", '"', '/*', '$a', '$a$ ', ';', '-- ', '\\', 'a.', ',', 'é\u0000', '::', "E'\\"],
    ...['DROP TABLE orders;', 'UPDATE orders SET a = 1;', 'CREATE FUNCTION begin ', 'ALTER TABLE orders DROP total; '],
  ];
  const BEGINNINGS = ['', 'ALTER TABLE orders ADD a ', 'CREATE TABLE a (', 'DO $$ BEGIN ', 'DROP TABLE ', 'VACUUM '];

  /** Milliseconds; in quadratic time, each would take minutes. */
  const LIMIT = 5000;

  function durationOf(text: string): number {
    const from = performance.now();
    warningsOf(POSTGRES, [{ text, inTransaction: false, session: 1 }], FACTS);
    return performance.now() - from;
  }

  it.each(["'", '/*', '(', 'ALTER TABLE orders DROP total; '])('takes 1 MB of %s in linear time', (shape) => {
    expect(durationOf(shape.repeat(2 ** 20 / shape.length))).toBeLessThan(LIMIT);
  });

  it('throws for no nonsense', () => {
    const parts = ['generated ', 'drop total, ', 'default (', 'add check (', 'alter a type b using ', 'unique '];
    const texts = BEGINNINGS.flatMap((beginning) => [...SHAPES, ...parts].map((part) => ({ beginning, part })));
    for (const { beginning, part } of texts) {
      const text = `${beginning}${part.repeat(2 ** 14 / part.length)}`;
      expect(durationOf(text), text.slice(0, 40)).toBeLessThan(LIMIT);
    }
  });
});
