import { createHash } from 'node:crypto';
import type { SubsetSettings } from '../../src/subset/graph.ts';
import { randomFrom } from '../helpers/random.ts';
import type { Choice, Row, World, WorldReference } from './reference.ts';

/** A random schema with random rows, and a random way to make a subset of it. */
export interface RandomWorld {
  world: World;
  sql: string;
  settings: Required<Omit<SubsetSettings, 'src_url' | 'dst_url'>>;
  choice: Choice;
  /** Columns that become null, by table. */
  nulled: Map<string, Set<string>>;
}

interface MadeReference extends WorldReference {
  nullable: boolean;
  /** Not declared in the database. */
  added: boolean;
}

export interface Making {
  percentSeed: number;
  /** Begins the names of its tables. */
  prefix: string;
  /** By which the engine chooses the rows of a percentage. */
  hash: 'md5' | 'sha256';
}

/** The same world for the same seed. */
export function randomWorld(seed: number, making: Making): RandomWorld {
  const random = randomFrom(seed);
  const tables = Array.from({ length: 2 + below(random, below(random, 4) === 0 ? 39 : 11) }, (_, index) => {
    const name = `${making.prefix}t${index}`;
    return { name, wide: below(random, 4) === 0, count: 1 + below(random, 14), references: [] as MadeReference[] };
  });
  for (const [index, table] of tables.entries()) {
    for (let count = below(random, 4); count > 0; count -= 1) {
      // Most often to an earlier table, sometimes to a later one, which makes circles, and to itself.
      const other = tables[below(random, 3) === 0 ? below(random, tables.length) : below(random, index + 1)];
      if (other) table.references.push(madeReference(random, table, other));
    }
  }
  const world: World = { tables: new Map(), references: tables.flatMap(({ references }) => references) };
  for (const { name, wide, count } of tables) {
    const rows = Array.from({ length: count }, (_, index): Row => {
      const id = index + 1;
      const part = id % 3;
      return {
        table: name,
        key: wide ? `${id},${part}` : `${id}`,
        values: new Map([
          ['id', id],
          ['part', part],
          ['code', id * 7],
        ]),
      };
    });
    world.tables.set(name, rows);
  }
  for (const table of tables) {
    for (const row of world.tables.get(table.name) ?? []) {
      for (const reference of table.references) setReference(random, world, { row, reference });
    }
  }
  return { world, sql: sqlOf(tables, world), ...randomChoice(random, { tables, world, making }) };
}

type Table = { name: string; wide: boolean; count: number; references: MadeReference[] };

function madeReference(random: () => number, table: Table, other: Table): MadeReference {
  const number = table.references.length;
  const refColumns = below(random, 3) === 0 ? ['code'] : other.wide ? ['id', 'part'] : ['id'];
  return {
    from: table.name,
    columns: refColumns.map((column) => `r${number}_${column}`),
    to: other.name,
    refColumns,
    nullable: below(random, 2) === 0,
    added: below(random, 8) === 0,
  };
}

interface Setting {
  row: Row;
  reference: MadeReference;
}

function setReference(random: () => number, world: World, { row, reference }: Setting): void {
  const others = world.tables.get(reference.to) ?? [];
  const other = others[below(random, others.length)];
  const isNull = reference.nullable && below(random, 3) === 0;
  for (const [index, column] of reference.columns.entries()) {
    // One null is enough to make a reference none: the last column keeps its value.
    const none = isNull && (index === 0 || below(random, 2) === 0);
    row.values.set(column, none ? null : (other?.values.get(reference.refColumns[index] ?? '') ?? null));
  }
}

