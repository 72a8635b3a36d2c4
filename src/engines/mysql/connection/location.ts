import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { addressesOfHost, THIS_MACHINE } from '../../shared/connection/host-addresses.ts';
import { addressOf } from './url.ts';

export async function addressesOf(_context: EngineContext, url: DatabaseUrl): Promise<Set<string>> {
  const address = addressOf(url);
  if ('socket' in address) return new Set([address.socket]);
  const addresses = await addressesOfHost(address.host);
  return new Set(addresses.map((each) => `${each}:${address.port}`));
}

export async function isLocalAddress(host: string): Promise<boolean> {
  return (await addressesOfHost(host)).includes(THIS_MACHINE);
}
