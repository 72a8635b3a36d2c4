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
  /** Ports of 127.0.0.1 that lead to the hosts through the open tunnel of `parameters.tunnel`. */
  localPorts?: number[];
  inContainer: boolean;
  display: string;
  toJSON: () => string;
}

/** Other databases of the same server (`connectionKey`), by the same way. */
export function alongside({ localPorts }: DatabaseUrl, urls: DatabaseUrl[]): DatabaseUrl[] {
  return localPorts ? urls.map((url) => ({ ...url, localPorts })) : urls;
}
