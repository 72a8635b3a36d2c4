import type { SnapshotRow } from '../../src/results.ts';
import { matchesFilter } from '../../src/state/list.ts';
import type { TargetEntry } from '../../src/state/targets.ts';
import { sortTargets } from '../targets/sort.ts';
import type { Sort } from './route.ts';

/** What a long list shows, with the place of each item: a key need not look through ten thousand of them. */
export interface InView<Item> {
  items: Item[];
  ids: string[];
  /** Where each id is. */
  positions: Map<string, number>;
}

/** Makes what the long lists show; what was made last is handed out again as long as it is of the same things. */
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
        matchesFilter(filter, [row.note, row.created_at, row.id, String(row.index)]);
      return viewOf(filter === '' ? rows : rows.filter(isFound), ({ id }) => id);
    }),
  };
}

/** The index of the selected item: the first while nothing, or something gone, is selected; -1 in an empty list. */
export function positionIn({ ids, positions }: Pick<InView<unknown>, 'ids' | 'positions'>, selected: string | null) {
  return (selected === null ? undefined : positions.get(selected)) ?? Math.min(0, ids.length - 1);
}

function viewOf<Item>(items: Item[], idOf: (item: Item) => string): InView<Item> {
  const ids = items.map(idOf);
  return { items, ids, positions: new Map(ids.map((id, index) => [id, index])) };
}

/** Server and database of a URL: all the users are called `app`, and a filter for that would find everything. */
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
