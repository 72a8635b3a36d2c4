import type { RestoreRun } from '../../../engine.ts';
import type { Settings } from '../../connection/url.ts';
import type { ArchiveDetails } from '../../dump/archive.ts';
import type { ClientTools } from '../../tools.ts';

/** A restore into an empty database, with all that its parts need to know. */
export interface Filling extends RestoreRun {
  tools: ClientTools;
  details: ArchiveDetails;
  /** Schemas that were made for extensions before. */
  premade?: string[] | undefined;
  /** Takes the errors of a restore that goes on after them; without it the first one ends the restore. */
  errors?: string[] | undefined;
  /** Of the sessions that fill it. */
  settings: Settings;
}
