import { expect, test } from 'vitest';
import type { EngineId } from '../../../src/engines/list.ts';
import { estimateBySizes } from '../../../src/operations/rehearse/source-estimate.ts';

const snapshot = (id: string, sizes: Record<string, number>, engine: EngineId = 'postgres') => ({
  ...{ id, engine },
  tables: Object.entries(sizes).map(([name, bytes]) => ({
    ...{ name, rows: 1 },
    file: { name, sha256: '0'.repeat(64), bytes, stored_bytes: bytes },
  })),
});
const statement = (text: string, duration_ms: number) => ({
  ...{ text, at_ms: 0, duration_ms, session: 1, in_transaction: false, error: null },
});
const lock = (table: string, text: string, held_ms: number) => ({
  ...{ table, index: null, mode: 'SHARE', blocks: 'writers' as const, at_ms: 0, held_ms },
  ...{ below_resolution: false, statement: text },
});

const measured = {
  ...{ target: 'app', snapshot: 'small', duration_ms: 350 },
  statements: [statement('index orders', 200), statement('index country', 100), statement('update', 50)],
  locks: [lock('public.orders', 'index orders', 150), lock('public.country', 'index country', 100)],
};

test('a statement takes as many times longer as its own table is larger, another one as all tables are', () => {
  const branch = snapshot('small', { 'public.orders': 1000, 'public.country': 1000 });
  const source = snapshot('large', { 'public.orders': 9000, 'public.country': 1000 });
  const estimate = estimateBySizes(measured, { branch, source });
  // 200 × 9 + 100 + 50 × 5; 150 × 9.
  expect(estimate).toEqual({ snapshot: 'large', ratio: 5, duration_ms: 2150, longest_lock_ms: 1350 });
});

test('a table of MySQL is found in a source that is another database', () => {
  const ofOrders = {
    ...measured,
    statements: [statement('index orders', 200)],
    locks: [lock('orders', 'index orders', 150)],
  };
  const branch = snapshot('small', { 'small.orders': 1000, 'small.country': 1000 }, 'mysql');
  const source = snapshot('large', { 'shop.orders': 9000, 'shop.country': 1000 }, 'mysql');
  // 150 for what no statement did, 200 × 9.
  expect(estimateBySizes(ofOrders, { branch, source })).toMatchObject({ duration_ms: 1950, longest_lock_ms: 1350 });
});

test('a branch as large as the source has no estimate', () => {
  const whole = snapshot('large', { 'public.orders': 1000 });
  expect(estimateBySizes(measured, { branch: whole, source: whole })).toBeNull();
  const smaller = snapshot('later', { 'public.orders': 10 });
  expect(estimateBySizes(measured, { branch: whole, source: smaller })).toBeNull();
});
