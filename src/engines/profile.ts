/** An engine without its code, for all that must start fast. It imports nothing. */
export interface EngineProfile {
  id: string;
  products: [string, ...string[]];
  schemes: string[];
  defaultPort: number;
  hasSchemas: boolean;
  exampleImage: string;
  withoutPrograms: { works: boolean; advice: string };
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
