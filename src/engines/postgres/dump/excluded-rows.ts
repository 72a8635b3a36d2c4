import type { ExcludedRows } from '../../../results/excluded-rows.ts';
import type { Report } from '../../../runtime/events.ts';
import { nameOf } from '../../../text/table-names.ts';
import type { DumpRequest } from '../../facets/dump.ts';
import { chooseExcluded, nullifiedWarnings, referencesToNull } from '../../shared/rows/excluded-rows.ts';
import { type ForeignKey, nullConditions, referencing, type TableColumns } from '../../shared/rows/null-references.ts';
import type { CatalogTable } from '../catalog/introspect.ts';
import { quoteName, quoteNumber, quotePath } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';

interface PartitionedTable extends Pick<CatalogTable, 'oid' | 'schema' | 'name'> {
  /** Tables with rows, at any depth. */
  leaves: number[];
}

interface KeyRow {
  name: string;
  relation: number;
  refers_to: number;
  columns: string[];
  referenced_columns: string[];
  is_full: boolean;
}

/** The rows that a dump leaves out, by `DumpRequest.excludeRows`. */
export interface Exclusion {
  /** All tables of the dump, with what is not to be read of them. */
  tables: CatalogTable[];
  excludedRows: ExcludedRows | null;
}

/**
 * Finds the tables whose rows are not read, and the columns that are read as NULL because they reference these tables,
 * and counts the references. A pattern that matches a partitioned table means its partitions. Tables of extensions keep
 * their rows.
 */
export async function readExclusion(
  session: PostgresSession,
  { tables, request, report }: { tables: CatalogTable[]; request: DumpRequest; report: Report },
): Promise<Exclusion> {
  const { excludeRows } = request;
  if (!excludeRows || excludeRows.patterns.length === 0) return { tables, excludedRows: null };
  const own = tables.filter((table) => !table.of_extension);
  const partitioned = await session.query<PartitionedTable>(PARTITIONED);
  const leavesOf = new Map(partitioned.map(({ oid, leaves }) => [oid, leaves]));
  const oids = new Map([...partitioned, ...own].map((table) => [nameOf(table), table.oid]));
  const chosen = chooseExcluded(excludeRows.patterns, { tables: [...oids.keys()], database: request.url.display });
  const byOid = new Map(own.map((table) => [table.oid, table]));
  const leaves = (oid: number): number[] => leavesOf.get(oid) ?? [oid];
  const excluded = new Set(chosen.flatMap((name) => leaves(oids.get(name) ?? 0)).filter((oid) => byOid.has(oid)));
  const namesOf = (oid: number): string[] =>
    leaves(oid)
      .flatMap((leaf) => byOid.get(leaf) ?? [])
      .map(nameOf);
  const byName = new Map(own.map((table) => [nameOf(table), table]));
  const without = new Set([...excluded].flatMap((oid) => byOid.get(oid) ?? []).map(nameOf));
  const keys = (await session.query<KeyRow>(FOREIGN_KEYS)).map(
    ({ name, columns, ...key }): ForeignKey => ({
      name,
      columns,
      tables: namesOf(key.relation).filter((table) => !without.has(table)),
      references: namesOf(key.refers_to),
      referencedColumns: key.referenced_columns,
      isFull: key.is_full,
    }),
  );
  const dangling = await referencesToNull(keys, {
    excluded: without,
    nullify: excludeRows.nullify,
    readColumns: (names) =>
      readColumns(
        session,
        names.flatMap((name) => byName.get(name) ?? []),
      ),
  });
  const nullified: ExcludedRows['nullified'] = [];
  for (const { table, columns, nulled, references } of dangling) {
    const { schema, name } = byName.get(table) ?? {};
    const [row] = await session.query<{ rows: number }>(
      `SELECT count(*) AS rows FROM ONLY ${quotePath(schema ?? '', name ?? '')} WHERE ${referencing(columns, quoteName)}`,
    );
    nullified.push({ table, columns: nulled, references, rows: row?.rows ?? 0 });
  }
  for (const warning of nullifiedWarnings(nullified)) report(warning);
  const conditions = nullConditions(dangling, quoteName);
  return {
    tables: tables.map((table) => {
      if (excluded.has(table.oid)) return { ...table, bytes: 0, blocks: 0, without_rows: true };
      const nulled = table.of_extension ? undefined : conditions.get(nameOf(table));
      return nulled ? { ...table, nulled } : table;
    }),
    excludedRows: { tables: [...without].sort(), nullified },
  };
}

interface ColumnRow {
  oid: number;
  name: string;
  is_unique: boolean;
  is_required: boolean;
  /** Why it cannot be NULL. */
  why: string | null;
}

