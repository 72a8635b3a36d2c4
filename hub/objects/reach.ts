import { randomUUID } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { BlockList } from 'node:net';
import type { StorageSettings } from '../../src/cloud/contract/schemas.ts';
import { toUserError } from '../../src/runtime/errors.ts';
import { Problem } from '../problem.ts';
import { findBytes, removeKey, writeText } from './bucket-calls.ts';
import { openTargetBucket } from './buckets.ts';

/** Clouds answer there to every machine, with its credentials. */
const LINK_LOCAL = new BlockList();
LINK_LOCAL.addSubnet('169.254.0.0', 16, 'ipv4');
LINK_LOCAL.addSubnet('fe80::', 10, 'ipv6');
LINK_LOCAL.addAddress('fd00:ec2::254', 'ipv6');

/** Refuses an endpoint that leads to the metadata service of a cloud. A name that does not resolve passes. */
export async function refuseLinkLocal({ endpoint }: StorageSettings): Promise<void> {
  if (endpoint === undefined) return;
  const host = new URL(endpoint).hostname.replace(/^\[|\]$/g, '');
  const addresses = await lookup(host, { all: true }).catch(() => []);
  const refused = addresses.some(({ address, family }) => LINK_LOCAL.check(address, family === 6 ? 'ipv6' : 'ipv4'));
  if (!refused) return;
  throw new Problem('cloud_refused', 'The endpoint is a link-local address', {
    errors: [{ pointer: '/settings/endpoint', detail: 'must not be a link-local address' }],
  });
}

/** Writes, reads and removes a test object; the reason when that fails. */
export async function tryStorage(name: string, settings: StorageSettings): Promise<string | null> {
  try {
    await refuseLinkLocal(settings);
    const bucket = await openTargetBucket({ name, settings, folder: 'probe' });
    const key = randomUUID();
    await writeText(bucket, key, 'test');
    const bytes = await findBytes(bucket, key);
    await removeKey(bucket, key);
    return bytes === 4 ? null : 'the bucket does not show what was written';
  } catch (error) {
    return toUserError(error).message;
  }
}
