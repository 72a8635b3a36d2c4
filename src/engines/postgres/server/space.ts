import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { freeBytesOf } from '../../shared/disk-space.ts';
import { isLocalHost } from '../connection/location.ts';
import type { PostgresSession } from '../connection/session.ts';
import { portOf } from '../connection/url.ts';

/** The free space of the disk with the data: known of a server of this machine only. */
export async function spaceOf(context: EngineContext, url: DatabaseUrl, dataDirectory: string | null) {
  const [host] = url.hosts;
  const name = host?.host || context.environment.PGHOST || 'localhost';
  const local = url.parameters.tunnel === undefined && (await isLocalHost(name));
  return {
    destination: { host: `${name}:${host ? portOf(host, context.environment) : ''}`, local },
    freeBytes: local && dataDirectory !== null ? await freeBytesOf(dataDirectory) : null,
  };
}

export async function readSpace(context: EngineContext, server: PostgresSession, url: DatabaseUrl) {
  const [row] = await server.query<{ directory: string | null }>(
    `SELECT (SELECT setting FROM pg_settings WHERE name = 'data_directory') AS directory`,
  );
  return spaceOf(context, url, row?.directory ?? null);
}
