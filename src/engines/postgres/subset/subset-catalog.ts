import { UserError } from '../../../runtime/errors.ts';
import type { Relationship } from '../../../subset/graph.ts';
import type { SourceColumn, SourceForeignKey, SourceSchema, SourceTable } from '../../../subset/source-schema.ts';
import { nameOf } from '../../../text/table-names.ts';
import { FIRST_OWN_OID } from '../catalog/first-own-oid.ts';
import { quoteName, quoteNumber, quotePath, quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import { type Partition, readPartitions } from '../dump/partition-roots.ts';
import { baseType, comparisonCode, UNTRUSTED } from './untrusted-code.ts';

export interface SubsetCatalog {
  facts: SourceSchema;
  tables: Map<string, SubsetTable>;
  references: Map<string, Reference>;
}

/** A partitioned table includes its partitions. */
export interface SubsetTable {
  name: string;
  /** For FROM with an alias, without inheriting tables. */
  from: string;
  /** For FROM under its own name. */
  fromNamed: string;
  relation: string;
  leaves: Leaf[];
  columns: string[];
  primaryKey: KeyColumn[];
}

export interface KeyColumn {
  name: string;
  /** A type of the database, not of the server. */
  isOwnType: boolean;
}

/** A cast of an own type to text is code of another role; `concat` writes values as COPY does. */
export function keyText({ name, isOwnType }: KeyColumn): string {
  return isOwnType ? `concat(${quoteName(name)})` : `${quoteName(name)}::text`;
}

export interface Leaf {
  oid: number;
  index: number;
  from: string;
  name: string;
  /** The table to load through, if not the leaf itself. */
  root?: string;
}

export interface Reference {
  /** May be a single partition. */
  from: string;
  fromLeaves: Leaf[];
  columns: string[];
  to: string;
  refColumns: string[];
  operators: string[];
  /** Code of another role that a comparison can run. */
  code: string | null;
}

interface RelationRow {
  oid: number;
  schema: string;
  name: string;
  partitioned: boolean;
  /** Some partitions are foreign tables, whose rows are not the table's own. */
  partly_foreign: boolean;
  /** Its topmost partitioned table, or itself. */
  root: number;
  /** Partitions with rows at any depth, or itself. */
  leaves: number[];
  columns: (SourceColumn & { number: number })[];
  keys: string[][];
  primary: KeyColumn[];
  rows: number;
  bytes: number;
}

interface KeyRow extends Omit<SourceForeignKey, 'from' | 'to'> {
  relation: number;
  refers_to: number;
  operators: Operator[];
  code: string | null;
}

interface Operator {
  schema: string;
  name: string;
}

export async function readSubsetCatalog(session: PostgresSession): Promise<SubsetCatalog> {
  const relations = await session.query<RelationRow>(RELATIONS);
  const byOid = new Map(relations.map((relation) => [relation.oid, relation]));
  const tables = new Map<string, SubsetTable>();
  const partitions = await readPartitions(session);
  const roots = relations.filter(({ oid, root }) => oid === root);
  for (const relation of roots) tables.set(nameOf(relation), tableOf(relation, { byOid, partitions }));
  const counted = await countRows(
    session,
    roots.filter(({ rows }) => rows < 0),
    byOid,
  );
  const facts: SourceTable[] = roots.map((relation) => {
    const { oid, columns, keys, rows, bytes } = relation;
    return { name: nameOf(relation), columns, keys, rows: rows < 0 ? (counted.get(oid) ?? 0) : rows, bytes };
  });
  const references = new Map<string, Reference>();
  const foreignKeys: SourceForeignKey[] = [];
  for (const key of await session.query<KeyRow>(FOREIGN_KEYS)) {
    const own = byOid.get(key.relation);
    const other = byOid.get(key.refers_to);
    const from = own && tableAt(own.root, { byOid, tables });
    const to = other && tableAt(other.root, { byOid, tables });
    if (!own || !other || !from || !to) continue;
    const { id, name, columns, refColumns, matchFull, indexed, operators, code } = key;
    foreignKeys.push({ id, name, from: from.name, columns, to: to.name, refColumns, matchFull, indexed });
    const fromLeaves = from.leaves.filter(({ oid }) => own.leaves.includes(oid));
    references.set(id, {
      from: fromText(own, byOid),
      fromLeaves,
      columns,
      to: fromText(other, byOid),
      refColumns,
      operators: operators.map(operatorText),
      code,
    });
  }
  return { facts: { tables: facts, foreignKeys }, tables, references };
}

export async function resolveAdded(
  session: PostgresSession,
  { tables }: SubsetCatalog,
  { from, columns, to, refColumns }: Relationship,
): Promise<Reference> {
  const own = tables.get(from);
  const other = tables.get(to);
  if (!own || !other) throw new Error(`${from} and ${to} were not checked`);
  const operators: string[] = [];
  let code: string | null = null;
  for (const [index, column] of columns.entries()) {
    const types: [string, string] = [typeOf(other, refColumns[index] ?? ''), typeOf(own, column)];
    const [row] = await session.query<{ schema: string; code: string | null }>(`
      SELECT f.schema, ${comparisonCode(types, { schema: 'f.schema', name: "'='" })} AS code
      FROM (SELECT coalesce((SELECT n.nspname
        FROM pg_operator o JOIN pg_namespace n ON n.oid = o.oprnamespace JOIN pg_proc p ON p.oid = o.oprcode
        WHERE o.oprname = '=' AND o.oprleft = ${baseType(types[0])} AND o.oprright = ${baseType(types[1])}
          AND p.proowner NOT IN ${UNTRUSTED} ORDER BY n.nspname <> 'pg_catalog', n.nspname LIMIT 1), 'pg_catalog') AS schema) f`);
    operators.push(operatorText({ schema: row?.schema ?? 'pg_catalog', name: '=' }));
    code ??= row?.code ?? null;
  }
  return { from: own.from, fromLeaves: own.leaves, columns, to: other.from, refColumns, operators, code };
}

/** https://www.postgresql.org/docs/current/sql-createoperator.html */
const OPERATOR_NAME = /^(?!.*(--|\/\*))[-+*/<>=~!@#%^&|`?]{1,63}$/;

/** Operators cannot be quoted: the source's names become SQL for the destination. */
function operatorText({ schema, name }: Operator): string {
  if (OPERATOR_NAME.test(name)) return `OPERATOR(${quoteName(schema)}.${name})`;
  throw new UserError('content_refused', `The source names an operator that cannot be one: ${JSON.stringify(name)}`, {
    hint: 'PostgreSQL has no such operator: do not trust the server.',
  });
}

function typeOf(table: SubsetTable, column: string): string {
  return `(SELECT a.atttypid FROM pg_attribute a
    WHERE a.attrelid = ${quoteText(table.relation)}::regclass AND a.attname = ${quoteText(column)})`;
}

function tableOf(
  relation: RelationRow,
  { byOid, partitions }: { byOid: Map<number, RelationRow>; partitions: Map<number, Partition> },
): SubsetTable {
  const leaves = relation.leaves.flatMap((oid, index): Leaf[] => {
    const leaf = byOid.get(oid);
    const partition = partitions.get(oid);
    const root = partition?.isRerouted ? partition.root : undefined;
    const rootName = root && quotePath(root.schema, root.table);
    return leaf
      ? [{ oid, index, from: fromText(leaf, byOid), name: qualified(leaf), ...(rootName && { root: rootName }) }]
      : [];
  });
  return {
    name: nameOf(relation),
    from: fromText(relation, byOid),
    fromNamed: fromNamed(relation, byOid),
    relation: qualified(relation),
    leaves,
    columns: relation.columns.filter(({ generated }) => !generated).map(({ name }) => name),
    primaryKey: relation.primary,
  };
}

function tableAt(oid: number, { byOid, tables }: { byOid: Map<number, RelationRow>; tables: SubsetCatalog['tables'] }) {
  const relation = byOid.get(oid);
  return relation && tables.get(nameOf(relation));
}

function qualified({ schema, name }: RelationRow): string {
  return quotePath(schema, name);
}

/** A table with foreign partitions is read by its own partitions only, so that no other server is contacted. */
function fromText(relation: RelationRow, byOid: ReadonlyMap<number, RelationRow>): string {
  if (!relation.partly_foreign) return `${relation.partitioned ? '' : 'ONLY '}${qualified(relation)}`;
  const columns = ['tableoid', 'ctid', ...relation.columns.map(({ name }) => quoteName(name))].join(', ');
  // The table itself has no rows, but the column types, also without partitions.
  const parts = [relation, ...relation.leaves.flatMap((oid) => byOid.get(oid) ?? [])];
  return `(${parts.map((part) => `SELECT ${columns} FROM ONLY ${qualified(part)}`).join(' UNION ALL ')})`;
}

function fromNamed(relation: RelationRow, byOid: ReadonlyMap<number, RelationRow>): string {
  const from = fromText(relation, byOid);
  return relation.partly_foreign ? `${from} AS ${quoteName(relation.name)}` : from;
}

async function countRows(session: PostgresSession, relations: RelationRow[], byOid: ReadonlyMap<number, RelationRow>) {
  if (relations.length === 0) return new Map();
  const counts = relations.map(
    (relation) =>
      `SELECT ${quoteNumber(relation.oid)}::int8 AS oid, count(*) AS rows FROM ${fromNamed(relation, byOid)}`,
  );
  const rows = await session.query<{ oid: number; rows: number }>(counts.join(' UNION ALL '));
  return new Map(rows.map(({ oid, rows: count }) => [oid, count]));
}

/** Types of one family compare by value: the default B-tree family, with numbers and texts each as one. */
const FAMILY = `
  CASE WHEN b.typtype = 'e' OR b.typcategory = 'A' THEN format_type(b.oid, NULL) ELSE coalesce(
    (SELECT CASE WHEN f.opfname IN ('integer_ops', 'numeric_ops', 'float_ops') THEN 'number'
        WHEN f.opfname IN ('text_ops', 'bpchar_ops') THEN 'text' ELSE f.opfname END
      FROM pg_opclass o JOIN pg_opfamily f ON f.oid = o.opcfamily JOIN pg_am m ON m.oid = o.opcmethod
      WHERE m.amname = 'btree' AND o.opcdefault AND o.opcintype = b.oid LIMIT 1),
    CASE WHEN b.typname = 'varchar' THEN 'text' ELSE format_type(b.oid, NULL) END) END`;

const RELATIONS = `
  SELECT c.oid::int8 AS oid, n.nspname AS schema, c.relname AS name, c.relkind = 'p' AS partitioned,
    c.relkind = 'p' AND EXISTS (SELECT FROM pg_partition_tree(c.oid) p JOIN pg_foreign_table f ON f.ftrelid = p.relid) AS partly_foreign,
    CASE WHEN c.relispartition THEN pg_partition_root(c.oid)::oid ELSE c.oid END::int8 AS root,
    l.leaves, l.rows, l.bytes,
    coalesce((SELECT json_agg(json_build_object('name', a.attname, 'number', a.attnum,
        'nullable', NOT (a.attnotnull OR t.typnotnull), 'generated', a.attgenerated <> '',
        'type', format_type(a.atttypid, a.atttypmod), 'family', ${FAMILY}) ORDER BY a.attnum)
      FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid JOIN pg_type b ON b.oid = coalesce(nullif(t.typbasetype, 0), t.oid)
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped), '[]') AS columns,
    coalesce((SELECT json_agg(k.names ORDER BY i.indisprimary DESC, i.indexrelid) FROM pg_index i, LATERAL (
        SELECT json_agg(a.attname ORDER BY u.position) AS names
        FROM unnest(i.indkey::int2[]) WITH ORDINALITY u (number, position)
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = u.number WHERE u.position <= i.indnkeyatts) k
      WHERE i.indrelid = c.oid AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL), '[]') AS keys,
    coalesce((SELECT json_agg(json_build_object('name', a.attname, 'isOwnType', a.atttypid >= ${FIRST_OWN_OID}) ORDER BY u.position)
      FROM pg_constraint p, unnest(p.conkey) WITH ORDINALITY u (number, position), pg_attribute a
      WHERE p.conrelid = c.oid AND p.contype = 'p' AND a.attrelid = c.oid AND a.attnum = u.number), '[]') AS primary
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, LATERAL (
    SELECT coalesce(json_agg(leaf.oid::int8 ORDER BY leaf.oid), '[]') AS leaves,
      CASE WHEN bool_or(leaf.reltuples < 0) THEN -1 ELSE coalesce(sum(leaf.reltuples), 0) END::int8 AS rows,
      coalesce(sum(pg_table_size(leaf.oid)), 0)::int8 AS bytes
    FROM pg_class leaf WHERE leaf.relkind = 'r' AND (leaf.oid = c.oid
      OR c.relkind = 'p' AND leaf.oid IN (SELECT relid FROM pg_partition_tree(c.oid)))) l
  WHERE c.relkind IN ('r', 'p') AND c.relpersistence <> 't' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
  ORDER BY n.nspname, c.relname`;

const FOREIGN_KEYS = `
  SELECT k.oid::text AS id, k.conname AS name, k.conrelid::int8 AS relation, k.confrelid::int8 AS refers_to,
    (SELECT json_agg(a.attname ORDER BY u.position) FROM unnest(k.conkey) WITH ORDINALITY u (number, position)
      JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.number) AS columns,
    (SELECT json_agg(a.attname ORDER BY u.position) FROM unnest(k.confkey) WITH ORDINALITY u (number, position)
      JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = u.number) AS "refColumns",
    (SELECT json_agg(json_build_object('schema', n.nspname, 'name', o.oprname) ORDER BY u.position)
      FROM unnest(k.conpfeqop) WITH ORDINALITY u (oid, position)
      JOIN pg_operator o ON o.oid = u.oid JOIN pg_namespace n ON n.oid = o.oprnamespace) AS operators,
    (SELECT min(${comparisonCode(['b.atttypid', 'a.atttypid'], { schema: 'n.nspname', name: 'o.oprname' })})
      FROM unnest(k.conkey, k.confkey, k.conpfeqop) u (own, other, operator)
      JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.own
      JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = u.other
      JOIN pg_operator o ON o.oid = u.operator JOIN pg_namespace n ON n.oid = o.oprnamespace) AS code,
    k.confmatchtype = 'f' AS "matchFull",
    EXISTS (SELECT FROM pg_index i WHERE i.indrelid = k.conrelid AND i.indisvalid AND i.indpred IS NULL
      AND i.indkey[0] = ANY (k.conkey)) AS indexed
  FROM pg_constraint k WHERE k.contype = 'f' AND k.conparentid = 0
  ORDER BY k.conname, k.oid`;
