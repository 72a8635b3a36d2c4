import * as v from 'valibot';

/** A file of the dump, and the object that holds it. */
const manifestFileSchema = v.object({
  /** The file's name within the dump: `toc.dat`, `3456.dat`. */
  name: v.string(),
  /** SHA-256 of the content, in hexadecimal: also the object's name. */
  sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  /** Bytes of content. */
  bytes: v.number(),
  /** Bytes of the compressed object. */
  stored_bytes: v.number(),
  /** SHA-256 of the compressed object as this build made it; an equal one of another build may be compressed otherwise. */
  stored_sha256: v.exactOptional(v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))),
});

const manifestTableSchema = v.object({
  /** `schema.table`, as the configuration writes it. */
  name: v.string(),
  rows: v.number(),
  file: manifestFileSchema,
  /** Further files of a table that was cut, in the order of its rows. */
  parts: v.exactOptional(v.array(manifestFileSchema)),
});

/**
 * What a snapshot is: one JSON file, written last and atomically, naming the objects that hold the bytes.
 * The same file lies in a folder and in a bucket. Sizes are bytes of content, times ISO 8601 in UTC.
 */
export const manifestSchema = v.object({
  format: v.literal(1),
  id: v.string(),
  target: v.string(),
  created_at: v.string(),
  engine: v.picklist(['postgres', 'mysql']),
  /** As the server says it: `15.18`. */
  server_version: v.string(),
  /** Version of the program that wrote the dump: a restore needs the same or a newer one. */
  tool_version: v.string(),
  sanitized: v.boolean(),
  /** Of a sanitized snapshot: the id of its original, and when it was made of it. */
  sanitized_of: v.exactOptional(v.string()),
  sanitized_at: v.exactOptional(v.string()),
  note: v.nullable(v.string()),
  /** Schemas that are in the snapshot. */
  schemas: v.array(v.string()),
  tables: v.array(manifestTableSchema),
  /** Everything else that makes the dump whole, such as the archive's table of contents. */
  files: v.array(manifestFileSchema),
  /** Bytes that this build added to `objects/`; what was shared with other snapshots is not in it. */
  added_bytes: v.number(),
  /** What only the engine that wrote it understands. */
  details: v.record(v.string(), v.unknown()),
  /** By the machine that built it: see `signature.ts`. Missing in older snapshots. */
  signature: v.exactOptional(v.object({ key: v.string(), value: v.string() })),
});

export type Manifest = v.InferOutput<typeof manifestSchema>;
export type ManifestTable = v.InferOutput<typeof manifestTableSchema>;
export type ManifestFile = v.InferOutput<typeof manifestFileSchema>;

/** Every file with rows of the table, in their order. */
export function filesOfTable({ file, parts = [] }: ManifestTable): ManifestFile[] {
  return [file, ...parts];
}

/** Bytes of the table's content. */
export function bytesOfTable(table: ManifestTable): number {
  return filesOfTable(table).reduce((sum, { bytes }) => sum + bytes, 0);
}
