import type { DumpOrigin } from '../../results/manifest/dump-origin.ts';
import type { DatabaseUrl } from '../database-url.ts';

/** A dump of the engine's own program, recognised by its beginning. */
export interface DumpFile extends Pick<DumpOrigin, 'format' | 'server_version'> {
  /** Absolute path of a file, or of the folder of an archive. */
  path: string;
  /** Product of its server: `PostgreSQL`, `MariaDB`, `MySQL`. */
  product: string;
}

export interface RestoredDump {
  /** The filled database, as a user without access to files and programs of the server. */
  url: DatabaseUrl;
  /** Parts of the dump that the database lacks, for people. */
  leftOut: string[];
}
