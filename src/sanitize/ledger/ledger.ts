import type { OpenItem } from '../../results/review/ledger-results.ts';
import { escaped } from '../../text/printable.ts';
import type { LedgerItem } from './ledger-item.ts';

/** `open`: nobody has classified it yet; nothing of it passes. */
export const LEDGER_STATES = ['changed', 'kept', 'empty', 'excluded', 'open'] as const;

export type LedgerState = (typeof LEDGER_STATES)[number];

export interface LedgerEntry {
  state: LedgerState;
  /** Why a column is kept. */
  reason?: string;
  /** The known values of an enumeration. */
  values?: string[];
}

/** The entries of one target, by the name of the item. */
export type Ledger = Map<string, LedgerEntry>;

/** Finds the items without an entry, and those with values that their entry does not list. */
export function findOpenItems(items: LedgerItem[], ledger: Ledger): OpenItem[] {
  return items.flatMap(({ name, type, values }): OpenItem[] => {
    const entry = entryOf(name, ledger);
    if (!entry || entry.state === 'open') return [{ name, type, why: 'unclassified' }];
    const known = new Set(entry.values);
    const added = (values ?? []).filter((value) => !known.has(value));
    return added.length === 0 ? [] : [{ name, type, why: 'new_values', values: added }];
  });
}

/** Finds the entries of a snapshot that the ledger lacks or has otherwise by now. */
export function findReclassified(
  classified: (Pick<LedgerItem, 'name' | 'values'> & LedgerEntry)[],
  ledger: Ledger,
): OpenItem[] {
  return classified.flatMap(({ state, ...item }): OpenItem[] => {
    const open = findOpenItems([{ ...item, type: state }], ledger);
    if (open.length > 0 || entryOf(item.name, ledger)?.state === state) return open;
    return [{ name: item.name, type: state, why: 'reclassified' }];
  });
}

/** The entry of the item, or that of all keys of its level or of a level above. */
export function entryOf(name: string, ledger: Ledger): LedgerEntry | undefined {
  const own = ledger.get(name);
  if (own) return own;
  for (const above of levelsAbove(name)) {
    const entry = ledger.get(`${above}->*`);
    if (entry) return entry;
  }
  return undefined;
}

/** Returns the nearest first. Quoted parts may contain an arrow. */
function levelsAbove(name: string): string[] {
  const ends: number[] = [];
  let isQuoted = false;
  for (let at = 0; at < name.length; at += 1) {
    if (name[at] === '"') isQuoted = !isQuoted;
    else if (!isQuoted && name.startsWith('->', at)) ends.push(at);
  }
  return ends.toReversed().map((end) => name.slice(0, end));
}

const ENDINGS: Record<OpenItem['why'], string> = {
  unclassified: 'is not classified',
  new_values: 'has values that are not in the ledger',
  unchanged: 'is classified as changed, and its values are unchanged',
  not_empty: 'is classified as empty, and has values',
  reclassified: 'was classified otherwise when the snapshot was sanitized',
  not_excluded: 'is classified as excluded, and its table has rows',
};

const SHOWN_VALUES = 5;

/** Returns `public.person.notes (text) is not classified`. */
export function openItemText({ name, type, why, values = [] }: OpenItem): string {
  const more = values.length - SHOWN_VALUES;
  const listed = values.slice(0, SHOWN_VALUES).join(', ') + (more > 0 ? ` and ${more} more` : '');
  return escaped(`${name} (${type}) ${ENDINGS[why]}${listed === '' ? '' : `: ${listed}`}`);
}