/** One statement a line. */
function sqlOf(tables: Table[], world: World): string {
  const lines: string[] = [];
  for (const { name, wide, references } of tables) {
    const columns = references.flatMap((reference) =>
      reference.columns.map((column) => `${column} integer${reference.nullable ? '' : ' NOT NULL'}`),
    );
    const key = wide ? 'PRIMARY KEY (id, part)' : 'PRIMARY KEY (id)';
    lines.push(
      `CREATE TABLE ${name} (id integer, part integer NOT NULL, code integer UNIQUE NOT NULL, ${[...columns, key].join(', ')});`,
    );
    const rows = (world.tables.get(name) ?? []).map(
      ({ values }) => `(${[...values.values()].map((v) => v ?? 'NULL').join(', ')})`,
    );
    lines.push(`INSERT INTO ${name} VALUES ${rows.join(', ')};`);
  }
  for (const { name, references } of tables) {
    for (const { columns, to, refColumns, added } of references) {
      if (added) continue;
      lines.push(
        `ALTER TABLE ${name} ADD FOREIGN KEY (${columns.join(', ')}) REFERENCES ${to} (${refColumns.join(', ')});`,
      );
    }
  }
  return lines.join('\n');
}

interface Choosing {
  tables: Table[];
  world: World;
  making: Making;
}

function randomChoice(
  random: () => number,
  { tables, world, making }: Choosing,
): Pick<RandomWorld, 'settings' | 'choice' | 'nulled'> {
  const all = tables.flatMap(({ references }) => references);
  const roles = new Map<string, 'target' | 'copy' | 'excluded'>();
  const pick = (role: 'target' | 'copy' | 'excluded', able: (name: string) => boolean): void => {
    const name = tables[below(random, tables.length)]?.name ?? '';
    if (!roles.has(name) && able(name)) roles.set(name, role);
  };
  pick('target', () => true);
  if (below(random, 3) === 0) pick('target', () => true);
  if (below(random, 3) === 0) pick('copy', () => true);
  if (below(random, 2) === 0) pick('excluded', (name) => all.every(({ to, nullable }) => to !== name || nullable));
  const named = (role: string): string[] => [...roles].filter(([, own]) => own === role).map(([name]) => name);

  const pairs = all.filter(() => below(random, 10) === 0).map(({ from, to }) => ({ fk_table: from, ref_table: to }));
  const excluded_relationships = pairs.filter(({ fk_table, ref_table }) =>
    all.every(({ from, to, nullable }) => from !== fk_table || to !== ref_table || nullable),
  );
  const excluded = new Set(named('excluded'));
  const isCut = ({ from, to }: WorldReference): boolean =>
    excluded.has(to) || excluded_relationships.some(({ fk_table, ref_table }) => fk_table === from && ref_table === to);
  const nulled = new Map<string, Set<string>>();
  for (const { from, columns } of all.filter(isCut)) {
    nulled.set(from, new Set([...(nulled.get(from) ?? []), ...columns]));
  }

  const targets = new Map<string, Set<Row>>();
  const subset_tables = named('target').map((table) => {
    const rows = world.tables.get(table) ?? [];
    if (below(random, 2) === 0) {
      const divisor = 2 + below(random, 4);
      targets.set(table, new Set(rows.filter(({ values }) => (values.get('id') ?? 0) % divisor === 0)));
      return { table, where: `id % ${divisor} = 0` };
    }
    const percent = 1 + below(random, 60);
    const ordered = [...rows].sort((a, b) => (hash(a.key, making) < hash(b.key, making) ? -1 : 1));
    targets.set(table, new Set(ordered.slice(0, Math.ceil((rows.length * percent) / 100))));
    return { table, percent };
  });
  return {
    settings: {
      subset_tables,
      copy_tables: named('copy'),
      excluded_tables: named('excluded'),
      added_relationships: all
        .filter(({ added }) => added)
        .map(({ from, columns, to, refColumns }) => ({
          fk_table: from,
          fk_columns: columns.length > 1 ? columns : columns.join(', '),
          ref_table: to,
          ref_columns: refColumns.join(', '),
        })),
      excluded_relationships,
    },
    choice: { targets, copied: new Set(named('copy')), excluded, isCut },
    nulled,
  };
}

function hash(key: string, { hash: algorithm, percentSeed }: Making): string {
  return createHash(algorithm).update(`${key} ${percentSeed}`).digest('hex');
}

function below(random: () => number, limit: number): number {
  return Math.floor(random() * limit);
}
