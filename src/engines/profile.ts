import type * as v from 'valibot';

/** An engine without its code, for all that must start fast. An engine's `profile.ts` imports its manifest details only. */
export interface EngineProfile {
  id: string;
  /** The products that it connects to, the one it is named after first. */
  products: [string, ...string[]];
  /** Schemes of its connection URLs, without `://`. */
  schemes: string[];
  defaultPort: number;
  /** Whether a database is divided into schemas. */
  hasSchemas: boolean;
  /** An image with the server and the client programs. */
  exampleImage: string;
  /** The engine's part of a manifest; `text`: the schema of a name in it. */
  details: (text: v.GenericSchema<string>) => v.ObjectSchema<v.ObjectEntries, undefined>;
  /** What works without client programs, and how to install them. */
  withoutPrograms: { works: boolean; advice: string };
  /** What the client programs read on this machine besides their arguments, and so must find in a container. */
  surroundings: {
    /** Variables of the environment, by name. */
    variables: RegExp;
    /** Variables that hold a password, and those that name a file of passwords. */
    passwordVariables: string[];
    passwordFileVariables: string[];
    /** Names the user who connects, when nothing else does: in a container nobody knows the number's name. */
    userVariable: string;
    /** Folders where a server on this machine has its socket, unless told otherwise. */
    sockets: string[];
    /** Files in the home folder. */
    homeFiles: string[];
  };
}
