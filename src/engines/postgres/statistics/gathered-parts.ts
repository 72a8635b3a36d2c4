/**
 * Common table expressions on `named` (of_schema, of_table): the tables among them whose statistics can be taken over, on
 * the condition, and the columns of which ANALYZE gathers statistics: those of the table and the expressions of its
 * indexes. Partitioned and inherited tables and those with extended statistics are analyzed.
 */
export function gatheredParts(condition = 'true'): string {
  return `
  tables AS (
    SELECT c.oid, n.nspname AS schema, c.relname AS "table"
    FROM named JOIN pg_namespace n ON n.nspname = named.of_schema
    JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = named.of_table
    WHERE c.relkind = 'r' AND NOT c.relispartition AND NOT c.relhassubclass AND c.relpersistence <> 't'
      AND NOT EXISTS (SELECT FROM pg_statistic_ext e WHERE e.stxrelid = c.oid) AND ${condition}),
  parts AS (
    SELECT t.*, t."table" AS relation, a.attname AS "column"
    FROM tables t JOIN pg_attribute a ON a.attrelid = t.oid
    WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated <> 'v' AND a.attstattarget IS DISTINCT FROM 0
    UNION ALL SELECT t.*, x.relname, a.attname
    FROM tables t JOIN pg_index i ON i.indrelid = t.oid AND i.indexprs IS NOT NULL AND i.indisvalid
    JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_attribute a ON a.attrelid = x.oid
    WHERE i.indkey[a.attnum - 1] = 0 AND a.attstattarget IS DISTINCT FROM 0)`;
}
