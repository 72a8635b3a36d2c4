import type { EngineId } from './list.ts';

export interface Host {
  /** Name, address or folder of a unix socket; empty for the engine's default. */
  host: string;
  /** `null` for the engine's default. */
  port: number | null;
}

/** A parsed URL. Only `display` may be shown: other fields contain secrets. */
export interface DatabaseUrl {
  engine: EngineId;
  user: string | null;
  password: string | null;
  hosts: Host[];
  database: string | null;
  parameters: Record<string, string>;
  inContainer: boolean;
  display: string;
  toJSON: () => string;
}
