import type { TargetRow } from '../../../src/results/results.ts';
import type { TargetEntry } from '../../../src/state/targets.ts';

export type Sort = 'configured' | 'name' | 'status' | 'size' | 'snapshots' | 'age';

/** Problems first. */
const STATUS_ORDER = ['unreachable', 'denied', 'missing', 'unchecked', 'ok'];

/** In the order offered; `null` is the order of the configuration. */
const ORDERS: Record<Sort, ((entry: TargetEntry) => string | number) | null> = {
  configured: null,
  name: ({ row }) => row.name,
  status: ({ row }) => STATUS_ORDER.indexOf(row.status),
  size: ({ row }) => -(row.size_bytes ?? -1),
  snapshots: ({ row }) => -row.snapshots,
  age: ({ row }) => -(row.last_snapshot_at === null ? 0 : Date.parse(row.last_snapshot_at)),
};

const SORTS = Object.keys(ORDERS) as Sort[];

const TARGET_TYPES: TargetRow['type'][] = ['local', 'cloud', 'share'];

/** By group, then in the chosen order. */
export function sortTargets(entries: TargetEntry[], sort: Sort): TargetEntry[] {
  const value = ORDERS[sort];
  const sorted = value ? entries.toSorted((a, b) => compare(value(a), value(b))) : entries;
  if (!isGrouped(entries)) return sorted;
  return sorted.toSorted((a, b) => TARGET_TYPES.indexOf(a.row.type) - TARGET_TYPES.indexOf(b.row.type));
}

/** Targets of one type need no headings. */
export function isGrouped(entries: TargetEntry[]): boolean {
  return entries.some(({ row }) => row.type !== entries[0]?.row.type);
}

export function nextSort(sort: Sort): Sort {
  return SORTS[(SORTS.indexOf(sort) + 1) % SORTS.length] ?? 'configured';
}

function compare(a: string | number, b: string | number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
