import type { Command } from '../../../src/process/runner.ts';

export interface ImageEngine {
  name: string;
  /** The account of the server, if we are root. */
  user: Command['user'];
  /** Makes a data directory of about as many megabytes, and stops its server. */
  make(data: string, megabytes: number): Promise<void>;
  start(data: string): Promise<StartedImage>;
  /** Queries for one row and over one of the tables. */
  one(rows: number): string;
  count: string;
}

export interface StartedImage {
  /** From the start of the program to the first connection. */
  startMs: number;
  query(statement: string): Promise<unknown>;
  /** A clean shutdown. */
  stop(): Promise<void>;
}

const TABLES = 4;
/** With its share of three indexes. */
const ROW_BYTES = 240;

/** Of each table. */
export const rowsFor = (megabytes: number): number => Math.round((megabytes * 1e6) / TABLES / ROW_BYTES);

export const tablesOf = <One>(of: (table: number) => One): One[] =>
  Array.from({ length: TABLES }, (_, table) => of(table));
