import type { ExcludedRows } from '../../../results/excluded-rows.ts';
import type { Report } from '../../../runtime/events.ts';
import { tableName } from '../../../text/table-names.ts';
import type { DumpRequest } from '../../facets/dump.ts';
import { assertNullable, chooseExcluded, nullifiedWarnings, type ReferencingKey } from '../../shared/excluded-rows.ts';
import type { CatalogTable } from '../catalog/introspect.ts';
import { quoteName, quoteNumber } from '../connection/quote.ts';
import type { PsqlSession } from '../connection/session.ts';
import { nameOf } from './dump-progress.ts';

interface PartitionedTable {
  oid: number;
  schema: string;
  name: string;
  /** Tables with rows, at any depth. */
  leaves: number[];
}

interface KeyRow {
  name: string;
  relation: number;
  refers_to: number;
  columns: string[];
}

/** The rows that a dump leaves out, by `DumpRequest.excludeRows`. */
export interface Exclusion {
  /** All tables of the dump, with what is not to be read of them. */
  tables: CatalogTable[];
  details: ExcludedRows | null;
}

/**
 * Finds the tables whose rows are not read, and the columns that are read as NULL because they reference these tables,
 * and counts the references. A pattern that matches a partitioned table means its partitions. Tables of extensions keep
 * their rows.
 */
export async function readExclusion(
  session: PsqlSession,
  { tables, request, report }: { tables: CatalogTable[]; request: DumpRequest; report: Report },
): Promise<Exclusion> {
  const { excludeRows } = request;
  if (!excludeRows || excludeRows.patterns.length === 0) return { tables, details: null };
  const own = tables.filter((table) => !table.of_extension);
  const partitioned = await session.query<PartitionedTable>(PARTITIONED);
  const leavesOf = new Map(partitioned.map(({ oid, leaves }) => [oid, leaves]));
  const oids = new Map([...partitioned, ...own].map(({ schema, name, oid }) => [tableName(schema, name), oid]));
  const chosen = chooseExcluded(excludeRows.patterns, { tables: [...oids.keys()], database: request.url.display });
  const byOid = new Map(own.map((table) => [table.oid, table]));
  const leaves = (oid: number): number[] => leavesOf.get(oid) ?? [oid];
  const excluded = new Set(chosen.flatMap((name) => leaves(oids.get(name) ?? 0)).filter((oid) => byOid.has(oid)));
  const found = (await session.query<KeyRow>(FOREIGN_KEYS)).flatMap(({ refers_to, relation, ...key }) => {
    const missing = leaves(refers_to).filter((oid) => excluded.has(oid));
    const referencing = leaves(relation).filter((oid) => byOid.has(oid) && !excluded.has(oid));
    return missing.length === 0 ? [] : referencing.map((oid) => ({ ...key, oid, missing: missing[0] ?? 0 }));
  });
  const required = await readRequired(session, new Set(found.map(({ oid }) => oid)));
  const keys = found.flatMap(({ oid, missing, name, columns }): (ReferencingKey & { oid: number })[] => {
    const [table, references] = [byOid.get(oid), byOid.get(missing)];
    if (!table || !references) return [];
    const cannot = columns.filter((column) => required.get(oid)?.includes(column));
    return [{ oid, name, table: nameOf(table), columns, required: cannot, references: nameOf(references) }];
  });
  assertNullable(keys, excludeRows);
  const nullified: ExcludedRows['nullified'] = [];
  for (const { oid, table, columns, references } of keys) {
    const { schema, name } = byOid.get(oid) ?? {};
    const isNull = columns.map((column) => `${quoteName(column)} IS NULL`).join(' AND ');
    const [row] = await session.query<{ rows: number }>(
      `SELECT count(*) AS rows FROM ONLY ${quoteName(schema ?? '')}.${quoteName(name ?? '')} WHERE NOT (${isNull})`,
    );
    nullified.push({ table, columns, references, rows: row?.rows ?? 0 });
  }
  for (const warning of nullifiedWarnings(nullified)) report(warning);
  const nulled = Map.groupBy(keys, ({ oid }) => oid);
  return {
    tables: tables.map((table) =>
      excluded.has(table.oid)
        ? { ...table, bytes: 0, blocks: 0, without_rows: true }
        : {
            ...table,
            ...(nulled.has(table.oid) && { nulled: nulled.get(table.oid)?.flatMap((key) => key.columns) ?? [] }),
          },
    ),
    details: {
      tables: [...excluded]
        .flatMap((oid) => byOid.get(oid) ?? [])
        .map(nameOf)
        .sort(),
      nullified,
    },
  };
}

/** Columns that cannot be NULL: by their own constraint, by their domain's, or because they choose the partition. */
async function readRequired(session: PsqlSession, tables: Set<number>): Promise<Map<number, string[]>> {
  if (tables.size === 0) return new Map();
  const list = [...tables].map(quoteNumber).join(', ');
  const rows = await session.query<{ oid: number; columns: string[] }>(`
    SELECT a.attrelid::int8 AS oid, json_agg(a.attname) AS columns FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
    WHERE a.attrelid IN (${list}) AND a.attnum > 0 AND NOT a.attisdropped AND (a.attnotnull OR t.typnotnull OR EXISTS (
      SELECT FROM pg_partition_ancestors(a.attrelid) p JOIN pg_partitioned_table r ON r.partrelid = p.relid
      JOIN pg_attribute k ON k.attrelid = r.partrelid AND k.attnum = ANY (r.partattrs) WHERE k.attname = a.attname))
    GROUP BY a.attrelid`);
  return new Map(rows.map(({ oid, columns }) => [oid, columns]));
}

const PARTITIONED = `
  SELECT c.oid::int8 AS oid, n.nspname AS schema, c.relname AS name,
    (SELECT coalesce(json_agg(p.relid::oid::int8), '[]') FROM pg_partition_tree(c.oid) p WHERE p.isleaf) AS leaves
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'p' AND c.relpersistence <> 't'`;

const FOREIGN_KEYS = `
  SELECT k.conname AS name, k.conrelid::int8 AS relation, k.confrelid::int8 AS refers_to,
    (SELECT json_agg(a.attname ORDER BY u.position) FROM unnest(k.conkey) WITH ORDINALITY u (number, position)
      JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.number) AS columns
  FROM pg_constraint k WHERE k.contype = 'f' AND k.conparentid = 0 ORDER BY k.conname, k.oid`;
