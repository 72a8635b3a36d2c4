import type { ToolReport } from '../results/configuration/configuration-results.ts';
import type { Statement } from '../sanitize/statement.ts';
import type { DatabaseUrl } from './database-url.ts';
import type { EngineContext } from './engine-context.ts';
import type { BranchFacet } from './facets/branch.ts';
import type { ClientProgram, ConnectFacet } from './facets/connect.ts';
import type { DumpFacet } from './facets/dump.ts';
import type { DumpFile } from './facets/dump-file.ts';
import type { ImageFacet } from './facets/image.ts';
import type { RehearseFacet } from './facets/rehearse.ts';
import type { RestoreFacet, StoredTable, TableRequest } from './facets/restore.ts';
import type { ObjectDefinitionsRequest, SanitizeFacet, ScratchPlace, StoredDefinition } from './facets/sanitize.ts';
import type { SubsetFacet } from './facets/subset.ts';
import type { EngineId } from './list.ts';

/**
 * Methods that need no database; `open` returns the others. An engine loads the code of an asynchronous method when it is
 * called: the synchronous ones are all that every program with a URL loads.
 */
export interface Engine {
  id: EngineId;
  capabilities: Capabilities;
  parseUrl(text: string): DatabaseUrl;
  /** Returns the URL as text for other programs, with its password. */
  urlWithPassword(url: DatabaseUrl): string;
  /** The variables by which programs of the engine find the database, with the password. */
  urlVariables(url: DatabaseUrl): Record<string, string>;
  withDatabase(url: DatabaseUrl, database: string): DatabaseUrl;
  /** The database of the URL, equal for all spellings; `null` where only the server knows. */
  databaseOf(context: EngineContext, url: DatabaseUrl): string | null;
  /** Finds the client programs. Changes nothing; found once for each runner. */
  reportTools(context: EngineContext): Promise<ToolReport[]>;
  /** The interactive client on a database; files that it reads are written to the directory. */
  clientProgram(context: EngineContext, request: { url: DatabaseUrl; directory: string }): Promise<ClientProgram>;
  /** Throws with the line of a statement that is not understood or not allowed. */
  splitQuery(query: string): Promise<Statement[]>;
  /** The statements that create what is in a snapshot. */
  readDefinitions(request: ObjectDefinitionsRequest): Promise<StoredDefinition[]>;
  /** The statements that define a table, as the snapshot has them; `null` where their format is unknown. */
  readTable(request: TableRequest): Promise<StoredTable | null>;
  /** Recognises a dump of the vendor's program by its beginning; `null` for another file. Throws when it cannot be read. */
  readDump(path: string): Promise<DumpFile | null>;
  /** Places for a temporary database, the best first. Creates none. */
  scratchPlaces(context: EngineContext, destination: DatabaseUrl | null): Promise<ScratchPlace[]>;
  /** Servers on copies of images. */
  images(): Promise<ImageFacet>;
  /** Turns errors of the connection and of statements into errors for the user. */
  withExplainedErrors<Result>(place: Place, work: () => Promise<Result>): Promise<Result>;
  open(connection: Connection): Facets;
}

/** A database, and the context of its calls. */
export interface Place {
  context: EngineContext;
  url: DatabaseUrl;
}

export interface Facets {
  connect: ConnectFacet;
  dump: DumpFacet;
  restore: RestoreFacet;
  sanitize: SanitizeFacet;
  subset: SubsetFacet;
  branches: BranchFacet;
  /** `null`: the server's sessions are not observed. */
  rehearse: RehearseFacet;
}

/** Gives each call its context, and the URL through its tunnel: no call is possible without what `openDatabase` does for it. */
export interface Connection {
  run: RunCall;
  /** The same for a short look, of which few run on a server at a time. */
  runShort: RunCall;
}

type RunCall = <Result>(call: (context: EngineContext, url: DatabaseUrl) => Promise<Result>) => Promise<Result>;

export interface Capabilities {
  /** An undo copy can be read as any database; it has its code in another form otherwise. */
  undoCopyIsDatabase: boolean;
  /** Why a restore stops at its first error; `null` where it can continue. */
  whyNotKeepGoing: string | null;
  /** The vendor's program that makes every dump; `null` where the engine reads the database itself. */
  onlyProgram: string | null;
  /** Method by which the server copies the base copy. */
  branchesCopiedBy: 'files' | 'rows';
}
