import type { KnownTable } from '../situation.ts';

export function addressOf(page: string): string {
  return `https://www.postgresql.org/docs/current/${page}`;
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
