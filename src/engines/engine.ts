import type { Context } from '../context.ts';

export type EngineId = 'postgres' | 'mysql';

export interface Host {
  /** Name, address or the folder of a unix socket; empty for the engine's own default. */
  host: string;
  /** `null` for the engine's own default. */
  port: number | null;
}

/** A connection URL taken apart. Never print its fields: print `display`, which JSON also gives. */
export interface DatabaseUrl {
  engine: EngineId;
  user: string | null;
  password: string | null;
  hosts: Host[];
  database: string | null;
  /** Every other parameter, passed on unharmed. */
  parameters: Record<string, string>;
  /** `postgres://user@host:5432/db`: without password and parameters. */
  display: string;
  toJSON: () => string;
}

/** What an engine is handed of a Context. */
export type EngineContext = Pick<Context, 'runner' | 'report' | 'signal' | 'clock' | 'environment'>;

/** A client program, as `config check` shows it. */
export interface ToolReport {
  name: string;
  path: string;
  version: string;
}
