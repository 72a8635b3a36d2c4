import * as v from 'valibot';
import { key, optionalKey } from './key.ts';
import { destinationUrl, sourceUrl, sql, tableName, text } from './values.ts';

const columns = v.pipe(v.union([text, v.array(text)]), v.examples(['customer_id']));

const subsetTableSchema = v.strictObject({
  table: key(tableName, 'Table to begin with.'),
  where: optionalKey(sql, 'SQL condition, instead of percent.', { example: "created_at > '2026-01-01'" }),
  percent: optionalKey(
    v.pipe(v.number(), v.gtValue(0, 'must be more than 0'), v.maxValue(100, 'must be at most 100')),
    'Share of the rows, instead of where.',
    { example: 5, unit: 'percent' },
  ),
});

const addedRelationshipSchema = v.strictObject({
  fk_table: key(tableName, 'Referencing table.'),
  fk_columns: key(columns, 'Its columns, with commas or as a list.'),
  ref_table: key(tableName, 'Referenced table.', { example: 'public.customers' }),
  ref_columns: key(columns, 'Its columns, in the same order.', { example: 'id' }),
});

const excludedRelationshipSchema = v.strictObject({
  fk_table: key(tableName, 'Referencing table.'),
  ref_table: key(tableName, 'Referenced table.', { example: 'public.customers' }),
});

export const subsetSchema = v.strictObject({
  src_url: optionalKey(sourceUrl, 'Source database.', {
    example: 'postgres://app:{{`APP_PASSWORD` | env}}@db.example.com:5432/app',
  }),
  dst_url: optionalKey(destinationUrl, 'Destination database.', { example: 'postgres://localhost:5432/app_subset' }),
  subset_tables: optionalKey(v.array(subsetTableSchema), 'Tables to begin with, and their rows.'),
  copy_tables: optionalKey(v.array(tableName), 'Tables copied whole.', { example: ['public.countries'] }),
  excluded_tables: optionalKey(v.array(tableName), 'Tables left empty.', { example: ['public.audit_log'] }),
  added_relationships: optionalKey(
    v.array(addedRelationshipSchema),
    'Foreign keys that the database does not declare.',
  ),
  excluded_relationships: optionalKey(
    v.array(excludedRelationshipSchema),
    'Foreign keys to ignore, such as one that closes a circle.',
  ),
});
