import { rm, writeFile } from 'node:fs/promises';
import type { TestPostgres } from '../postgres/postgres-server.ts';
import { normalized } from './build-and-load.ts';

/** How many differences are shown, and how much of each. */
const SHOWN = 40;
const LENGTH = 400;

/**
 * What two dumps of `pg_dump` or `mariadb-dump` differ in, whatever the order of their statements and rows: `-` is in
 * the first one only, `+` in the second one only.
 */
export function dumpDifferences(expected: string, found: string): string[] {
  const [before, after] = [normalized(expected), normalized(found)];
  const lines = [
    ...without(before, after).map((statement) => `- ${statement}`),
    ...without(after, before).map((statement) => `+ ${statement}`),
  ];
  const more = lines.length - SHOWN;
  return [...lines.slice(0, SHOWN).map((line) => line.slice(0, LENGTH)), ...(more > 0 ? [`and ${more} more`] : [])];
}

/** The statements of the first that the second lacks; one that stands twice must do so in both. */
function without(all: string[], others: string[]): string[] {
  const left = new Map<string, number>();
  for (const statement of others) left.set(statement, (left.get(statement) ?? 0) + 1);
  return all.filter((statement) => {
    const count = left.get(statement) ?? 0;
    left.set(statement, count - 1);
    return count <= 0;
  });
}

/**
 * Copies a database by `pg_dump` and `psql` alone. A first dump differs from that of its own copy where columns of an
 * heir come in another order, or where the server writes an expression otherwise: two copies do not.
 */
export async function copyByPgDump(
  server: TestPostgres,
  { from, to, file, flags = [] }: { from: string; to: string; file: string; flags?: string[] },
): Promise<void> {
  await writeFile(file, await server.dump(from, ...flags));
  await server.createDatabase(to);
  await server.psql(to, { file });
  await rm(file);
}
