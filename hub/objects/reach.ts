import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import type { StorageSettings } from '../../src/cloud/contract/schemas.ts';
import { Problem } from '../problem.ts';

/** Clouds answer there to every machine, with its credentials. */
const REFUSED = new BlockList();
REFUSED.addSubnet('169.254.0.0', 16, 'ipv4');
REFUSED.addSubnet('fe80::', 10, 'ipv6');
REFUSED.addAddress('fd00:ec2::254', 'ipv6');
// Alibaba Cloud and Azure.
REFUSED.addAddress('100.100.100.200', 'ipv4');
REFUSED.addAddress('168.63.129.16', 'ipv4');

function isRefused(address: string): boolean {
  return REFUSED.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** Refuses an endpoint that leads to the metadata service of a cloud. A name that does not resolve passes. */
export async function refuseLinkLocal({ endpoint }: StorageSettings): Promise<void> {
  if (endpoint === undefined) return;
  const host = hostOf(endpoint);
  const addresses = await new Promise<string[]>((resolve) =>
    lookup(host, { all: true }, (error, found) => resolve(error ? [] : found.map(({ address }) => address))),
  );
  if (addresses.some(isRefused)) throw linkLocal();
}

/** The same without a name service: names are checked by `guardedLookup` at each connection. */
export function refuseLinkLocalAddress(url: string | undefined, pointer = ENDPOINT): void {
  const host = url === undefined ? '' : hostOf(url);
  if (isIP(host) !== 0 && isRefused(host)) throw linkLocal(pointer);
}

function hostOf(endpoint: string): string {
  return new URL(endpoint).hostname.replace(/^\[|\]$/g, '');
}

const ENDPOINT = '/settings/endpoint';

function linkLocal(pointer = ENDPOINT): Problem {
  return new Problem('cloud_refused', `The ${pointer === ENDPOINT ? 'endpoint' : 'URL'} is a link-local address`, {
    errors: [{ pointer, detail: 'must not be a link-local address' }],
  });
}

/** Final: the client of a bucket does not try again. */
const NO_ROUTE = 'EHOSTUNREACH';

/**
 * Resolves names for connections to buckets and webhooks, and refuses a name that leads to a link-local address: it may have led
 * elsewhere when the storage profile was written (DNS rebinding).
 */
export function guardedLookup(resolve: LookupFunction = lookup): LookupFunction {
  return (host, options, callback) =>
    resolve(host, options, (error, found, family) => {
      const addresses = Array.isArray(found) ? found.map(({ address }) => address) : [found];
      if (!error && addresses.some(isRefused)) {
        const refused = Object.assign(new Error(`${host} leads to a link-local address`), { code: NO_ROUTE });
        callback(refused, '', 0);
      } else callback(error, found, family);
    });
}
