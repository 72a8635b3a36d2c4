import type { DatabaseUrl } from '../database-url.ts';
import type { RehearsalFacts } from './rehearsal-facts.ts';

/** The database is a branch of its own, which is dropped afterwards: the work may leave it in any state. */
export interface RehearseFacet {
  /** Reads an SQL file without running it; refuses statements that name another database than this, where they could. */
  checkFile?(file: string, database: string): Promise<void>;
  /** Begins to observe a database. Its facts are as before the work from here on. */
  observe(): Promise<RehearsalObserver>;
}

/** Disposing ends the address of `url` with its sessions. */
export interface RehearsalObserver extends AsyncDisposable {
  /** Leads through this program to the observed database, and to no other one. */
  url: DatabaseUrl;
  /** Runs the statements of an SQL file one by one, as the vendor's client does. */
  runFile(file: string, signal: AbortSignal): Promise<void>;
  /** Runs a workload until `finish`. */
  startWorkload(options: WorkloadOptions): Promise<void>;
  finish(): Promise<ObservedRehearsal>;
}

export interface WorkloadOptions {
  /** Absolute path of the statements. */
  file: string;
  sessions: number;
  signal: AbortSignal;
}

/** The statements of a workload during a migration. */
export interface ObservedWorkload {
  sessions: number;
  statements: number;
  failed: number;
  /** Values are masked. */
  firstError: string | null;
  /** The slowest statements. */
  waits: WorkloadWait[];
}

export interface WorkloadWait {
  statement: string;
  atMs: number;
  durationMs: number;
  /** The statement of the migration's session that it waited for; `null` where it was not seen waiting. */
  blockedBy: string | null;
}

export interface ObservedRehearsal {
  /** In the order of their start. */
  statements: ObservedStatement[];
  /** Statements beyond the limit: the shortest ones. */
  leftOut: number;
  locks: ObservedLock[];
  rewrites: Rewrite[];
  /** Bytes of the whole server, meanwhile; `null` where the user may not read it. */
  walBytes: number | null;
  sizeBefore: number;
  sizeAfter: number;
  workload?: ObservedWorkload;
  /** The tables before the work. */
  facts: RehearsalFacts;
  sampling: { intervalMs: number; samples: number; longestGapMs: number };
}

export interface ObservedStatement {
  /** The beginning of the text, which may have several statements. */
  text: string;
  /** Milliseconds since the observation began. */
  atMs: number;
  durationMs: number;
  /** Number of the session, from 1. */
  session: number;
  inTransaction: boolean;
  /** Rows that each of its results reports as changed; copied rows of a definition of MySQL. */
  affected?: readonly number[];
  /** Code and message of the server, values masked. */
  error: { code: string; message: string } | null;
}

/** A lock that is stronger than that of a statement which changes rows, on a table with rows before the work. */
export interface ObservedLock {
  /** `schema.table` */
  table: string;
  /** The index of the table that is locked; `null` for the table itself. */
  index: string | null;
  /** In the server's words: `ACCESS EXCLUSIVE`. */
  mode: string;
  atMs: number;
  /** At most so long: the time between two samples is counted. */
  heldMs: number;
  /** The first statement that held it; `null` for one of a session that is not observed. */
  statement: string | null;
}

/** A table or an index that existed before, and has another file by now. */
export interface Rewrite {
  kind: 'table' | 'index';
  /** `schema.name` */
  name: string;
  /** `schema.table`, also of an index. */
  table: string;
  /** Size of the new files. */
  bytes: number;
}
