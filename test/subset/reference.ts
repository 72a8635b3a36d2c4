/**
 * The rules of docs/subset.md once more, as plainly as they can be written: every row in memory, every rule a loop over
 * all of them. Slow and obvious, to be compared with what the program does.
 */
export interface World {
  tables: Map<string, Row[]>;
  references: WorldReference[];
}

export interface Row {
  table: string;
  /** Values of the primary key, separated by commas. */
  key: string;
  values: Map<string, number | null>;
}

export interface WorldReference {
  from: string;
  columns: string[];
  to: string;
  refColumns: string[];
}

export interface Choice {
  /** Rows of the targets, in which order and number is not this file's affair. */
  targets: Map<string, Set<Row>>;
  copied: Set<string>;
  excluded: Set<string>;
  isCut: (reference: WorldReference) => boolean;
}

export function referenceSubset(world: World, { targets, copied, excluded, isCut }: Choice): Set<Row> {
  const references = world.references.filter((reference) => !isCut(reference) && !excluded.has(reference.to));
  const rows = [...world.tables.values()].flat();

  function referred(row: Row, { columns, to, refColumns }: WorldReference): Row | null {
    const wanted = columns.map((column) => row.values.get(column) ?? null);
    if (wanted.includes(null)) return null;
    const found = world.tables.get(to)?.find((other) => refColumns.every((c, i) => other.values.get(c) === wanted[i]));
    if (!found) throw new Error(`a row of ${row.table} refers to none of ${to}`);
    return found;
  }

  const filtered = new Set(targets.keys());
  for (let size = -1; size !== filtered.size; ) {
    size = filtered.size;
    for (const { from, to } of references) {
      if (filtered.has(to) && !copied.has(from) && !excluded.has(from)) filtered.add(from);
    }
  }

  /** Of a child row: the rows of filtered tables that it refers to. */
  const filteredParents = new Map<Row, Row[]>();
  for (const row of rows.filter(({ table }) => filtered.has(table) && !targets.has(table))) {
    const own = references.filter(({ from, to }) => from === row.table && filtered.has(to));
    const parents = own.map((reference) => referred(row, reference)).filter((parent) => parent !== null);
    filteredParents.set(row, parents);
  }

  const chosen = new Set([...targets.values()].flatMap((some) => [...some]));
  for (let size = -1; size !== chosen.size; ) {
    size = chosen.size;
    for (const [row, parents] of filteredParents) if (parents.some((parent) => chosen.has(parent))) chosen.add(row);
  }
  for (let size = -1; size !== chosen.size; ) {
    size = chosen.size;
    for (const [row, parents] of filteredParents)
      if (!parents.every((parent) => chosen.has(parent))) chosen.delete(row);
  }

  const taken = new Set([...chosen, ...rows.filter(({ table }) => copied.has(table))]);
  for (let size = -1; size !== taken.size; ) {
    size = taken.size;
    for (const row of taken) {
      for (const reference of references.filter(({ from }) => from === row.table)) {
        const parent = referred(row, reference);
        if (parent) taken.add(parent);
      }
    }
  }
  return taken;
}
