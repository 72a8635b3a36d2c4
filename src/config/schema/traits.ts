import * as v from 'valibot';

export interface Traits {
  unit?: string;
  /** Never shown; may be stored encrypted. */
  secret?: true;
  template?: true;
  /** `~` is the home directory; a relative path starts at the configuration file. */
  path?: true;
  /** The name of an existing object, for choices. */
  names?: 'schema' | 'table' | 'storage_profile' | 'cli_profile';
  /** What the value causes: a person must see it before a file of the current folder is used. */
  trust?: 'database' | 'web' | 'image' | 'sql' | 'sql file' | 'folder' | 'key';
  hint?: string;
}

export function traits<TInput>(of: Traits): v.MetadataAction<TInput, Traits & Record<string, unknown>> {
  return v.metadata({ ...of });
}
