import { groupsOf } from '../../../shared/groups.ts';
import { quoteNumber, quoteText } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';

export interface SetAsideRelation {
  schema: string;
  table: string;
  /** A partitioned table, with all of its partitions. */
  tree?: boolean;
  /** Building its indexes is worth more than the statements that it takes. */
  large?: boolean;
  /** All rows are loaded, into an empty table; otherwise some are replaced. */
  whole?: boolean;
  /** Rows are deleted; of a table that is not whole. */
  deletes?: boolean;
  /** Rows are inserted when those of tables with a lower number are there; `null` or absent where none are. */
  turn?: number | null;
}

/** Statements that give the tables back what was taken from them, each list in its order. */
export interface SetAsideObjects {
  triggers: string[];
  /** Independent of each other. */
  indexes: string[];
  foreignKeys: string[];
}

/**
 * Empties whole tables and keeps triggers and foreign keys from acting on the rows of all. Indexes of large tables are
 * dropped, since they are built faster than they are filled, and those of expressions, which may read tables that are
 * loaded meanwhile. Those that something depends on are rebuilt. Where rows are replaced, indexes stay, and foreign keys
 * for which each new row can be verified when it is inserted.
 */
export async function setAside(session: PostgresSession, relations: SetAsideRelation[]): Promise<SetAsideObjects> {
  const triggers = await session.query<Pair>(triggersQuery(relations));
  await inBatches(session, triggers);
  const foreignKeys = await session.query<Pair>(foreignKeysQuery(relations));
  await inBatches(session, foreignKeys);
  // Foreign keys depend on indexes, so these are looked for now.
  const indexes = await session.query<Pair>(indexesQuery(relations));
  await inBatches(session, indexes);
  await inBatches(session, await session.query<Pair>(truncationsQuery(relations)));
  const later = (pairs: Pair[]): string[] => pairs.flatMap(({ after }) => after);
  return { triggers: later(triggers), indexes: later(indexes), foreignKeys: later(foreignKeys) };
}

/** The server writes them, with quoted names. */
interface Pair {
  before: string | null;
  after: string[];
}

/** Statements in one transaction, each of which locks several relations. */
const BATCH = 25;

async function inBatches(session: PostgresSession, pairs: Pair[]): Promise<void> {
  const statements = pairs.flatMap(({ before }) => before ?? []);
  for (const some of groupsOf(statements, BATCH)) await session.transaction(some);
}

export function relationsOf(relations: SetAsideRelation[]): string {
  return `given AS (
      SELECT c.oid, j.tree, j.large, j.whole, j.deletes, j.turn
      FROM json_to_recordset(${quoteText(JSON.stringify(relations))}) AS j (schema text, "table" text, tree boolean, large boolean, whole boolean, deletes boolean, turn integer)
        JOIN pg_namespace n ON n.nspname = j.schema JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = j."table"),
    relations AS (
      SELECT oid, large, whole, deletes, turn FROM given
      UNION SELECT t.relid::oid, large, whole, deletes, turn FROM given, pg_partition_tree(given.oid) t WHERE given.tree)`;
}

/**
 * Returns the query for each table of `from`, which has `oid`, with its own `relid` and those of the tables that it is a
 * partition of: a foreign key between partitioned tables has no constraint of its own between two partitions.
 */
export function withAncestors(from: string): string {
  return `(SELECT s.*, a.relid FROM ${from} s CROSS JOIN LATERAL (
    SELECT s.oid AS relid UNION SELECT relid::oid FROM pg_partition_ancestors(s.oid)) a)`;
}

/** Not those of the server itself, which are of constraints. */
export function triggersQuery(relations: SetAsideRelation[]): string {
  return `WITH ${relationsOf(relations)}
    SELECT format('ALTER TABLE ONLY %s DISABLE TRIGGER %I', tgrelid::regclass, tgname) AS before,
      json_build_array(format('ALTER TABLE ONLY %s ENABLE %s TRIGGER %I', tgrelid::regclass,
        CASE tgenabled WHEN 'R' THEN 'REPLICA' WHEN 'A' THEN 'ALWAYS' END, tgname)) AS after
    FROM pg_trigger WHERE NOT tgisinternal AND tgenabled <> 'D' AND tgrelid IN (SELECT oid FROM relations)
    ORDER BY tgrelid, tgname`;
}

/**
 * Returns the query for the foreign keys of the tables and those that refer to them; for partitions, the foreign key of
 * the partitioned table. Those stay that refer to a table from which nothing is deleted, and that has its new rows first.
 */
