import type { PostgresSession } from '../connection/session.ts';
import { type DependencyGraph, describeAddresses, type Edge, keyOf, type ObjectAddress } from './dependency-graph.ts';

/** An object that cannot exist without a schema that is not in the snapshot. */
export interface BrokenObject extends ObjectAddress {
  /** Type as `pg_identify_object` names it: `view`, `table constraint`, `event trigger`. */
  kind: string;
  /** With its schema: `public.person.logged`. */
  name: string;
  /** The object that it needs in a schema that is left out, directly or through others. */
  needs: string;
  needsKind: string;
}

export interface BrokenDependencies {
  /** Objects to leave out; defaults, checks and generated columns are parts of the definition of their table or domain. */
  leftOut: BrokenObject[];
  /** Tables that stay, and are no longer partitions or heirs of a table that is left out. */
  detached: BrokenObject[];
  /** Partitions and heirs in schemas that are left out, whose parent stays: `needs` is the parent. */
  missingParts: BrokenObject[];
}

/** A schema without which tables with rows cannot be restored. */
export interface NeededSchema {
  oid: number;
  /** The tables and columns, and what they need of it. */
  by: BrokenObject[];
}

/** Relations with rows or definitions of columns that rows need. */
const TABLE_KINDS = new Set(['r', 'p', 'f']);

type Outcome = keyof BrokenDependencies | 'refused';

interface BrokenAddress extends ObjectAddress {
  outcome: Outcome | null;
  needs: ObjectAddress;
}

/**
 * Finds what a selection of schemas breaks, by pg_depend: every object that depends, at any distance, on an object of a
 * schema that is left out. Members of an extension come with the extension, in whatever schema they are. The closure
 * has a visited set, since rules may form cycles.
 */
export async function readBrokenDependencies(session: PostgresSession, { graph, leftOutSchemas }: DependencySelection) {
  const broken = closureOf(graph, new Set(leftOutSchemas));
  const described = await describeBroken(session, broken);
  const withOutcome = (outcome: Outcome): BrokenObject[] =>
    described.filter(([each]) => each.outcome === outcome).map(([, object]) => object);
  return {
    leftOut: withOutcome('leftOut'),
    detached: withOutcome('detached'),
    missingParts: withOutcome('missingParts'),
  };
}

export interface DependencySelection {
  graph: DependencyGraph;
  leftOutSchemas: number[];
}

/**
 * The schemas without which tables would be without columns, and so without their rows. Each that is added may need
 * others: every round takes one schema at least out of those that are left out.
 */
export async function readNeededSchemas(session: PostgresSession, { graph, leftOutSchemas }: DependencySelection) {
  const leftOut = new Set(leftOutSchemas);
  const needed = new Map<number, BrokenAddress[]>();
  for (let known = -1; known < needed.size; ) {
    known = needed.size;
    for (const each of closureOf(graph, leftOut)) {
      const schema = each.outcome === 'refused' ? graph.schemaOf.get(keyOf({ ...each.needs, column: 0 })) : undefined;
      if (schema !== undefined) needed.set(schema, [...(needed.get(schema) ?? []), each]);
    }
    for (const oid of needed.keys()) leftOut.delete(oid);
  }
  const described = new Map(await describeBroken(session, [...needed.values()].flat()));
  return [...needed].map(([oid, by]) => ({ oid, by: by.flatMap((each) => described.get(each) ?? []) }));
}

async function describeBroken(session: PostgresSession, broken: BrokenAddress[]) {
  const describe = await describeAddresses(
    session,
    broken.flatMap((each) => [each, each.needs]),
  );
  return broken.flatMap((each): [BrokenAddress, BrokenObject][] => {
    const described = describe(each);
    if (!described) return [];
    const { class: catalog, oid, column } = each;
    const needs = describe(each.needs);
    const object = {
      class: catalog,
      oid,
      column,
      ...described,
      needs: needs?.name ?? '',
      needsKind: needs?.kind ?? '',
    };
    return [[each, object]];
  });
}

