import { inFamilies } from '../../../src/presentation/snapshot.ts';
import type { SnapshotRow } from '../../../src/results/results.ts';
import { type ListState, matchesFilter, selectedIndex } from '../../../src/state/list.ts';
import type { TargetEntry } from '../../../src/state/targets.ts';
import { type Sort, sortTargets } from './sort-targets.ts';

/** The identities of the rows of a list, in order. */
export interface Rows {
  ids: string[];
  /** The index of each id, for long lists: a key need not search ten thousand rows. */
  positions?: Map<string, number>;
  /** Without a selection, the row that is selected. Default: the first. */
  initial?: number;
}

/** The items of a long list that its filter lets through. */
export interface InView<Item> extends Rows {
  items: Item[];
}

/** The contents of the long lists, computed anew only when their input changes. */
export interface Views {
  targets: (entries: TargetEntry[], sort: Sort, filter: string) => InView<TargetEntry>;
  snapshots: (rows: SnapshotRow[], filter: string) => InView<SnapshotRow>;
}

export function createViews(): Views {
  return {
    targets: rememberLast((entries: TargetEntry[], sort: Sort, filter: string) => {
      const isFound = ({ row }: TargetEntry) =>
        matchesFilter(filter, [row.name, row.title, row.type, row.status, location(row.src_url), row.storage_profile]);
      const sorted = sortTargets(entries, sort);
      return viewOf(filter === '' ? sorted : sorted.filter(isFound), ({ row }) => row.name);
    }),
    snapshots: rememberLast((rows: SnapshotRow[], filter: string) => {
      const isFound = (row: SnapshotRow) =>
        matchesFilter(filter, [
          row.note,
          row.created_at,
          row.id,
          String(row.index),
          ...(row.tags ?? []),
          row.pinned ? 'pinned' : null,
        ]);
      const found = filter === '' ? rows : rows.filter(isFound);
      const view = viewOf(inFamilies(found), ({ id }) => id);
      // What `tool load` takes without an index: a sanitized snapshot before its original.
      return { ...view, initial: view.positions?.get(found[0]?.id ?? '') ?? 0 };
    }),
  };
}

/** The index of the selection: the initial row without one, or when it is gone; -1 in an empty list. */
export function positionIn({ ids, positions, initial = 0 }: Rows, selected: string | null): number {
  if (!positions) return selectedIndex(ids, selected);
  return (selected === null ? undefined : positions.get(selected)) ?? Math.min(initial, ids.length - 1);
}

/** The selected item: the first without a selection, or when it is gone; `null` in an empty list. */
export function selectedItem<Item>(items: Item[], idOf: (item: Item) => string, { selected }: ListState): Item | null {
  return items[selectedIndex(items.map(idOf), selected)] ?? null;
}

/** The rows of a list of lines, which have no identity but their index. */
export function rowsByIndex(lines: unknown[]): Rows {
  return { ids: lines.map((_, index) => String(index)) };
}

function viewOf<Item>(items: Item[], idOf: (item: Item) => string): InView<Item> {
  const ids = items.map(idOf);
  return { items, ids, positions: new Map(ids.map((id, index) => [id, index])) };
}

/** Server and database of a URL, without the user: `app` would match every row. */
function location(url: string | null): string | null {
  return url?.slice(url.indexOf('@') + 1) ?? null;
}

function rememberLast<Args extends unknown[], Made>(make: (...args: Args) => Made): (...args: Args) => Made {
  let last: { args: Args; made: Made } | null = null;
  return (...args) => {
    if (!last?.args.every((arg, index) => arg === args[index])) last = { args, made: make(...args) };
    return last.made;
  };
}
