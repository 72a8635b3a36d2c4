import * as v from 'valibot';
import { leftOutSchema, leftOutSchemasOf } from '../left-out-schemas.ts';
import { filesOf } from './catalogue.ts';
import type { Manifest } from './manifest.ts';

/** What lists show of a snapshot: little of a manifest, which may be long. */
export const headlineSchema = v.object({
  target: v.string(),
  id: v.string(),
  created_at: v.string(),
  sanitized: v.boolean(),
  sanitized_of: v.exactOptional(v.string()),
  sanitized_at: v.exactOptional(v.string()),
  engine: v.picklist(['postgres', 'mysql']),
  server_version: v.string(),
  schemas: v.array(v.string()),
  left_out_schemas: v.exactOptional(v.array(leftOutSchema)),
  tables: v.number(),
  rows: v.number(),
  size_bytes: v.number(),
  stored_bytes: v.number(),
  note: v.nullable(v.string()),
});

export type Headline = v.InferOutput<typeof headlineSchema>;

export function headlineOf(manifest: Manifest): Headline {
  const { sanitized_of, sanitized_at } = manifest;
  const { target, id, created_at, sanitized, engine, server_version, schemas, tables, note } = manifest;
  const leftOut = leftOutSchemasOf(manifest) ?? [];
  return {
    ...{ target, id, created_at, sanitized, engine, server_version, schemas },
    ...(sanitized_of !== undefined && { sanitized_of }),
    ...(sanitized_at !== undefined && { sanitized_at }),
    ...(leftOut.length > 0 && { left_out_schemas: leftOut }),
    tables: tables.length,
    rows: tables.reduce((sum, table) => sum + table.rows, 0),
    size_bytes: filesOf(manifest).reduce((sum, file) => sum + file.bytes, 0),
    stored_bytes: manifest.added_bytes,
    note,
  };
}
