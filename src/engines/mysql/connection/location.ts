import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import type { DatabaseUrl } from '../../engine.ts';
import { addressOf } from './url.ts';

/** Every address of this machine is written as this one. */
const THIS_MACHINE = 'this machine';

/** Where the driver would connect to for the URL. */
export async function addressesOf(url: DatabaseUrl): Promise<Set<string>> {
  const address = addressOf(url);
  if ('socket' in address) return new Set([address.socket]);
  const addresses = await addressesOfHost(address.host);
  return new Set(addresses.map((each) => `${each}:${address.port}`));
}

/** Servers on some systems take no notice of upper case: better refused than overwritten. */
export function databaseOf({ database }: DatabaseUrl): string | null {
  return database?.toLowerCase() ?? null;
}

async function addressesOfHost(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true }).catch(() => []);
  const own = new Set(Object.values(networkInterfaces()).flatMap((cards) => (cards ?? []).map((card) => card.address)));
  const resolved = found.map(({ address }) =>
    own.has(address) || address.startsWith('127.') || address === '::1' ? THIS_MACHINE : address,
  );
  return [...resolved, host.toLowerCase()];
}

export async function isLocalAddress(host: string): Promise<boolean> {
  return (await addressesOfHost(host)).includes(THIS_MACHINE);
}
