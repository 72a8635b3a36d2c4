import type { PostgresSession } from '../connection/session.ts';
import type { ArchiveDetails } from './archive.ts';

/** A table as SQL names it. */
interface PartitionRoot {
  schema: string;
  table: string;
}

export interface Partition {
  root: PartitionRoot;
  /** Its rows must be loaded through the partitioned table: another database may hash their keys to another partition. */
  isRerouted: boolean;
}

/**
 * Partitions by their oid. The hash of an enum is that of its oid, as pg_dump knows too; so is that of arrays, ranges and
 * rows of enums, and an operator class of an extension or a user may hash by whatever it likes.
 */
export async function readPartitions(session: PostgresSession, schemas?: string[]): Promise<Map<number, Partition>> {
  const rows = await session.query<PartitionRoot & { leaf: number; rerouted: boolean }>(`
    SELECT tree.relid::oid::int8 AS leaf, n.nspname AS schema, root.relname AS "table", r.rerouted
    FROM (
      SELECT pg_partition_root(p.partrelid)::oid AS oid, bool_or(p.partstrat = 'h' AND (n.nspname <> 'pg_catalog'
        OR o.opcname IN ('enum_ops', 'array_ops', 'range_ops', 'multirange_ops', 'record_ops'))) AS rerouted
      FROM pg_partitioned_table p, unnest(p.partclass::oid[]) k
      JOIN pg_opclass o ON o.oid = k JOIN pg_namespace n ON n.oid = o.opcnamespace
      GROUP BY 1
    ) r JOIN pg_class root ON root.oid = r.oid JOIN pg_namespace n ON n.oid = root.relnamespace, pg_partition_tree(r.oid) tree
    WHERE tree.isleaf`);
  const included = rows.filter(({ schema }) => schemas?.includes(schema) ?? true);
  return new Map(
    included.map(({ leaf, schema, table, rerouted }) => [leaf, { root: { schema, table }, isRerouted: rerouted }]),
  );
}

/** Returns what a manifest records with the rows of a table. */
export function partitionDetails(
  partition: Partition | undefined,
): Pick<ArchiveDetails['data'][string], 'root' | 'partition_of'> {
  if (!partition) return {};
  return partition.isRerouted ? { root: partition.root } : { partition_of: partition.root };
}
