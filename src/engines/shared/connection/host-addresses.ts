import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';

/** Stands for every address and socket of this machine. */
export const THIS_MACHINE = 'this machine';

/** The addresses of a host, and its name in lower case: the only entry when it does not resolve. */
export async function addressesOfHost(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true }).catch(() => []);
  const own = new Set(Object.values(networkInterfaces()).flatMap((cards) => (cards ?? []).map((card) => card.address)));
  const addresses = found.map(({ address }) =>
    own.has(address) || address.startsWith('127.') || address === '::1' ? THIS_MACHINE : address,
  );
  return [...addresses, host.toLowerCase()];
}
