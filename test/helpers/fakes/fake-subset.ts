import type { PlannedSubset } from '../../../src/operations/subset/subset.ts';
import type { SubsetRequest } from '../../../src/operations/subset/subset-setting.ts';
import type { SubsetGraph, SubsetReference, SubsetTableRow } from '../../../src/results/subset-results.ts';
import { UserError } from '../../../src/runtime/errors.ts';
import type { SubsetSettings } from '../../../src/subset/graph.ts';
import type { FakeWorld } from './fake-world.ts';

const CONFIGURED: SubsetSettings = {
  subset_tables: [{ table: 'public.customer', percent: 5 }],
  copy_tables: ['public.country'],
  excluded_tables: [],
};

const ROW_BYTES = 100;

/** Four tables: a tenth of the orders belongs to a customer, and each has a product. */
export function fakePlannedSubset(world: FakeWorld, request: SubsetRequest): PlannedSubset {
  const { target, settings, suggest = false } = request;
  if (world.lacksSubset && !suggest) throw new UserError('subset_missing', `Target "${target}" has no subset`);
  const chosen = { ...CONFIGURED, ...settings };
  const percent = chosen.subset_tables?.[0]?.percent ?? 0;
  const table = (counted: Omit<SubsetTableRow, 'nulled' | 'bytes_now' | 'bytes_expected'>): SubsetTableRow => {
    const { rows_now, rows_expected } = counted;
    const row = { ...counted, bytes_now: rows_now * ROW_BYTES, bytes_expected: (rows_expected ?? 0) * ROW_BYTES };
    if (chosen.excluded_tables?.includes(row.table))
      return { ...row, rule: 'excluded', rows_expected: 0, bytes_expected: 0, path: [], nulled: [] };
    if (chosen.copy_tables?.includes(row.table)) {
      const whole = { rows_expected: row.rows_now, bytes_expected: row.bytes_now };
      return { ...row, ...whole, rule: 'copy', path: [row.table], nulled: [] };
    }
    return { ...row, nulled: [] };
  };
  const share = (rows: number): number => Math.ceil((rows * percent) / 100);
  return {
    request: { target, suggest },
    restoredBy: { user: 'temporary', superuser: true },
    settings: chosen,
    graph: fakeGraph(target),
    plan: {
      target,
      source: 'postgres://app@localhost:5432/app',
      destination: { ...world.destination, url: 'postgres://app@localhost:5432/app_small', database: 'app_small' },
      restored_by: 'temporary_user',
      restored_by_reason: 'it has no rights outside the shadow database',
      seed: 1,
      undo: true,
      tables: [
        table({ table: 'public.country', rule: 'empty', rows_now: 200, rows_expected: 0, path: [] }),
        table({
          ...{ table: 'public.customer', rule: 'target', rows_now: 1000, rows_expected: share(1000) },
          path: ['public.customer'],
        }),
        table({
          ...{ table: 'public.orders', rule: 'child', rows_now: 9000, rows_expected: share(9000) },
          path: ['public.orders', '→', 'public.customer'],
        }),
        table({
          ...{ table: 'public.product', rule: 'parent', rows_now: 400, rows_expected: 120 },
          path: ['public.product', '←', 'public.orders', '→', 'public.customer'],
        }),
      ],
      sanitized: null,
      sanitized_reason: 'its rows are those of the source, and no sanitization query runs on them',
      unverified_sources: [],
      circles: [],
      warnings: [],
    },
    planned_at: '2026-11-21T03:00:00.000Z',
  };
}

/** Orders of customers; customers and countries reference each other, and categories themselves. */
function fakeGraph(target: string): SubsetGraph {
  const reference = (from: string, to: string, change: Partial<SubsetReference> = {}): SubsetReference => ({
    ...{ from: `public.${from}`, to: `public.${to}`, names: [`${from}_${to}_fkey`] },
    ...{ chosen: false, circular: false, excluded: false, ...change },
  });
  return {
    target,
    tables: [
      { table: 'public.category', rule: 'empty', rows: 12 },
      { table: 'public.country', rule: 'copy', rows: 200 },
      { table: 'public.customer', rule: 'target', rows: 1000 },
      { table: 'public.orders', rule: 'child', rows: 9000 },
      { table: 'public.product', rule: 'parent', rows: 400 },
    ],
    references: [
      reference('category', 'category', { circular: true }),
      reference('country', 'customer', { circular: true }),
      reference('customer', 'country', { circular: true }),
      reference('orders', 'customer', { chosen: true }),
      reference('orders', 'product', { chosen: true }),
      reference('product', 'category', { excluded: true }),
    ],
  };
}
