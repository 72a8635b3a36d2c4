import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import type { StorageSettings } from '../../src/cloud/contract/resources.ts';
import { Problem } from '../problem.ts';

/** Clouds answer there to every machine, with its credentials. */
const REFUSED = new BlockList();
addNetworks(REFUSED, 'fe80::/10 fd00:ec2::254/128 fd20:ce::254/128 2002:a9fe::/32');
// Link-local, Alibaba Cloud, Azure and Oracle; also where an address of IPv6 (NAT64) holds one of them.
for (const network of ['169.254.0.0/16', '100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32']) {
  const [address = '', bits] = network.split('/');
  addNetworks(REFUSED, `${network} ::${address}/${96 + Number(bits)} 64:ff9b::${address}/${96 + Number(bits)}`);
}

/** Addresses that are not of the public internet, and those that hold one of IPv4. */
const PRIVATE = new BlockList();
const PRIVATE_NETWORKS = [
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24',
  '192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3',
  '::/96 64:ff9b::/32 100::/64 2001::/23 2001:db8::/32 2002::/16 3fff::/20 5f00::/16 fc00::/7 fe80::/9 ff00::/8',
];
addNetworks(PRIVATE, PRIVATE_NETWORKS.join(' '));

function addNetworks(list: BlockList, networks: string): void {
  for (const network of networks.split(' ')) {
    const [address = '', bits] = network.split('/');
    list.addSubnet(address, Number(bits), familyOf(address));
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

function isRefused(address: string): boolean {
  return REFUSED.check(address, familyOf(address));
}

function isPrivate(address: string, allowed: BlockList): boolean {
  return PRIVATE.check(address, familyOf(address)) && !allowed.check(address, familyOf(address));
}

/** Refuses an endpoint that leads to the metadata service of a cloud. A name that does not resolve passes. */
export async function assertEndpointNotLinkLocal({ endpoint }: StorageSettings): Promise<void> {
  if (endpoint === undefined) return;
  const host = hostOf(endpoint);
  const addresses = await new Promise<string[]>((resolve) =>
    lookup(host, { all: true }, (error, found) => resolve(error ? [] : found.map(({ address }) => address))),
  );
  if (addresses.some(isRefused)) throw linkLocal();
}

/** The same without a name service: names are checked by `guardedLookup` at each connection. */
export function assertAddressNotLinkLocal(url: string | undefined, pointer = ENDPOINT): void {
  const host = url === undefined ? '' : hostOf(url);
  if (isIP(host) !== 0 && isRefused(host)) throw linkLocal(pointer);
}

/** Refuses a private address that is not in `allowed`. Names are checked by `guardedLookup` at each connection. */
export function assertPublicAddress(url: string, { pointer, allowed }: { pointer: string; allowed: BlockList }): void {
  const host = hostOf(url);
  if (!(isIP(host) === 0 ? isLocalName(host) : isPrivate(host, allowed))) return;
  throw new Problem('cloud_refused', 'The URL is a private address', {
    hint: 'An owner may name it, or the operator of the hub allows it by TOOL_HUB_WEBHOOK_NETWORKS.',
    errors: [{ pointer, detail: 'must not be a private address' }],
  });
}

/** RFC 6761: such a name is this machine, whatever a name service says. */
function isLocalName(host: string): boolean {
  return /(^|\.)localhost\.?$/.test(host);
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

export interface GuardOptions {
  resolve?: LookupFunction;
  /** Private addresses are refused, too, but for these. */
  allowed?: BlockList;
}

/**
 * Resolves names for connections to buckets and webhooks, and refuses a name that leads to an address that is refused: it
 * may have led elsewhere when it was written (DNS rebinding).
 */
export function guardedLookup({ resolve = lookup, allowed }: GuardOptions = {}): LookupFunction {
  const kindOf = (address: string): string | null => {
    if (isRefused(address)) return 'link-local';
    return allowed && isPrivate(address, allowed) ? 'private' : null;
  };
  return (host, options, callback) =>
    resolve(host, options, (error, found, family) => {
      const addresses = Array.isArray(found) ? found.map(({ address }) => address) : [found];
      const kind = error ? null : addresses.map(kindOf).find((one) => one !== null);
      if (kind) {
        const refused = Object.assign(new Error(`${host} leads to a ${kind} address`), { code: NO_ROUTE });
        callback(refused, '', 0);
      } else callback(error, found, family);
    });
}
