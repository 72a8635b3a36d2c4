import type { TableDefinition } from '../../catalog/definitions/definitions.ts';
import { entriesOf, namesIn, withoutTexts } from '../../catalog/definitions/table-entries.ts';

/** A key by which a row is found, whose columns are whole and NOT NULL. */
export interface UsableKey {
  columns: string[];
  /** It is there before the indexes are built. */
  isPrimary: boolean;
}

/** Finds a key among the columns that rows are loaded with; `null` where there is none. */
export function usableKey({ create, indexes }: TableDefinition, loaded: string[]): UsableKey | null {
  const { entries } = entriesOf(create);
  const filled = new Set(entries.flatMap(filledColumn));
  const keys = [...entries, ...indexes.flat()].flatMap(keyIn).filter(({ columns, isPrimary }) =>
    // The columns of a primary key are NOT NULL in any case.
    columns.every((column) => loaded.includes(column) && (isPrimary || filled.has(column))),
  );
  return (
    keys.sort((a, b) => Number(b.isPrimary) - Number(a.isPrimary) || a.columns.length - b.columns.length)[0] ?? null
  );
}

function filledColumn(entry: string): string[] {
  return /^`.*\bNOT NULL\b/s.test(withoutTexts(entry)) ? namesIn(entry).slice(0, 1) : [];
}

/** Without lengths, directions and expressions: only whole columns. */
const KEY = /^(PRIMARY|UNIQUE) KEY (?:`(?:[^`]|``)*` )?\(((?:`(?:[^`]|``)*`(?:,|(?=\))))+)\)/;

function keyIn(entry: string): UsableKey[] {
  const [, kind, columns] = KEY.exec(entry) ?? [];
  return columns === undefined ? [] : [{ columns: namesIn(columns), isPrimary: kind === 'PRIMARY' }];
}