export function foreignKeysQuery(relations: SetAsideRelation[]): string {
  return `WITH ${relationsOf(relations)},
    placed AS ${withAncestors('relations')},
    touched AS (
      SELECT k.oid
      FROM pg_constraint k LEFT JOIN placed f ON f.relid = k.conrelid LEFT JOIN placed t ON t.relid = k.confrelid
      WHERE k.contype = 'f' AND k.conparentid = 0 AND (f.whole OR t.whole OR t.deletes OR f.oid <> t.oid AND t.turn >= f.turn))
    SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', k.conrelid::regclass, k.conname) AS before,
      (SELECT json_agg(statement) FROM (VALUES
        (format('ALTER TABLE %s%s ADD CONSTRAINT %I %s', CASE c.relkind WHEN 'p' THEN '' ELSE 'ONLY ' END, k.conrelid::regclass,
          k.conname, pg_get_constraintdef(k.oid))),
        (format('COMMENT ON CONSTRAINT %I ON %s IS %L', k.conname, k.conrelid::regclass, obj_description(k.oid, 'pg_constraint')))
      ) AS v (statement) WHERE statement NOT LIKE 'COMMENT %' OR obj_description(k.oid, 'pg_constraint') IS NOT NULL) AS after
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
    WHERE k.oid IN (SELECT oid FROM touched) ORDER BY c.relname, k.conname, k.oid`;
}

/** An index of which more is known than its definition stays, and is rebuilt. */
const IS_PLAIN = `NOT x.relispartition AND NOT i.indisclustered AND NOT i.indisreplident AND i.indisvalid
  AND x.reltablespace = 0 AND obj_description(x.oid, 'pg_class') IS NULL
  AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = x.oid AND coalesce(a.attstattarget, -1) <> -1)
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = x.oid)
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = x.oid AND d.deptype IN ('e', 'x'))
  AND (k.oid IS NULL OR k.contype IN ('p', 'u') AND x.reloptions IS NULL AND obj_description(k.oid, 'pg_constraint') IS NULL
    AND k.conislocal AND k.coninhcount = 0 AND NOT EXISTS (
      SELECT FROM pg_depend d WHERE d.refclassid = 'pg_constraint'::regclass AND d.refobjid = k.oid
        AND NOT (d.classid = 'pg_class'::regclass AND d.objid = x.oid)
        AND NOT (d.classid = 'pg_trigger'::regclass AND d.deptype = 'i')))`;

function indexesQuery(relations: SetAsideRelation[]): string {
  return `WITH ${relationsOf(relations)}
    SELECT CASE WHEN NOT plain THEN NULL WHEN constraint_name IS NULL THEN format('DROP INDEX %s', index)
        ELSE format('ALTER TABLE %s DROP CONSTRAINT %I', "table", constraint_name) END AS before,
      json_build_array(CASE WHEN NOT plain THEN format('REINDEX INDEX %s', index) WHEN constraint_name IS NULL THEN definition
        ELSE format('ALTER TABLE ONLY %s ADD CONSTRAINT %I %s', "table", constraint_name, definition) END) AS after
    FROM (
      SELECT ${IS_PLAIN} AS plain, x.oid::regclass AS index, t.oid::regclass AS "table", k.conname AS constraint_name,
        coalesce(pg_get_constraintdef(k.oid), pg_get_indexdef(x.oid)) AS definition, pg_relation_size(x.oid) AS bytes
      FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
        LEFT JOIN pg_constraint k ON k.conindid = i.indexrelid AND k.conrelid = i.indrelid AND k.contype IN ('p', 'u', 'x')
      WHERE t.relkind = 'r' AND EXISTS (SELECT FROM relations r WHERE r.oid = t.oid AND r.whole AND
        (r.large OR i.indexprs IS NOT NULL OR i.indpred IS NOT NULL))
    ) AS found ORDER BY bytes DESC`;
}

const TABLES_OF_ONE = 100;

/** A partitioned table has no rows of its own. */
function truncationsQuery(relations: SetAsideRelation[]): string {
  return `WITH ${relationsOf(relations)}
    SELECT 'TRUNCATE ' || string_agg(format('ONLY %s', relation), ', ') AS before, '[]'::json AS after
    FROM (
      SELECT oid::regclass AS relation, row_number() OVER (ORDER BY oid) / ${quoteNumber(TABLES_OF_ONE)} AS batch
      FROM pg_class WHERE relkind = 'r' AND oid IN (SELECT oid FROM relations WHERE whole)
    ) AS numbered GROUP BY batch`;
}
