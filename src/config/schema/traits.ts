import * as v from 'valibot';
import type { Effect } from '../../results/configuration/effects.ts';

export interface Traits {
  unit?: string;
  /** Never shown; may be stored encrypted. */
  secret?: true;
  template?: true;
  /** `~` is the home directory; a relative path starts at the configuration file. */
  path?: true;
  /** The name of an existing object, for choices. */
  names?: 'schema' | 'table' | 'storage_profile' | 'cli_profile';
  /** Wording of the value in the question of trust; default: `key = value`. */
  effect?: Exclude<Effect['effect'], 'reads_variable' | 'uses_file' | 'sets'>;
  /** Taken from a file that is trusted, never from a variable or the hub. */
  fileOnly?: true;
  /** A change needs no new answer of a person who has trusted the file. Any other key does. */
  harmless?: true;
  /** For the development of the hub: last in the editor. */
  internal?: true;
  hint?: string;
}

export function traits<TInput>(of: Traits): v.MetadataAction<TInput, Traits & Record<string, unknown>> {
  return v.metadata({ ...of });
}
