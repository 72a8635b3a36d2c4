import { UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { connect } from '../connection/connect.ts';
import { readServerIdentity, type ServerIdentity } from '../connection/identity.ts';

/** Connections that are tried to find a second server behind the address of a load balancer. */
const MOST_CONNECTIONS = 4;

/** Returns the identity of another server that the same address reaches. */
export async function findOtherServer(
  context: EngineContext,
  url: DatabaseUrl,
  { started }: ServerIdentity,
): Promise<ServerIdentity | null> {
  for (let tried = 0; tried < MOST_CONNECTIONS; tried += 1) {
    await using session = await connect(context, url).catch(() => null);
    const signs = session && (await readServerIdentity(session).catch(() => null));
    if (signs && signs.started !== started) return signs;
  }
  return null;
}

export function serversDiffer({ display }: DatabaseUrl, servers: ServerIdentity[]): UserError {
  const named = servers.map(({ address, port }) => `${address ?? 'a socket'}, port ${port}`);
  return new UserError('servers_differ', `The connections to ${display} reach different servers`, {
    details: [...new Set(named)].sort(),
    hint: 'Nothing was stored. A build reads by several connections at one instant of one server: name that server in the URL instead of a load balancer.',
  });
}
