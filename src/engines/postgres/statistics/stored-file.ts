import { text } from 'node:stream/consumers';
import * as v from 'valibot';
import type { Manifest, ManifestFile } from '../../../repository/manifest/manifest.ts';
import type { RestoreRun } from '../../facets/restore.ts';

/** File of a snapshot: a line of JSON for each table. Earlier releases of this program ignore it. */
export const STATISTICS_FILE = 'statistics.json';

/** Servers whose statistics are stored, and servers that take them over. */
export const STATISTICS_SINCE = 18;

/** A larger file is neither stored nor read. */
export const MOST_STATISTICS_BYTES = 32 * 1024 * 1024;
export const MOST_STATISTICS_TABLES = 1000;

/** Columns of `pg_stats`, and their types as arguments of `pg_restore_attribute_stats`, which have the same names. */
export const STATISTICS = {
  null_frac: 'real',
  avg_width: 'integer',
  n_distinct: 'real',
  most_common_vals: 'text',
  most_common_freqs: 'real[]',
  histogram_bounds: 'text',
  correlation: 'real',
  most_common_elems: 'text',
  most_common_elem_freqs: 'real[]',
  elem_count_histogram: 'real[]',
  range_length_histogram: 'text',
  range_empty_frac: 'real',
  range_bounds_histogram: 'text',
} as const;

const number = v.pipe(v.number(), v.finite());
const SCHEMAS = { real: number, integer: number, text: v.string(), 'real[]': v.array(number) };

const tableSchema = v.object({
  schema: v.string(),
  table: v.string(),
  columns: v.pipe(
    v.array(
      v.object({
        /** The table, or an index with expressions. */
        relation: v.string(),
        column: v.string(),
        ...Object.fromEntries(Object.entries(STATISTICS).map(([name, type]) => [name, v.exactOptional(SCHEMAS[type])])),
      }),
    ),
    // The server would take minutes for one that is named very often.
    v.check(
      (columns) =>
        new Set(columns.map(({ relation, column }) => JSON.stringify([relation, column]))).size === columns.length,
    ),
  ),
});

export type StoredStatistics = v.InferOutput<typeof tableSchema>;

/** Empty where the snapshot has none that can be read: they are gathered then. */
export async function readStoredStatistics({ manifest, read }: Pick<RestoreRun, 'manifest' | 'read'>) {
  const file = statisticsFileOf(manifest);
  if (!file) return [];
  const lines = (await text(read(file))).split('\n', MOST_STATISTICS_TABLES);
  return lines.flatMap((line) => {
    const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), tableSchema), line);
    return parsed.success ? [parsed.output] : [];
  });
}

/** No sanitized snapshot has one: they contain values of the rows that they were gathered from. */
export function statisticsFileOf({ files, sanitized }: Manifest): ManifestFile | undefined {
  if (sanitized) return undefined;
  return files.find(({ name, bytes }) => name === STATISTICS_FILE && bytes <= MOST_STATISTICS_BYTES);
}

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
