import { nullableColumns } from './nulled-columns.ts';
import type { SourceSchema, SourceTable } from './source-schema.ts';

/** The settings of a subset that a schema and its sizes suggest. */
export interface SuggestedSubset {
  subset_tables: { table: string; percent: number }[];
  copy_tables: string[];
  /** Their rows need a row of a table that stays empty. */
  excluded_tables: string[];
}

/** Shares to choose from, in percent. */
export const PERCENTAGES = [0.1, 0.5, 1, 2, 5, 10, 20, 50, 100];

const MOST_ROOTS = 5;
/** A table with fewer rows is copied whole, or comes as far as others reference it. */
const LARGE_ROWS = 1000;
/** The size of a whole subset, about. */
const MOST_BYTES = 100_000_000;
const MOST_PERCENT = 5;
/** Rows of each table to begin with. */
const LEAST_ROWS = 100;

/**
 * Begins with the large tables by which most rows come along, and copies small tables that no row leads to. `null` where
 * no table has rows. `excluded` are tables that stay empty.
 */
export function suggestSubset(schema: SourceSchema, excluded: ReadonlySet<string>): SuggestedSubset | null {
  const empty = emptiedBy(schema, excluded);
  const tables = new Map(schema.tables.filter(({ name }) => !empty.has(name)).map((table) => [table.name, table]));
  const filled = [...tables.values()].filter(({ rows }) => rows > 0);
  if (filled.length === 0) return null;
  const large = Math.min(LARGE_ROWS, Math.max(...filled.map(({ rows }) => rows)) / 10);
  const { below, above } = referencesOf(schema, tables);
  const reached = new Set<string>();
  const roots: SourceTable[] = [];
  while (roots.length < MOST_ROOTS) {
    const open = filled.filter(({ name, rows }) => rows >= large && !reached.has(name));
    const [root] = open
      .map((table) => ({ table, carried: rowsOf(reachedFrom([table.name], below), tables) }))
      .sort((a, b) => b.carried - a.carried || b.table.rows - a.table.rows || (a.table.name < b.table.name ? -1 : 1));
    if (!root) break;
    roots.push(root.table);
    const chosen = reachedFrom([root.table.name], below);
    for (const name of [...chosen, ...reachedFrom(chosen, above)]) reached.add(name);
  }
  const share = shareOf(filled);
  return {
    subset_tables: roots.map(({ name, rows }) => ({ table: name, percent: percentOf(rows, share) })),
    copy_tables: filled.filter(({ name, rows }) => rows < large && !reached.has(name)).map(({ name }) => name),
    excluded_tables: [...empty].filter((name) => !excluded.has(name)),
  };
}

/** The excluded tables, and those with a reference to one of them that cannot be null. */
function emptiedBy({ tables, foreignKeys }: SourceSchema, excluded: ReadonlySet<string>): Set<string> {
  const named = new Map(tables.map((table) => [table.name, table]));
  const needs = foreignKeys.filter(
    (key) => key.from !== key.to && nullableColumns(named.get(key.from), key).length === 0,
  );
  const below = new Map(
    [...Map.groupBy(needs, ({ to }) => to)].map(([to, keys]) => [to, keys.map(({ from }) => from)]),
  );
  return reachedFrom(excluded, below);
}

type References = Map<string, string[]>;

function referencesOf({ foreignKeys }: SourceSchema, tables: Map<string, SourceTable>) {
  const below: References = new Map();
  const above: References = new Map();
  for (const { from, to } of foreignKeys) {
    if (!tables.has(from) || !tables.has(to)) continue;
    below.set(to, [...(below.get(to) ?? []), from]);
    above.set(from, [...(above.get(from) ?? []), to]);
  }
  return { below, above };
}

function reachedFrom(starts: Iterable<string>, next: References): Set<string> {
  const reached = new Set(starts);
  // A set that grows is walked to its end.
  for (const name of reached) for (const other of next.get(name) ?? []) reached.add(other);
  return reached;
}

function rowsOf(names: Iterable<string>, tables: Map<string, SourceTable>): number {
  return Array.from(names, (name) => tables.get(name)?.rows ?? 0).reduce((sum, rows) => sum + rows, 0);
}

function shareOf(tables: SourceTable[]): number {
  const bytes = tables.reduce((sum, table) => sum + table.bytes, 0);
  const fitting = PERCENTAGES.filter((percent) => percent <= MOST_PERCENT && (bytes * percent) / 100 <= MOST_BYTES);
  return fitting.at(-1) ?? Math.min(...PERCENTAGES);
}

/** A larger one where the table would have only a few rows. */
function percentOf(rows: number, share: number): number {
  return PERCENTAGES.find((percent) => percent >= share && (rows * percent) / 100 >= LEAST_ROWS) ?? 50;
}
