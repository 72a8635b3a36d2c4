import type { SchemaConfig } from '../../config/schema/settings.ts';
import type { Manifest, ManifestFile } from '../../repository/manifest.ts';
import type { PackedContent, StoredObject } from '../../repository/objects/object-file.ts';
import type { DatabaseUrl } from '../database-url.ts';
import type { WithoutUrl } from '../engine-context.ts';
import type { DatabaseIdentity } from '../identity.ts';

export interface DumpFacet {
  /**
   * Reads the database at one instant and stores its files; changes nothing in it. A failure leaves files in `directory`
   * and objects that no manifest has. A second call stores unchanged files not again.
   */
  run(request: WithoutUrl<DumpRequest>): Promise<DumpResult>;
}

export interface DumpRequest {
  url: DatabaseUrl;
  schemaConfig: SchemaConfig | undefined;
  /** Also dumps schemas that chosen tables cannot be restored without; refused otherwise. */
  includeNeededSchemas?: boolean | undefined;
  jobs: number;
  /** Dump with the vendor's program, where the engine can also read the database itself. */
  program?: boolean;
  /** The snapshot that the database is a copy of: names in the dump are those of this snapshot. */
  copyOf?: Manifest | undefined;
  /** The last snapshot of the target, whatever its engine. */
  previous: Manifest | undefined;
  directory: string;
  expectedBytes: (table: string) => number | undefined;
  /** Stores a file of `directory`, which may still be growing, and removes it. */
  pack(file: FileToPack): Promise<PackedFile>;
  /** Stores small contents that are in memory, and takes them over. */
  packContents(files: ContentToPack[]): Promise<PackedFile[]>;
  /** Stores what the engine packs itself into `destination`, or finds equal to the object that was `stored` before. */
  packWith(name: string, pack: PackItself): Promise<PackedFile>;
  /** No file grows any more. */
  finish(): void;
}

export type PackItself = (destination: string, stored: StoredObject | null) => Promise<PackedContent>;

export interface FileToPack {
  name: string;
  /** Ends a complete file; `null` when only the writer knows. */
  terminator: string | null;
  onBytes: (bytes: number) => void;
  /**
   * `true` when the file is complete, or a promise that settles then; without it, `finish` marks all files as complete.
   */
  grown?: true | Promise<unknown>;
}

export interface ContentToPack {
  name: string;
  content: Uint8Array<ArrayBuffer>;
  terminator: string;
}

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
} & Pick<Manifest, 'schemas' | 'tables' | 'files' | 'details'>;
