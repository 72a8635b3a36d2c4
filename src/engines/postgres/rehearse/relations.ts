import { nameOf } from '../../../text/table-names.ts';
import type { Rewrite } from '../../facets/rehearse.ts';
import type { LockedRelation } from '../../shared/rehearse/lock-record.ts';
import { quoteText } from '../connection/quote.ts';
import type { Wire } from '../connection/wire.ts';

export interface Relation {
  oid: number;
  schema: string;
  name: string;
  kind: 'table' | 'index';
  /** Number of the file; `null` for a partitioned one, which has none. */
  file: number | null;
  bytes: number;
  hasRows: boolean;
  /** Number of the table of an index. */
  table: number | null;
}

export interface DatabaseFacts {
  relations: Map<number, Relation>;
  sizeBytes: number;
  /** Position in the write-ahead log, in bytes; `null` where it cannot be read. */
  wal: number | null;
}

/** Reads tables and indexes with their files. Waits for exclusive locks of others. */
export async function readFacts(wire: Wire): Promise<DatabaseFacts> {
  const relations = await queryRows<Relation>(wire, RELATIONS);
  const [size = '0'] = await wire.query('SELECT pg_database_size(current_database())');
  const [wal] = await wire.query(WAL).catch(() => []);
  return {
    relations: new Map(relations.map((relation) => [relation.oid, relation])),
    sizeBytes: Number(size),
    wal: wal === undefined ? null : Number(wal),
  };
}

export async function queryRows<Row>(wire: Wire, query: string): Promise<Row[]> {
  const [text = '[]'] = await wire.query(`SELECT coalesce(json_agg(q), '[]') FROM (${query}) q`);
  return JSON.parse(text) as Row[];
}

const WAL = `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::int8`;

const RELATIONS = `SELECT c.oid::int8 AS oid, n.nspname AS schema, c.relname AS name,
    CASE WHEN c.relkind IN ('i', 'I') THEN 'index' ELSE 'table' END AS kind,
    nullif(pg_relation_filenode(c.oid)::int8, 0) AS file, pg_table_size(c.oid) AS bytes,
    CASE c.relkind WHEN 'p'
      THEN (SELECT coalesce(sum(pg_relation_size(t.relid)), 0) FROM pg_partition_tree(c.oid) t) > 0
      ELSE pg_relation_size(c.oid) > 0 END AS "hasRows",
    i.indrelid::int8 AS table
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_index i ON i.indexrelid = c.oid
  WHERE c.relkind IN ('r', 'p', 'm', 'i', 'I') AND n.nspname <> ${quoteText('information_schema')}
    AND n.nspname NOT LIKE ${quoteText('pg\\_%')}`;

/** Tables with rows, and their indexes, as locks name them. */
export function lockedRelations({ relations }: DatabaseFacts): Map<number, LockedRelation> {
  const found = new Map<number, LockedRelation>();
  for (const [oid, relation] of relations) {
    const table = relation.kind === 'index' ? relations.get(relation.table ?? 0) : relation;
    if (!table?.hasRows) continue;
    found.set(oid, { table: nameOf(table), index: relation.kind === 'index' ? relation.name : null });
  }
  return found;
}

export function rewritesBetween(before: DatabaseFacts, after: DatabaseFacts): Rewrite[] {
  return [...after.relations.values()].flatMap((relation): Rewrite[] => {
    const old = before.relations.get(relation.oid);
    if (!old || old.file === null || relation.file === old.file || relation.bytes === 0) return [];
    const of = after.relations.get(relation.table ?? 0) ?? relation;
    return [{ kind: relation.kind, name: nameOf(relation), table: nameOf(of), bytes: relation.bytes }];
  });
}
