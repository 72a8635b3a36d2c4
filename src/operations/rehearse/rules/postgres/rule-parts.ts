import type { RelationName } from '../action.ts';
import type { KnownTable, KnownTables } from '../situation.ts';

export function addressOf(page: string): string {
  return `https://www.postgresql.org/docs/current/${page}`;
}

/** The tables that are from before the migration and have rows. */
export function ifBusy(tables: KnownTables, ...names: (RelationName | null)[]): RelationName[] {
  return names.filter((name) => name !== null && tables.busy(name) !== null) as RelationName[];
}

/** Reports whether a validated check says that a column is not null. */
export function isCheckedNotNull({ constraints }: KnownTable, column: string): boolean {
  const wanted = `${column.toLowerCase()}isnotnull`;
  return [...constraints.values()].some(
    ({ isCheck, isValidated, definition }) => isCheck && isValidated && bare(definition) === wanted,
  );
}

function bare(definition: string): string {
  return definition
    .toLowerCase()
    .replace(/^check\b/, '')
    .replaceAll(/[\s()"]/g, '');
}