async function readColumns(session: PostgresSession, tables: CatalogTable[]): Promise<Map<string, TableColumns>> {
  if (tables.length === 0) return new Map();
  const list = tables.map(({ oid }) => quoteNumber(oid)).join(', ');
  const columns = Map.groupBy(await session.query<ColumnRow>(columnsQuery(list)), ({ oid }) => oid);
  return new Map(
    tables.map((table) => {
      const own = columns.get(table.oid) ?? [];
      const required = own.flatMap(({ name, is_required, why }): [string, string][] =>
        is_required || why !== null ? [[name, is_required ? '' : (why ?? '')]] : [],
      );
      const unique = own.filter(({ is_unique }) => is_unique).map(({ name }) => name);
      return [nameOf(table), { required: new Map(required), unique: new Set(unique) }];
    }),
  );
}

/**
 * A check may accept NULL, but only its evaluation would show that. An index depends on the columns of its expressions
 * and of its condition. The setting `indnullsnotdistinct` exists since PostgreSQL 15.
 */
const columnsQuery = (list: string): string => `
  WITH RECURSIVE domains (of, oid) AS (
    SELECT oid, oid FROM pg_type WHERE typtype = 'd'
    UNION SELECT d.of, t.typbasetype FROM domains d JOIN pg_type t ON t.oid = d.oid WHERE t.typbasetype <> 0
  )
  SELECT a.attrelid::int8 AS oid, a.attname AS name, a.attnotnull AS is_required,
    EXISTS (SELECT FROM pg_index i WHERE i.indrelid = a.attrelid AND i.indisunique AND a.attnum = ANY (i.indkey)) AS is_unique,
    coalesce(
      (SELECT 'domain ' || format_type(a.atttypid, NULL) FROM domains d JOIN pg_type t ON t.oid = d.oid WHERE d.of = a.atttypid
        AND (t.typnotnull OR EXISTS (SELECT FROM pg_constraint k WHERE k.contypid = t.oid)) LIMIT 1),
      CASE WHEN a.attgenerated <> '' THEN 'generated column' END,
      (SELECT 'partition key' FROM pg_partition_ancestors(a.attrelid) p JOIN pg_partitioned_table r ON r.partrelid = p.relid
        WHERE 0 = ANY (r.partattrs) OR EXISTS (SELECT FROM pg_attribute k
          WHERE k.attrelid = r.partrelid AND k.attnum = ANY (r.partattrs) AND k.attname = a.attname) LIMIT 1),
      (SELECT 'check constraint ' || k.conname FROM pg_constraint k WHERE k.conrelid = a.attrelid AND k.contype = 'c'
        AND k.convalidated AND (a.attnum = ANY (k.conkey) OR 0 = ANY (k.conkey)) ORDER BY k.conname LIMIT 1),
      (SELECT 'unique index ' || c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE i.indrelid = a.attrelid AND i.indisunique AND CASE WHEN a.attnum = ANY (i.indkey)
          THEN (to_jsonb(i) ->> 'indnullsnotdistinct')::boolean
          ELSE EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid
            AND d.refclassid = 'pg_class'::regclass AND d.refobjid = a.attrelid AND d.refobjsubid = a.attnum) END
        ORDER BY c.relname LIMIT 1),
      (SELECT 'generated column ' || g.attname FROM pg_attribute g JOIN pg_attrdef e ON e.adrelid = g.attrelid AND e.adnum = g.attnum
        WHERE g.attrelid = a.attrelid AND g.attgenerated <> '' AND g.attnum <> a.attnum
          AND (g.attnotnull OR EXISTS (SELECT FROM pg_constraint k WHERE k.conrelid = g.attrelid AND g.attnum = ANY (k.conkey)))
          AND EXISTS (SELECT FROM pg_depend d WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = a.attrelid AND d.refobjsubid = a.attnum
            AND (d.classid = 'pg_attrdef'::regclass AND d.objid = e.oid
              OR d.classid = 'pg_class'::regclass AND d.objid = g.attrelid AND d.objsubid = g.attnum))
        ORDER BY g.attname LIMIT 1)) AS why
  FROM pg_attribute a WHERE a.attrelid IN (${list}) AND a.attnum > 0 AND NOT a.attisdropped`;

const PARTITIONED = `
  SELECT c.oid::int8 AS oid, n.nspname AS schema, c.relname AS name,
    (SELECT coalesce(json_agg(p.relid::oid::int8), '[]') FROM pg_partition_tree(c.oid) p WHERE p.isleaf) AS leaves
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'p' AND c.relpersistence <> 't'`;

const FOREIGN_KEYS = `
  SELECT k.conname AS name, k.conrelid::int8 AS relation, k.confrelid::int8 AS refers_to,
    (SELECT json_agg(a.attname ORDER BY u.position) FROM unnest(k.conkey) WITH ORDINALITY u (number, position)
      JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.number) AS columns,
    (SELECT json_agg(a.attname ORDER BY u.position) FROM unnest(k.confkey) WITH ORDINALITY u (number, position)
      JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = u.number) AS referenced_columns,
    k.confmatchtype = 'f' AS is_full
  FROM pg_constraint k WHERE k.contype = 'f' AND k.conparentid = 0 ORDER BY k.conname, k.oid`;
