import type { PostgresSession } from '../connection/session.ts';

/** A table as SQL names it. */
export interface PartitionRoot {
  schema: string;
  table: string;
}

/**
 * Partitions whose rows must be loaded through the partitioned table: where another database may hash their keys to
 * another partition. The hash of an enum is that of its oid, as pg_dump knows too; so is that of arrays, ranges and rows
 * of enums, and an operator class of an extension or a user may hash by whatever it likes. By the oid of the partition.
 */
export async function readPartitionRoots(
  session: PostgresSession,
  schemas?: string[],
): Promise<Map<number, PartitionRoot>> {
  const rows = await session.query<{ leaf: number; schema: string; table: string }>(`
    SELECT tree.relid::oid::int8 AS leaf, n.nspname AS schema, root.relname AS "table"
    FROM (
      SELECT DISTINCT pg_partition_root(p.partrelid)::oid AS oid FROM pg_partitioned_table p, unnest(p.partclass::oid[]) k
      JOIN pg_opclass o ON o.oid = k JOIN pg_namespace n ON n.oid = o.opcnamespace
      WHERE p.partstrat = 'h' AND (n.nspname <> 'pg_catalog'
        OR o.opcname IN ('enum_ops', 'array_ops', 'range_ops', 'multirange_ops', 'record_ops'))
    ) r JOIN pg_class root ON root.oid = r.oid JOIN pg_namespace n ON n.oid = root.relnamespace, pg_partition_tree(r.oid) tree
    WHERE tree.isleaf`);
  const included = rows.filter(({ schema }) => schemas?.includes(schema) ?? true);
  return new Map(included.map(({ leaf, schema, table }) => [leaf, { schema, table }]));
}
