import { FIRST_OWN_OID } from '../catalog/first-own-oid.ts';
import { quoteNumber, quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';

/** A row of a system catalog: the oid of the catalog and that of the row, and the number of a column or 0. */
export interface ObjectAddress {
  class: number;
  oid: number;
  column: number;
}

export interface Edge {
  from: ObjectAddress;
  to: ObjectAddress;
  /** `deptype` of pg_depend. */
  type: string;
}

interface Relation {
  oid: number;
  /** `relkind` of pg_class. */
  kind: string;
  partition: boolean;
  schema: number;
}

export interface DependencyGraph {
  /** Oids of the catalogs, by their names. */
  classes: Record<(typeof CATALOGS)[number], number>;
  /** Every object that the database's users or its extensions have made, with column 0. */
  objects: ObjectAddress[];
  /** The edges by the object that they lead to. */
  dependents: Map<string, Edge[]>;
  /** Objects by a part that they cannot exist without: the view of a rule, the family of an operator's row. */
  wholes: Map<string, ObjectAddress[]>;
  relations: Map<number, Relation>;
  defaults: Map<number, { relation: number; number: number; generated: boolean }>;
  foreignKeys: { oid: number; relation: number; refers_to: number }[];
  /** Parents by child: partitions and inheritance. */
  parents: Map<number, number[]>;
  /** Objects that an extension made. */
  members: Set<string>;
  schemaOf: Map<string, number>;
  /** Oids of the schemas of other sessions' temporary objects, which are never dumped. */
  temporarySchemas: Set<number>;
  /** Object that contains another: the table of an index, the element of an array type. */
  owners: Map<string, ObjectAddress>;
}

const CATALOGS = [
  'pg_class',
  'pg_attrdef',
  'pg_constraint',
  'pg_namespace',
  'pg_extension',
  'pg_amop',
  'pg_amproc',
] as const;

export function keyOf({ class: catalog, oid, column }: ObjectAddress): string {
  return `${catalog}:${oid}:${column}`;
}

/** pg_depend, and what it leaves to the other catalogs: owners of parts, parents, kinds. */
export async function readGraph(session: PostgresSession): Promise<DependencyGraph> {
  const classes = await readClasses(session);
  const edges = await readEdges(session);
  const relations = await session.query<Relation>(
    `SELECT oid::int8 AS oid, relkind AS kind, relispartition AS partition, relnamespace::int8 AS schema FROM pg_class`,
  );
  const defaults = await session.query<{ oid: number; relation: number; number: number; generated: boolean }>(`
    SELECT d.oid::int8 AS oid, d.adrelid::int8 AS relation, d.adnum AS number, a.attgenerated <> '' AS generated
    FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum`);
  const constraints = await session.query<{ oid: number; type: string; relation: number; refers_to: number }>(`
    SELECT oid::int8 AS oid, contype AS type, conrelid::int8 AS relation, confrelid::int8 AS refers_to
    FROM pg_constraint WHERE oid >= ${FIRST_OWN_OID}`);
  const inherits = await session.query<{ child: number; parent: number }>(
    'SELECT inhrelid::int8 AS child, inhparent::int8 AS parent FROM pg_inherits',
  );
  const members = new Set(edges.filter(({ type }) => type === 'e').map(({ from }) => keyOf({ ...from, column: 0 })));
  const owners = await readOwners(session);
  const temporary = await session.query<{ oid: number }>(
    `SELECT oid::int8 AS oid FROM pg_namespace WHERE nspname ~ '^pg_(toast_)?temp_'`,
  );
  const objects = new Map<string, ObjectAddress>();
  for (const { from } of edges) objects.set(keyOf({ ...from, column: 0 }), { ...from, column: 0 });
  return {
    classes,
    objects: [...objects.values()],
    dependents: Map.groupBy(
      edges.filter(({ type }) => type !== 'e'),
      ({ to }) => keyOf({ ...to, column: 0 }),
    ),
    wholes: wholesOf(edges, classes),
    relations: new Map(relations.map((relation) => [relation.oid, relation])),
    defaults: new Map(defaults.map(({ oid, ...rest }) => [oid, rest])),
    foreignKeys: constraints.filter(({ type }) => type === 'f'),
    parents: new Map(
      [...Map.groupBy(inherits, ({ child }) => child)].map(([child, of]) => [child, of.map(({ parent }) => parent)]),
    ),
    members,
    schemaOf: schemasOf(edges, { classes, owners }),
    temporarySchemas: new Set(temporary.map(({ oid }) => oid)),
    owners: new Map(owners.map(({ object, owner }) => [keyOf(object), owner])),
  };
}

async function readClasses(session: PostgresSession): Promise<DependencyGraph['classes']> {
  const rows = await session.query<{ name: keyof DependencyGraph['classes']; oid: number }>(`
    SELECT relname AS name, oid::int8 AS oid FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace
      AND relname IN (${CATALOGS.map(quoteText).join(', ')})`);
  return Object.fromEntries(rows.map(({ name, oid }) => [name, oid])) as DependencyGraph['classes'];
}

/** A clone of a trigger hangs on its parent's; a partition's index, key or rows can be without theirs. */
async function readEdges(session: PostgresSession): Promise<Edge[]> {
  const rows = await session.query<{ e: [number, number, number, number, number, number, string] }>(`
    SELECT json_build_array(classid::int8, objid::int8, objsubid, refclassid::int8, refobjid::int8, refobjsubid, deptype) AS e
    FROM pg_depend WHERE objid >= ${FIRST_OWN_OID}
      AND (deptype IN ('n', 'a', 'i', 'e') OR deptype IN ('P', 'S') AND classid = 'pg_trigger'::regclass)`);
  return rows.map(({ e: [fromClass, fromOid, fromColumn, toClass, toOid, toColumn, type] }) => ({
    from: { class: fromClass, oid: fromOid, column: fromColumn },
    to: { class: toClass, oid: toOid, column: toColumn },
    type,
  }));
}

/** Internal parts, and the operators and functions of an operator class or family; a column stays without its sequence. */
function wholesOf(edges: Edge[], { pg_amop, pg_amproc }: DependencyGraph['classes']): DependencyGraph['wholes'] {
  const parts = edges.filter(
    ({ from, to, type }) =>
      to.column === 0 &&
      to.oid >= FIRST_OWN_OID &&
      (type === 'i' || (type === 'a' && (from.class === pg_amop || from.class === pg_amproc))),
  );
  return new Map([...Map.groupBy(parts, ({ from }) => keyOf(from))].map(([key, of]) => [key, of.map(({ to }) => to)]));
}

interface Owner {
  object: ObjectAddress;
  owner: ObjectAddress;
}

/** Reads the owners of objects that belong to a relation or a type and have no schema of their own in pg_depend. */
async function readOwners(session: PostgresSession): Promise<Owner[]> {
  const rows = await session.query<{ o: [number, number, number, number] }>(`
    SELECT json_build_array(class::int8, oid::int8, owner_class::int8, owner::int8) AS o FROM (
      SELECT 'pg_class'::regclass AS class, indexrelid AS oid, 'pg_class'::regclass AS owner_class, indrelid AS owner FROM pg_index
      UNION ALL SELECT 'pg_class'::regclass, reltoastrelid, 'pg_class'::regclass, oid FROM pg_class WHERE reltoastrelid <> 0
      UNION ALL SELECT 'pg_trigger'::regclass, oid, 'pg_class'::regclass, tgrelid FROM pg_trigger
      UNION ALL SELECT 'pg_rewrite'::regclass, oid, 'pg_class'::regclass, ev_class FROM pg_rewrite
      UNION ALL SELECT 'pg_policy'::regclass, oid, 'pg_class'::regclass, polrelid FROM pg_policy
      UNION ALL SELECT 'pg_attrdef'::regclass, oid, 'pg_class'::regclass, adrelid FROM pg_attrdef
      UNION ALL SELECT 'pg_constraint'::regclass, oid, 'pg_class'::regclass, conrelid FROM pg_constraint WHERE conrelid <> 0
      UNION ALL SELECT 'pg_constraint'::regclass, oid, 'pg_type'::regclass, contypid FROM pg_constraint WHERE contypid <> 0
      UNION ALL SELECT 'pg_type'::regclass, t.oid, 'pg_class'::regclass, c.oid FROM pg_type t JOIN pg_class c ON c.oid = t.typrelid
        WHERE c.relkind <> 'c'
      UNION ALL SELECT 'pg_class'::regclass, c.oid, 'pg_type'::regclass, t.oid FROM pg_type t JOIN pg_class c ON c.oid = t.typrelid
        WHERE c.relkind = 'c'
      UNION ALL SELECT 'pg_type'::regclass, typarray, 'pg_type'::regclass, oid FROM pg_type WHERE typarray <> 0
      UNION ALL SELECT 'pg_amop'::regclass, oid, 'pg_opfamily'::regclass, amopfamily FROM pg_amop
      UNION ALL SELECT 'pg_amproc'::regclass, oid, 'pg_opfamily'::regclass, amprocfamily FROM pg_amproc
    ) o WHERE oid >= ${FIRST_OWN_OID}`);
  return rows.map(({ o: [fromClass, oid, ownerClass, owner] }) => ({
    object: { class: fromClass, oid, column: 0 },
    owner: { class: ownerClass, oid: owner, column: 0 },
  }));
}

function schemasOf(edges: Edge[], { classes, owners }: { classes: DependencyGraph['classes']; owners: Owner[] }) {
  const schemas = new Map<string, number>();
  for (const { from, to, type } of edges) {
    if (to.class === classes.pg_namespace && type === 'n') schemas.set(keyOf(from), to.oid);
  }
  // A chain is short: array type, row type, table.
  for (let known = -1; known < schemas.size; ) {
    known = schemas.size;
    for (const { object, owner } of owners) {
      const schema = schemas.get(keyOf(owner));
      if (schema !== undefined && !schemas.has(keyOf(object))) schemas.set(keyOf(object), schema);
    }
  }
  return schemas;
}

interface AddressDescription {
  kind: string;
  name: string;
}

/**
 * Kinds and names of objects for people; `null` for what is not an object of its own: row and array types, triggers
 * of constraints, rules of views.
 */
export async function describeAddresses(
  session: PostgresSession,
  addresses: ObjectAddress[],
): Promise<(address: ObjectAddress) => AddressDescription | null> {
  const unique = [...new Map(addresses.map((address) => [keyOf(address), address])).values()];
  if (unique.length === 0) return () => null;
  const list = unique.map((each) => `(${[each.class, each.oid, each.column].map(quoteNumber).join(', ')})`).join(', ');
  const rows = await session.query<ObjectAddress & AddressDescription>(`
    SELECT g.class, g.oid, g."column", i.type AS kind,
      array_to_string(CASE WHEN i.type = 'domain constraint' THEN i.object_names || i.object_args ELSE i.object_names END, '.')
        || CASE WHEN i.type IN ('function', 'procedure', 'aggregate', 'operator', 'cast')
          THEN '(' || array_to_string(i.object_args, ', ') || ')' ELSE '' END AS name
    FROM (VALUES ${list}) g (class, oid, "column"), pg_identify_object_as_address(g.class::oid, g.oid::oid, g."column"::int4) i
    WHERE NOT (g.class::oid = 'pg_trigger'::regclass
        AND EXISTS (SELECT FROM pg_trigger t WHERE t.oid = g.oid::oid AND t.tgisinternal AND (t.tgparentid = 0
          OR EXISTS (SELECT FROM pg_constraint k WHERE k.oid = t.tgconstraint AND k.contype = 'f'))))
      AND NOT (g.class::oid = 'pg_rewrite'::regclass
        AND EXISTS (SELECT FROM pg_rewrite r WHERE r.oid = g.oid::oid AND r.rulename = '_RETURN'))
      AND NOT (g.class::oid = 'pg_type'::regclass
        AND EXISTS (SELECT FROM pg_type t LEFT JOIN pg_class c ON c.oid = t.typrelid
          WHERE t.oid = g.oid::oid AND (c.relkind <> 'c' OR t.typelem <> 0 AND t.typcategory = 'A')))
      AND NOT (g.class::oid = 'pg_class'::regclass
        AND EXISTS (SELECT FROM pg_class c WHERE c.oid = g.oid::oid AND (c.relkind IN ('t', 'c') OR c.relnamespace = 'pg_toast'::regnamespace)))`);
  const byKey = new Map(rows.map((row) => [keyOf(row), row]));
  return (address) => {
    const found = byKey.get(keyOf(address));
    return found ? { kind: found.kind, name: found.name } : null;
  };
}
