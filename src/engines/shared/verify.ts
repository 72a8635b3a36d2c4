import { restoreFailed } from './restore-failed.ts';

/** How many differences are told. */
const DIFFERENCES = 20;

/** Refuses a restored database that is not what its manifest says. */
export function refuseDifferences(differences: string[]): void {
  if (differences.length === 0) return;
  throw restoreFailed('The restored database is not what the manifest says', [
    ...differences.slice(0, DIFFERENCES),
    ...(differences.length > DIFFERENCES ? [`and ${differences.length - DIFFERENCES} more`] : []),
  ]);
}

/** Objects of a kind that a restored database lacks, and those that it has besides. */
export function compareNames(kind: string, expected: string[], found: ReadonlySet<string>): string[] {
  const wanted = new Set(expected);
  return [
    ...expected.filter((name) => !found.has(name)).map((name) => `${kind} ${name} is missing`),
    ...[...found].filter((name) => !wanted.has(name)).map((name) => `${kind} ${name} is not in the snapshot`),
  ];
}
