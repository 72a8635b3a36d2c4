import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import type { DatabaseUrl, EngineContext } from '../../engine.ts';
import { readServer } from '../catalogue.ts';
import { connectToServer } from './connect.ts';
import { quoteText } from './session.ts';
import { addressOf } from './url.ts';

/** Every address of this machine is written as this one. */
const THIS_MACHINE = 'this machine';

/**
 * Tells of URLs whether they lead to this database, however they spell the host: by resolved address, port and
 * database, and, where both answer, by what the servers say of themselves (which sees through proxies and tunnels).
 */
export function sameDatabaseAs(
  context: EngineContext,
  destination: DatabaseUrl,
): (source: DatabaseUrl) => Promise<boolean> {
  const placesOfDestination = places(destination);
  let identityOfDestination: Promise<string | null> | undefined;
  return async (source) => {
    const there = await placesOfDestination;
    if ([...(await places(source))].some((place) => there.has(place))) return true;
    identityOfDestination ??= identity(context, destination);
    const [own, other] = await Promise.all([identityOfDestination, identity(context, source)]);
    return own !== null && own === other;
  };
}

async function places(url: DatabaseUrl): Promise<Set<string>> {
  const address = addressOf(url);
  // Servers on some systems take no notice of upper case: better refused than overwritten.
  const database = (url.database ?? '').toLowerCase();
  if ('socket' in address) return new Set([`${address.socket}/${database}`]);
  const addresses = await addressesOf(address.host);
  return new Set(addresses.map((each) => `${each}:${address.port}/${database}`));
}

async function addressesOf(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true }).catch(() => []);
  const own = new Set(Object.values(networkInterfaces()).flatMap((cards) => (cards ?? []).map((card) => card.address)));
  const resolved = found.map(({ address }) =>
    own.has(address) || address.startsWith('127.') || address === '::1' ? THIS_MACHINE : address,
  );
  return [...resolved, host.toLowerCase()];
}

export async function isLocalAddress(host: string): Promise<boolean> {
  return (await addressesOf(host)).includes(THIS_MACHINE);
}

/** What no two servers have in common: MySQL's own number, or machine, port and place of a MariaDB; with the database. */
async function identity(context: EngineContext, url: DatabaseUrl): Promise<string | null> {
  try {
    await using server = await connectToServer(context, url);
    const { flavour } = await readServer(server);
    const own = flavour === 'mysql' ? '@@server_uuid' : "CONCAT_WS('/', @@hostname, @@port, @@datadir, @@server_uid)";
    const [row] = await server
      .query<{ identity: string; folded: number }>(`SELECT ${own} AS identity, @@lower_case_table_names > 0 AS folded`)
      .catch(() =>
        server.query<{ identity: string; folded: number }>(
          `SELECT CONCAT_WS('/', @@hostname, @@port, @@datadir) AS identity, @@lower_case_table_names > 0 AS folded`,
        ),
      );
    if (!row) return null;
    const [database] = await server.query<{ name: string }>(
      `SELECT ${row.folded ? 'LOWER' : ''}(${quoteText(url.database ?? '')}) AS name`,
    );
    return `${row.identity}/${database?.name}`;
  } catch {
    context.signal.throwIfAborted();
    // A source that cannot be reached has been compared by its address.
    return null;
  }
}
