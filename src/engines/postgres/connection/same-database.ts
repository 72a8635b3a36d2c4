import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import type { DatabaseUrl, EngineContext, Host } from '../../engine.ts';
import { connect } from './connect.ts';
import { portOf } from './url.ts';

/** Every address of this machine is written as this one, and so is a unix socket. */
const THIS_MACHINE = 'this machine';

/**
 * Tells of URLs whether they lead to this database, however they spell the host: by resolved address, port and
 * database, and, where both answer, by what the servers say of themselves (which sees through proxies and tunnels).
 */
export function sameDatabaseAs(
  context: EngineContext,
  destination: DatabaseUrl,
): (source: DatabaseUrl) => Promise<boolean> {
  const placesOfDestination = places(context, destination);
  let identityOfDestination: Promise<string | null> | undefined;
  return async (source) => {
    const there = await placesOfDestination;
    if ([...(await places(context, source))].some((place) => there.has(place))) return true;
    identityOfDestination ??= identity(context, destination);
    const [own, other] = await Promise.all([identityOfDestination, identity(context, source)]);
    return own !== null && own === other;
  };
}

async function places({ environment }: EngineContext, url: DatabaseUrl): Promise<Set<string>> {
  const database = url.database ?? environment.PGDATABASE ?? url.user ?? environment.PGUSER ?? '';
  // Where `hostaddr` is given libpq goes there, and the host is but a name.
  const addresses = url.parameters.hostaddr?.split(',');
  const given = addresses?.map((host, index) => ({ host, port: (url.hosts[index] ?? url.hosts[0])?.port ?? null }));
  const hosts = await Promise.all(
    (given ?? url.hosts).map(async (host) => {
      const addresses = await addressesOf(host, environment);
      return addresses.map((address) => `${address}:${portOf(host, environment)}/${database}`);
    }),
  );
  return new Set(hosts.flat());
}

async function addressesOf({ host }: Host, environment: NodeJS.ProcessEnv): Promise<string[]> {
  const name = host === '' ? (environment.PGHOST ?? '') : host;
  if (name === '' || name.startsWith('/') || name.startsWith('@')) return [THIS_MACHINE];
  const addresses = await resolve(name);
  return [...addresses, name.toLowerCase()];
}

/** Whether a host, as libpq takes it, is this machine. */
export async function isLocalHost(host: string): Promise<boolean> {
  return (await addressesOf({ host, port: null }, {})).includes(THIS_MACHINE);
}

async function resolve(name: string): Promise<string[]> {
  const found = await lookup(name, { all: true }).catch(() => []);
  const own = new Set(Object.values(networkInterfaces()).flatMap((cards) => (cards ?? []).map((card) => card.address)));
  return found.map(({ address }) =>
    own.has(address) || address.startsWith('127.') || address === '::1' ? THIS_MACHINE : address,
  );
}

/** When the server was started, to the microsecond, where its data lies by number, and the database's own number there. */
async function identity(context: EngineContext, url: DatabaseUrl): Promise<string | null> {
  try {
    await using session = await connect(context, url, { settings: { timezone: 'UTC' } });
    const [row] = await session.query<{ identity: string }>(`
      SELECT pg_postmaster_start_time() || '/' || oid AS identity FROM pg_database WHERE datname = current_database()`);
    return row?.identity ?? null;
  } catch {
    context.signal.throwIfAborted();
    // A source that cannot be reached has been compared by its address.
    return null;
  }
}
