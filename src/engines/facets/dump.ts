import type { SchemaConfig } from '../../config/schema/settings.ts';
import type { Manifest, ManifestFile } from '../../repository/manifest/manifest.ts';
import type { PackedContent, StoredObject } from '../../repository/objects/pack-object.ts';
import type { DatabaseUrl } from '../database-url.ts';
import type { WithoutUrl } from '../engine-context.ts';
import type { DatabaseIdentity } from '../identity.ts';

export interface DumpFacet {
  /**
   * Reads the database at one instant and stores its files; changes nothing in it. A failure leaves files in `directory`
   * and objects that no manifest has. A second call does not store unchanged files again.
   */
  run(request: WithoutUrl<DumpRequest>): Promise<DumpResult>;
  /**
   * Reports whether the database is proved to be as `ReplaceResult.fingerprint` of one of its loads says; `false` where
   * the engine has no such proof. Reads only, and can be called again.
   */
  isUnchanged(fingerprints: unknown[]): Promise<boolean>;
}

export interface DumpRequest {
  url: DatabaseUrl;
  schemaConfig: SchemaConfig | undefined;
  /** Also dumps schemas that chosen tables cannot be restored without; refused otherwise. */
  includeNeededSchemas?: boolean | undefined;
  /** Tables whose rows are never read, by patterns such as `public.event_*`, and what becomes of references to them. */
  excludeRows?: { patterns: string[]; nullify: boolean } | undefined;
  cpus: number;
  /** Dump with the vendor's program, where the engine can also read the database itself. */
  program?: boolean;
  /** Stores the statistics of the planner, where a load can take them over. They contain values of rows. */
  keepsStatistics?: boolean | undefined;
  /** It may create a function that no other session sees, and which it rolls back. */
  isDestination?: boolean | undefined;
  /** The snapshot that the database is a copy of: names in the dump are those of this snapshot. */
  copyOf?: Manifest | undefined;
  /** The last snapshot of the target, whatever its engine. */
  previous: Manifest | undefined;
  /** Rows that are proved to be those of this build need not be read; engines without such a proof read all. */
  lastBuild?: RowsOfLastBuild | undefined;
  directory: string;
  expectedBytes: (table: string) => number | undefined;
  /** Stores a file of the snapshot. Contents that are written at once, in memory, are packed together. */
  write(name: string, source: DumpSource): Promise<PackedFile>;
}

export interface RowsOfLastBuild {
  /** `DumpResult.evidence` of the last build of the same source on this machine; `null` reads everything. */
  evidence: unknown;
  /** Reports whether the store has the object, byte for byte as it was packed; spares it from sweeps. */
  isStored(file: ManifestFile): Promise<boolean>;
}

export type DumpSource =
  /** A file of `directory`, which is removed. */
  | {
      /** Ends a complete file; `null` when only the writer knows. */
      terminator: string | null;
      /** Settles when the file is complete; absent where it is. */
      grown?: Promise<unknown>;
      onBytes?: (bytes: number) => void;
    }
  /** A small content, which is taken over. */
  | { content: Uint8Array<ArrayBuffer>; terminator: string; onBytes?: (bytes: number) => void }
  /** Packed by the engine into `destination`, or found equal to the object that was `stored` before. */
  | { pack: (destination: string, stored: StoredObject | null) => Promise<PackedContent> };

export interface PackedFile {
  file: ManifestFile;
  /** Line feeds in the content. */
  lines: number;
  terminated: boolean;
}

export type DumpResult = {
  serverVersion: string;
  toolVersion: string;
  /** Identity of the database, if the session of the dump has read it. */
  identity?: DatabaseIdentity;
  /** Proves to the next build which rows are unchanged; JSON that only the engine reads. Absent: nothing is proved. */
  evidence?: unknown;
  /** With `lastBuild`, if the engine has such a proof. */
  reading?: ReadSummary;
} & Pick<Manifest, 'schemas' | 'tables' | 'files' | 'details'>;

/** The tables of a build that were read, and those that were not, by name. */
export interface ReadSummary {
  read: string[];
  /** Some ranges were read. */
  partlyRead: string[];
  unchanged: string[];
  /** Bytes of rows that were not read. */
  unchangedBytes: number;
  /** Why evidence was not believed: it is about another source or history, or nothing can be proved. */
  refused: 'history' | 'unprovable' | null;
  /** Some table is of a size and kind that a proof is worth. */
  provable: boolean;
}
