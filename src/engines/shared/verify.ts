import { restoreFailed } from './restore-failed.ts';

const DIFFERENCES = 20;

export function refuseDifferences(differences: string[]): void {
  if (differences.length === 0) return;
  throw restoreFailed('The restored database is not what the manifest says', [
    ...differences.slice(0, DIFFERENCES),
    ...(differences.length > DIFFERENCES ? [`and ${differences.length - DIFFERENCES} more`] : []),
  ]);
}

export function compareNames(kind: string, expected: string[], found: ReadonlySet<string>): string[] {
  const wanted = new Set(expected);
  return [
    ...expected.filter((name) => !found.has(name)).map((name) => `${kind} ${name} is missing`),
    ...[...found].filter((name) => !wanted.has(name)).map((name) => `${kind} ${name} is not in the snapshot`),
  ];
}
