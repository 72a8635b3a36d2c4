import type { TargetEntry } from '../../src/state/targets.ts';
import type { Sort } from '../place.ts';

/** What needs somebody comes first. */
const STATUS_ORDER = ['unreachable', 'denied', 'missing', 'unchecked', 'ok'];

/** What there is to sort by, in the order in which it is offered; that of the configuration needs no comparing. */
const ORDERS: Record<Sort, ((entry: TargetEntry) => string | number) | null> = {
  configured: null,
  name: ({ row }) => row.name,
  status: ({ row }) => STATUS_ORDER.indexOf(row.status),
  size: ({ row }) => -(row.size_bytes ?? -1),
  snapshots: ({ row }) => -row.snapshots,
  type: ({ row }) => row.type,
};

const SORTS = Object.keys(ORDERS) as Sort[];

export function sortTargets(entries: TargetEntry[], sort: Sort): TargetEntry[] {
  const value = ORDERS[sort];
  return value ? entries.toSorted((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0)) : entries;
}

export function nextSort(sort: Sort): Sort {
  return SORTS[(SORTS.indexOf(sort) + 1) % SORTS.length] ?? 'configured';
}
