import type { DatabaseUrl } from '../../../database-url.ts';
import type { RestoreRun } from '../../../facets/restore.ts';
import type { ClientTools } from '../../connection/tools.ts';
import type { SessionSettings } from '../../connection/url.ts';
import type { ArchiveDetails } from '../../dump/archive.ts';
import type { DividedEntries } from '../lists-in-turn.ts';
import type { RemoteEntry } from '../remote-objects.ts';

/** A restore into an empty database, with all that its parts need to know. */
export interface FillRun extends RestoreRun {
  /** The database as the loading role, where another role fills it. */
  owner: DatabaseUrl;
  /** Laid out while the database is created. */
  archive: Promise<Archive>;
  tools: ClientTools;
  details: ArchiveDetails;
  /** Schemas that were made for extensions before. */
  premade?: string[] | undefined;
  /** Takes the errors of a restore that goes on after them; without it the first one ends the restore. */
  errors?: string[] | undefined;
  settings: SessionSettings;
}

/** An archive in pg_dump's directory format, without the tables' rows. */
export interface Archive extends DividedEntries {
  directory: string;
  /** Objects that lead to other servers, and what needs them. */
  leftOut: RemoteEntry[];
}
