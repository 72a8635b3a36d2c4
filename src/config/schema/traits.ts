import * as v from 'valibot';

/** What a key says about itself beside its type, its description and its examples. */
export interface Traits {
  unit?: string;
  /** Never shown; may be stored encrypted. */
  secret?: true;
  /** Accepts Go templates. */
  template?: true;
  /** A path: `~` is the home directory, and a relative one starts at the configuration file. */
  path?: true;
  /** A name of something that exists: what there is to choose from. */
  names?: 'schema' | 'table' | 'storage_profile' | 'cli_profile';
  /** What the value makes the program do, so that a person must see it before a file of the current folder is used. */
  trust?: 'database' | 'web' | 'image' | 'sql' | 'sql file' | 'folder' | 'key';
  /** What to do about a value that is missing or wrong. */
  hint?: string;
}

/** Attaches traits to a schema, inside `v.pipe`. */
export function traits<TInput>(of: Traits): v.MetadataAction<TInput, Traits & Record<string, unknown>> {
  return v.metadata({ ...of });
}
