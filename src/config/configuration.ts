import type { CloudTarget } from '../cloud/contract/resources.ts';
import type { HubState } from '../results/cloud-results.ts';
import type { Problem } from '../results/configuration/configuration-results.ts';
import type { Settings } from './schema/settings.ts';
import type { CoveredFile } from './trust/covered-files.ts';

/** A configuration in force: file and environment merged, templates filled in, defaults applied. */
export interface Configuration {
  /** Absolute; `null` when environment variables alone configure the tool. */
  file: string | null;
  settings: Settings;
  /** URLs with an unset variable: an error only for operations that use them. */
  deferred: Problem[];
  /** By dotted key, the text of those URLs without their templates: `postgres://app@db/shop`. */
  blanks?: Map<string, string>;
  /** Query files that are trusted with this content only, by absolute path. */
  queryFiles?: ReadonlyMap<string, CoveredFile>;
  /** Targets of the file whose names are invalid: no command acts on them, and nothing is loaded into their sources. */
  misnamed?: Settings['targets'];
  /** Targets that the hub has, and not the file. */
  cloud?: ReadonlyMap<string, CloudTarget>;
  /** Set when the hub could not be asked for its targets. */
  hub?: HubState;
  /** The target of the file whose snapshots go to the hub: an agent builds it. */
  published?: string;
  /** By dotted key, the flag that set it: the target of `--from` is in no file. */
  flags?: ReadonlyMap<string, string>;
  /** The cloud target whose URLs are whole, with their passwords. */
  cloudUrls?: string;
}

/** The location of a problem that no line of the file causes. */
export const NOWHERE = { file: null, line: null, column: null };
