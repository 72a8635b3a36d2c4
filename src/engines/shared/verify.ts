import type { ManifestTable } from '../../repository/manifest/manifest.ts';
import { boundedLines } from '../../text/bounded-list.ts';
import type { RestorePlan } from '../facets/restore.ts';
import { restoreFailed } from './restore-failed.ts';

const MOST_LINES = 20;

/** The first lines of a list, and the number of the others. */
export function firstLines(lines: string[]): string[] {
  return boundedLines(lines, MOST_LINES);
}

export function assertNoDifferences(differences: string[]): void {
  if (differences.length === 0) return;
  throw restoreFailed('The restored database is not what the manifest says', firstLines(differences));
}

export function compareNames(kind: string, expected: string[], found: ReadonlySet<string>): string[] {
  const wanted = new Set(expected);
  return [
    ...expected.filter((name) => !found.has(name)).map((name) => `${kind} ${name} is missing`),
    ...[...found].filter((name) => !wanted.has(name)).map((name) => `${kind} ${name} is not in the snapshot`),
  ];
}

export interface ExpectedRows {
  table: ManifestTable;
  rows: number;
  /** `12 in the manifest`: the expectation in an error. */
  words: string;
}

export function expectedRows({ tables, empty }: Pick<RestorePlan, 'tables' | 'empty'>): ExpectedRows[] {
  return [
    ...tables.map((table) => ({ table, rows: table.rows, words: `${table.rows} in the manifest` })),
    ...empty.map((table) => ({ table, rows: 0, words: 'though it was to be left empty' })),
  ];
}
