import type { Command } from '../../process/runner.ts';
import type { Manifest } from '../../repository/manifest/manifest.ts';
import type { DatabaseUrl } from '../database-url.ts';
import type { EngineContext } from '../engine-context.ts';

/** Data directories that were filled once, and the servers that run on copies of them. */
export interface ImageFacet {
  /** Databases that a new server has. */
  databases: string[];
  /** Finds the server programs for a snapshot: of its product and major version, else of the next newer one. */
  findPrograms(context: EngineContext, manifest: Manifest): Promise<ImagePrograms>;
  /** The account of servers, if we are root, and a folder that it can reach: by default the one given. */
  findHome(context: EngineContext, folder: string): Promise<{ folder: string; user: Command['user'] }>;
  /** Starts a server to be filled. Ending it, and removing its folder, is up to the caller. */
  make(context: EngineContext, request: ImageRequest): Promise<ImageMaker>;
  /** Starts a server of its own on a copy of an image; `null` where text would sort differently, or an extension is missing. */
  start(context: EngineContext, request: ImageStart): Promise<ImageServer | null>;
  /** Returns the id of the process of the server that has its files in a folder; `null` where none runs. */
  findServer(context: EngineContext, directory: string): Promise<number | null>;
  /** Stops the server that has its files in a folder, if it runs. */
  stopServer(context: EngineContext, directory: string): Promise<void>;
  /** Absent where images stay on their machine. */
  sharing?: SharedImageRules;
}

/** Decides which images of other machines a server starts on. */
export interface SharedImageRules {
  /** Reports whether a server has this file, and takes nothing but data from it. */
  isData(path: string): boolean;
  isFolder(path: string): boolean;
  /** Programs run on the files of others with the same major version. */
  majorOf(version: string): string;
}

export interface ImagePrograms {
  /** `MariaDB`. */
  product: string;
  /** The folder of the programs, or that of the server itself. */
  bin: string;
  /** Version of the server, `15.18`. */
  version: string;
  /** Version and build: an image belongs to it. */
  build: string;
  /** The major version of the snapshot is not installed. */
  differs: boolean;
}

interface ServerPlace {
  programs: ImagePrograms;
  /** An empty folder that the account of the server owns. */
  directory: string;
  user: Command['user'];
}

export interface ImageRequest extends ServerPlace {
  manifest: Manifest;
  /** The database to fill. */
  database: string;
}

export interface ImageMaker {
  /** The database to fill, which does not exist yet, as a superuser. */
  url: DatabaseUrl;
  /** The role to own its objects; none where objects have no owners. */
  role?: string;
  /**
   * Freezes the rows, stops the server cleanly, and copies its data directory to a path. Resolves with
   * what it depends on.
   */
  finish(image: string): Promise<ImageNeeds>;
}

/** Requirements of an image that are not among its files. */
export interface ImageNeeds {
  /** Providers and versions. */
  collations: string;
  /** `pgcrypto 1.3` */
  extensions: string[];
}

export interface ImageStart extends ServerPlace {
  /** The data directory of the image, of which only data is taken. */
  image: string;
  needs: ImageNeeds;
  database: string;
  port: number;
  /** The server outlives this program. */
  detached: boolean;
}

export interface ImageServer {
  pid: number;
  port: number;
  /** With a password that is stored nowhere. */
  url: DatabaseUrl;
  /** Resolves with its last words when the server has ended; never for one that outlives this program. */
  ended: Promise<{ stderr: string }>;
}
