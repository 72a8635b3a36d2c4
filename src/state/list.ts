/** A list's selection and filter. The selection is an id, so that it survives refreshing and filtering. */
export interface ListState {
  selected: string | null;
  filter: string;
}

export type Move = 'up' | 'down' | 'page-up' | 'page-down' | 'first' | 'last';

export const emptyList: ListState = { selected: null, filter: '' };

export function selectedIndex(ids: string[], selected: string | null): number {
  const index = selected === null ? -1 : ids.indexOf(selected);
  return index === -1 ? Math.min(0, ids.length - 1) : index;
}

export interface MoveRequest {
  ids: string[];
  index: number;
  move: Move;
  page: number;
}

export function moveSelection(list: ListState, { ids, index, move, page }: MoveRequest): ListState {
  const destinations: Record<Move, number> = {
    up: index - 1,
    down: index + 1,
    'page-up': index - page,
    'page-down': index + page,
    first: 0,
    last: ids.length - 1,
  };
  const next = ids[Math.max(0, Math.min(ids.length - 1, destinations[move]))];
  return { ...list, selected: next ?? list.selected };
}

export function matchesFilter(filter: string, texts: (string | null)[]): boolean {
  const haystack = texts.join('\n').toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => haystack.includes(word));
}

/** Adds an id to the marked ones, or removes it. */
export function toggled(marked: string[], id: string): string[] {
  return marked.includes(id) ? marked.filter((other) => other !== id) : [...marked, id];
}