function closureOf(graph: DependencyGraph, leftOutSchemas: ReadonlySet<number>): BrokenAddress[] {
  const isOuter = (address: ObjectAddress): boolean => {
    const schema = graph.schemaOf.get(keyOf({ ...address, column: 0 }));
    return schema !== undefined && leftOutSchemas.has(schema);
  };
  const isKept = (address: ObjectAddress): boolean => isOfExtension(graph, address) || isTemporary(graph, address);
  const broken = new Map<string, BrokenAddress>();
  const queue: { address: ObjectAddress; needs: ObjectAddress }[] = graph.objects
    .filter((object) => isOuter(object) && !isKept(object))
    .map((object) => ({ address: object, needs: wholeOf(graph, object) }));
  const note = (
    address: ObjectAddress,
    { outcome, needs, as = '' }: { outcome: Outcome | null; needs: ObjectAddress; as?: string },
  ) => {
    const key = `${keyOf(address)}${as}`;
    if (broken.has(key) || isOuter(address) || isKept(address)) return;
    broken.set(key, { ...address, outcome, needs });
    // A table that only loses its parent is whole otherwise, and what one that is refused needs is added.
    if (outcome === 'leftOut' || outcome === null) queue.push({ address, needs });
  };

  for (const { parent, child } of missingParts(graph, { isOuter, isKept })) {
    broken.set(keyOf(child), { ...child, outcome: 'missingParts', needs: parent });
    for (const foreignKey of foreignKeysTo(graph, parent.oid)) note(foreignKey, { outcome: 'leftOut', needs: child });
  }
  for (const { address, needs } of queue) {
    for (const edge of graph.dependents.get(keyOf({ ...address, column: 0 })) ?? []) {
      if (address.column !== 0 && edge.to.column !== address.column) continue;
      note(...consequenceOf(edge, { graph, needs }));
    }
    for (const whole of graph.wholes.get(keyOf(address)) ?? []) {
      if (!isTable(graph, whole)) note(whole, { outcome: 'leftOut', needs });
    }
    const column = generatedColumn(graph, address);
    if (column) note(column, { outcome: 'leftOut', needs });
  }
  return [...broken.values()];
}

/** The object as people know it: the table of an index, the type of an array. */
function wholeOf({ owners }: DependencyGraph, address: ObjectAddress): ObjectAddress {
  let whole = address;
  for (let owner = owners.get(keyOf(whole)); owner; owner = owners.get(keyOf(whole))) whole = owner;
  return whole;
}

/** Also what belongs to an object of an extension, such as an array type. */
function isOfExtension({ classes, members, owners }: DependencyGraph, address: ObjectAddress): boolean {
  if (address.class === classes.pg_extension) return true;
  for (let at: ObjectAddress | undefined = { ...address, column: 0 }; at; at = owners.get(keyOf(at))) {
    if (members.has(keyOf(at))) return true;
  }
  return false;
}

function isTemporary({ schemaOf, temporarySchemas }: DependencyGraph, address: ObjectAddress): boolean {
  const schema = schemaOf.get(keyOf({ ...address, column: 0 }));
  return schema !== undefined && temporarySchemas.has(schema);
}

function isTable({ classes, relations }: DependencyGraph, { class: catalog, oid }: ObjectAddress): boolean {
  return catalog === classes.pg_class && TABLE_KINDS.has(relations.get(oid)?.kind ?? '');
}

/** Returns the outcome for the object that depends on a broken one. */
function consequenceOf(
  { from, to }: Edge,
  { graph, needs }: { graph: DependencyGraph; needs: ObjectAddress },
): [ObjectAddress, { outcome: Outcome; needs: ObjectAddress; as?: string }] {
  if (!isTable(graph, from)) {
    // A column of a view or of a composite type is not left out alone.
    return [
      { ...from, column: 0 },
      { outcome: 'leftOut', needs },
    ];
  }
  const isParent = to.class === graph.classes.pg_class && graph.parents.get(from.oid)?.includes(to.oid) === true;
  if (from.column === 0 && isParent) return [from, { outcome: 'detached', needs, as: ' parent' }];
  return [from, { outcome: 'refused', needs }];
}

/** A generated column is nothing without its expression. */
function generatedColumn(
  { classes, defaults }: DependencyGraph,
  { class: catalog, oid }: ObjectAddress,
): ObjectAddress | null {
  const found = catalog === classes.pg_attrdef ? defaults.get(oid) : undefined;
  return found?.generated ? { class: classes.pg_class, oid: found.relation, column: found.number } : null;
}

function missingParts(
  graph: DependencyGraph,
  { isOuter, isKept }: { isOuter: (address: ObjectAddress) => boolean; isKept: (address: ObjectAddress) => boolean },
): { parent: ObjectAddress; child: ObjectAddress }[] {
  const relation = (oid: number): ObjectAddress => ({ class: graph.classes.pg_class, oid, column: 0 });
  return [...graph.parents].flatMap(([child, parents]) => {
    const part = relation(child);
    if (!isTable(graph, part) || !isOuter(part) || isKept(part)) return [];
    const kept = parents.map(relation).filter((parent) => !isOuter(parent) && isTable(graph, parent));
    return kept.map((parent) => ({ parent, child: part }));
  });
}

/** Rows may refer to those that lie in a missing partition. */
function foreignKeysTo({ classes, foreignKeys, parents, relations }: DependencyGraph, parent: number): ObjectAddress[] {
  const above = new Set([parent]);
  for (const oid of above) {
    for (const next of relations.get(oid)?.partition ? (parents.get(oid) ?? []) : []) above.add(next);
  }
  return foreignKeys
    .filter(({ refers_to }) => above.has(refers_to) && relations.get(refers_to)?.kind === 'p')
    .map(({ oid }) => ({ class: classes.pg_constraint, oid, column: 0 }));
}
