import type { EngineId } from '../engines/engine.ts';

/**
 * What a snapshot is: one JSON file, written last and atomically, naming the objects that hold the bytes.
 * The same file lies in a folder and in a bucket. Sizes are bytes of content, times ISO 8601 in UTC.
 */
export interface Manifest {
  format: 1;
  id: string;
  target: string;
  created_at: string;
  engine: EngineId;
  /** As the server says it: `15.18`. */
  server_version: string;
  /** Version of the program that wrote the dump: a restore needs the same or a newer one. */
  tool_version: string;
  sanitized: boolean;
  note: string | null;
  /** Schemas that are in the snapshot. */
  schemas: string[];
  tables: ManifestTable[];
  /** Everything else that makes the dump whole, such as the archive's table of contents. */
  files: ManifestFile[];
  /** Bytes that this build added to `objects/`; what was shared with other snapshots is not in it. */
  added_bytes: number;
  /** What only the engine that wrote it understands. */
  details: Record<string, unknown>;
}

export interface ManifestTable {
  /** `schema.table`, as the configuration writes it. */
  name: string;
  rows: number;
  file: ManifestFile;
}

export interface ManifestFile {
  /** The file's name within the dump: `toc.dat`, `3456.dat`. */
  name: string;
  /** SHA-256 of the content, in hexadecimal: also the object's name. */
  sha256: string;
  /** Bytes of content. */
  bytes: number;
  /** Bytes of the compressed object. */
  stored_bytes: number;
}
