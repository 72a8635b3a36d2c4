import * as v from 'valibot';
import { traits } from './traits.ts';
import { destinationUrl, sourceUrl, sql, tableName, text } from './values.ts';

const columns = v.pipe(v.union([text, v.array(text)]), v.examples(['customer_id']));

const subsetTableSchema = v.strictObject({
  table: v.pipe(tableName, v.description('Table to begin with.')),
  where: v.exactOptional(
    v.pipe(sql, v.description('SQL condition, instead of percent.'), v.examples(["created_at > '2026-01-01'"])),
  ),
  percent: v.exactOptional(
    v.pipe(
      v.number(),
      v.gtValue(0, 'must be more than 0'),
      v.maxValue(100, 'must be at most 100'),
      v.description('Share of the rows, instead of where.'),
      v.examples([5]),
      traits({ unit: 'percent' }),
    ),
  ),
});

const addedRelationshipSchema = v.strictObject({
  fk_table: v.pipe(tableName, v.description('Referencing table.')),
  fk_columns: v.pipe(columns, v.description('Its columns, with commas or as a list.')),
  ref_table: v.pipe(tableName, v.description('Referenced table.'), v.examples(['public.customers'])),
  ref_columns: v.pipe(columns, v.description('Its columns, in the same order.'), v.examples(['id'])),
});

const excludedRelationshipSchema = v.strictObject({
  fk_table: v.pipe(tableName, v.description('Referencing table.')),
  ref_table: v.pipe(tableName, v.description('Referenced table.'), v.examples(['public.customers'])),
});

export const subsetSchema = v.strictObject({
  src_url: v.exactOptional(
    v.pipe(
      sourceUrl,
      v.description('Source database.'),
      v.examples(['postgres://app:{{`APP_PASSWORD` | env}}@db.example.com:5432/app']),
    ),
  ),
  dst_url: v.exactOptional(
    v.pipe(
      destinationUrl,
      v.description('Destination database.'),
      v.examples(['postgres://localhost:5432/app_subset']),
    ),
  ),
  subset_tables: v.exactOptional(
    v.pipe(v.array(subsetTableSchema), v.description('Tables to begin with, and their rows.')),
  ),
  copy_tables: v.exactOptional(
    v.pipe(v.array(tableName), v.description('Tables copied whole.'), v.examples([['public.countries']])),
  ),
  excluded_tables: v.exactOptional(
    v.pipe(v.array(tableName), v.description('Tables left empty.'), v.examples([['public.audit_log']])),
  ),
  added_relationships: v.exactOptional(
    v.pipe(v.array(addedRelationshipSchema), v.description('Foreign keys that the database does not declare.')),
  ),
  excluded_relationships: v.exactOptional(
    v.pipe(
      v.array(excludedRelationshipSchema),
      v.description('Foreign keys to ignore, such as one that closes a circle.'),
    ),
  ),
});
