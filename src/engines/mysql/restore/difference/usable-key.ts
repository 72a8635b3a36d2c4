import type { TableDefinition } from '../../catalog/definitions/definitions.ts';
import { entriesOf, withoutTexts } from '../../catalog/definitions/table-entries.ts';

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

const COLUMN = /^`((?:[^`]|``)*)` /;

function filledColumn(entry: string): string[] {
  const [, name] = COLUMN.exec(entry) ?? [];
  return name !== undefined && /\bNOT NULL\b/.test(withoutTexts(entry)) ? [unquoted(name)] : [];
}

/** Without lengths, directions and expressions: only whole columns. */
const KEY = /^(PRIMARY|UNIQUE) KEY (?:`(?:[^`]|``)*` )?\(((?:`(?:[^`]|``)*`(?:,|(?=\))))+)\)/;

function keyIn(entry: string): UsableKey[] {
  const [, kind, columns] = KEY.exec(entry) ?? [];
  if (columns === undefined) return [];
  const names = [...columns.matchAll(/`((?:[^`]|``)*)`/g)].map(([, name = '']) => unquoted(name));
  return [{ columns: names, isPrimary: kind === 'PRIMARY' }];
}

function unquoted(name: string): string {
  return name.replaceAll('``', '`');
}
