export interface ForeignKey {
  name: string;
  columns: string[];
  /** Tables with rows in the snapshot that have the key: one, or the partitions of one. */
  tables: string[];
  /** Tables of the snapshot that the key references: one, or the partitions of one. */
  references: string[];
  /** In the order of `columns`. */
  referencedColumns: string[];
  /** MATCH FULL: either all columns are NULL or none is. */
  isFull: boolean;
}

export interface TableColumns {
  /** Columns that cannot be NULL, and why; '' where the column itself is NOT NULL. */
  required: Map<string, string>;
  /** Columns of the primary key and of unique keys. */
  unique: Set<string>;
}

/** A foreign key of one table with rows, of which referenced rows are not in the snapshot. */
export interface DanglingKey {
  name: string;
  table: string;
  columns: string[];
  /** The first referenced table without rows, or with a column that is NULL. */
  references: string;
  /** The referenced column that becomes NULL; `null` where the rows are left out. */
  because: string | null;
  /** Columns that become NULL; empty where that is not possible. */
  nulled: string[];
  /** Why not, by column; `null`: other partitions of the referenced table keep their rows. */
  obstacles: Map<string, string> | null;
  isFull: boolean;
}

interface FindOptions {
  excluded: Set<string>;
  columnsOf: Map<string, TableColumns>;
}

/**
 * Finds the foreign keys of which referenced rows are not in the snapshot, and the columns to read as NULL instead. A
 * key that references such a column dangles, too: repeated until no further key does.
 */
export function findDangling(keys: ForeignKey[], { excluded, columnsOf }: FindOptions): DanglingKey[] {
  const nulled = new Map<string, Set<string>>();
  const found = new Map<ForeignKey, DanglingKey[]>();
  const keysOf = new Map<string, ForeignKey[]>();
  for (const key of keys) {
    for (const table of key.tables) {
      const known = keysOf.get(table);
      if (known) known.push(key);
      else keysOf.set(table, [key]);
    }
  }
  const lost = ({ referencedColumns }: ForeignKey, table: string): string | null | undefined =>
    excluded.has(table) ? null : referencedColumns.find((column) => nulled.get(table)?.has(column));
  let isChanged = true;
  while (isChanged) {
    isChanged = false;
    for (const key of keys) {
      const missing = key.references.filter((table) => lost(key, table) !== undefined);
      const [references] = missing;
      if (references === undefined) continue;
      const isPartial = missing.length < key.references.length;
      const known = found.get(key);
      if (!known) {
        const because = lost(key, references) ?? null;
        const { name, columns, isFull } = key;
        const dangling = { name, columns, references, because, nulled: [], isFull };
        found.set(
          key,
          key.tables.map((table) => ({ ...dangling, table, obstacles: isPartial ? null : new Map() })),
        );
        isChanged = true;
      } else if (!isPartial) {
        for (const one of known) one.obstacles ??= new Map();
      }
    }
    for (const [key, one] of [...found].flatMap(([key, list]) => list.map((one) => [key, one] as const))) {
      if (one.nulled.length > 0 || one.obstacles === null) continue;
      const others = (keysOf.get(one.table) ?? []).filter((other) => other !== key);
      const staying = others.filter((other) => !found.has(other));
      one.obstacles = obstaclesOf(one, { staying, required: columnsOf.get(one.table)?.required ?? new Map() });
      const usable = one.columns.filter((column) => !one.obstacles?.has(column));
      if (usable.length === 0 || (one.isFull && usable.length < one.columns.length)) continue;
      const isUnique = (column: string): boolean => columnsOf.get(one.table)?.unique.has(column) ?? false;
      one.nulled = one.isFull ? usable : [leastNeeded(usable, { others, isUnique })];
      nulled.set(one.table, new Set([...(nulled.get(one.table) ?? []), ...one.nulled]));
      isChanged = true;
    }
  }
  return [...found.values()].flat();
}

function obstaclesOf(
  { columns }: DanglingKey,
  { staying, required }: { staying: ForeignKey[]; required: Map<string, string> },
): Map<string, string> {
  return new Map(
    columns.flatMap((column): [string, string][] => {
      const why = required.get(column);
      if (why !== undefined) return [[column, why]];
      const other = staying.find((key) => key.columns.includes(column));
      return other ? [[column, `foreign key ${other.name}`]] : [];
    }),
  );
}

/** The column in no unique key, in the fewest other foreign keys; the last such one, since the first is often shared. */
function leastNeeded(
  columns: string[],
  { others, isUnique }: { others: ForeignKey[]; isUnique: (column: string) => boolean },
): string {
  const uses = (column: string): number => others.filter((key) => key.columns.includes(column)).length;
  const [best = ''] = columns
    .toReversed()
    .toSorted((a, b) => Number(isUnique(a)) - Number(isUnique(b)) || uses(a) - uses(b));
  return best;
}

const ALWAYS = 'TRUE';

/** Returns the condition on rows under which a column is read as NULL, by table and column. */
export function nullConditions(keys: DanglingKey[], quoteName: (name: string) => string) {
  const byTable = new Map<string, Map<string, string>>();
  for (const { table, columns, nulled, isFull } of keys) {
    const known = byTable.get(table) ?? new Map<string, string>();
    byTable.set(table, known);
    for (const column of nulled) {
      const condition = isFull || columns.length === 1 ? ALWAYS : `(${referencing(columns, quoteName)})`;
      const before = known.get(column);
      const isAlways = condition === ALWAYS || before === ALWAYS;
      known.set(column, isAlways ? ALWAYS : [before, condition].filter((part) => part !== undefined).join(' OR '));
    }
  }
  return byTable;
}

/** The condition of the rows that reference a row. */
export function referencing(columns: string[], quoteName: (name: string) => string): string {
  return columns.map((column) => `${quoteName(column)} IS NOT NULL`).join(' AND ');
}

/** A value that is NULL under a condition of `nullConditions`. */
export function nullWhere(condition: string | undefined, value: string): string {
  if (condition === undefined) return value;
  return condition === ALWAYS ? 'NULL' : `CASE WHEN ${condition} THEN NULL ELSE ${value} END`;
}
