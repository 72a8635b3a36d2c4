/**
 * `secret`: holds a password or key. `file`: names a file of this machine. `route`: leads to a server, database or user.
 * `setting`: everything else.
 */
export type UrlParameter = 'secret' | 'file' | 'route' | 'setting';

/** An engine without its code, for all that must start fast. It imports nothing. */
export interface EngineProfile {
  id: string;
  products: [string, ...string[]];
  schemes: string[];
  /** The one of them for client programs in a container. */
  containerScheme: string;
  defaultPort: number;
  hasSchemas: boolean;
  client: string;
  /** The longest name of a database, in units of `lengthOf`; a server may shorten longer ones without an error. */
  nameLimit: { most: number; lengthOf: (text: string) => number };
  /** Stored rows: how the vendor's dump program writes them, whether an empty line before their end is one, and that end. */
  rows: { byProgram: 'copied' | 'inserted'; emptyEnd: boolean; endBytes: number };
  /** The step after the rows. */
  indexing: string;
  /** Amounts in a millisecond, on a machine with two cores: for the first estimate of a run. */
  perMs: {
    readBytes: number;
    restoredBytes: number;
    indexedBytes: number;
    copiedBytes: number;
    countedRows: number;
    tableDefinitions: number;
    indexDefinitions: number;
    renamedTables: number;
  };
  /** Programs that know manifests of format 1 only load no more than the first part of a table: these say 2. */
  partsFormat: 1 | 2;
  defaultImage: string;
  withoutPrograms: { works: boolean; advice: string };
  /** Parameters of its connection URLs; no others are accepted. */
  parameters: Record<string, UrlParameter>;
  /** Read by the client programs beside their arguments, and so mounted into containers. */
  surroundings: {
    variables: RegExp;
    /** Variables that hold a password, and those that name a file of passwords. */
    passwordVariables: string[];
    passwordFileVariables: string[];
    /** Sets the user name, which a container cannot derive from the user id. */
    userVariable: string;
    sockets: string[];
    homeFiles: string[];
  };
}

/** Returns the kind of each parameter, from the names of each kind with blanks between them. */
export function parametersOf(kinds: Record<UrlParameter, string>): EngineProfile['parameters'] {
  const entries = Object.entries(kinds) as [UrlParameter, string][];
  return Object.fromEntries(
    entries.flatMap(([kind, names]) => (names.match(/\S+/g) ?? []).map((name) => [name, kind])),
  );
}
