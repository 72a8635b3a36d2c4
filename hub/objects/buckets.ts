import type { LookupFunction } from 'node:net';
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import type { StorageSettings } from '../../src/cloud/contract/resources.ts';
import { openS3Bucket, type S3Bucket } from '../../src/repository/s3/bucket.ts';
import { createS3Client } from '../../src/repository/s3/client.ts';
import { checksumHeader, s3ConnectionOf } from '../../src/repository/s3/connection.ts';
import { createS3Store } from '../../src/repository/s3/store.ts';
import type { Store } from '../../src/repository/store/store.ts';
import type { Database } from '../database/database.ts';
import { openStorageProfile } from '../database/storage-profiles.ts';
import type { HubKey } from '../settings/parse-values.ts';
import { assertAddressNotLinkLocal, guardedLookup } from './reach.ts';

export const URL_SECONDS = 15 * 60;
export const PART_URL_SECONDS = 60 * 60;

/** A call to a bucket is given up after so many milliseconds. */
const CALL_TIMEOUT = 10_000;

/** The part of a bucket that belongs to one target. */
export interface TargetBucket {
  bucket: S3Bucket;
  /** For one call. */
  signal: () => AbortSignal;
  presign(request: PresignRequest): Promise<string>;
  /** Header by which the service refuses other content than this. */
  checksumHeader(sha256: string): Record<string, string>;
}

/** Header of a presigned request, unless a header names the hash of its body. */
const UNSIGNED = { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' };

interface PresignRequest {
  method: 'GET' | 'PUT';
  key: string;
  seconds: number;
  headers?: Record<string, string>;
  query?: Record<string, string>;
}

export interface Buckets {
  /** The remote repository of a target in a storage profile: `PREFIX/TARGET_ID/`. */
  open(profileId: string, targetId: string): Promise<TargetBucket>;
  /** The same as a store, for lists: the signal ends all that it does. */
  store(profileId: string, targetId: string, signal: AbortSignal): Promise<Store>;
}

/** The database and the buckets of all targets, for work on them. */
export interface BucketWork {
  db: Database;
  buckets: Buckets;
  /** `TOOL_HUB_TRUSTED_KEYS`. */
  trustedKeys: string[] | null;
}

type Client = Awaited<ReturnType<typeof createS3Client>>;

/** Clients are kept as long as their profile has the same revision. `resolve` replaces the name service. */
export function createBuckets(db: Database, keys: HubKey[], resolve?: LookupFunction): Buckets {
  const clients = new Map<string, { client: Client; revision: number }>();
  const openProfile = async (profileId: string) => {
    const { name, revision, settings } = await openStorageProfile(db, profileId, keys);
    assertAddressNotLinkLocal(settings.endpoint);
    const kept = clients.get(profileId);
    const client = kept?.revision === revision ? kept.client : await createHubClient(settings, resolve);
    clients.set(profileId, { client, revision });
    return { name, settings, client };
  };
  return {
    open: async (profileId, targetId) => openTargetBucket({ ...(await openProfile(profileId)), folder: targetId }),
    async store(profileId, targetId, signal) {
      const { name, settings, client } = await openProfile(profileId);
      return createS3Store({ name, client, signal, profile: { ...settings, prefix: prefixOf(settings, targetId) } });
    },
  };
}

function createHubClient(settings: StorageSettings, resolve?: LookupFunction): Promise<Client> {
  return createS3Client(settings, undefined, guardedLookup(resolve && { resolve }));
}

function prefixOf({ prefix }: StorageSettings, folder: string): string {
  return [prefix?.replaceAll(/^\/+|\/+$/g, ''), folder].filter(Boolean).join('/');
}

export async function openTargetBucket(options: {
  name: string;
  settings: StorageSettings;
  client?: Client;
  folder: string;
}): Promise<TargetBucket> {
  const { name, settings, folder } = options;
  const client = options.client ?? (await createHubClient(settings));
  const profile = { ...settings, prefix: prefixOf(settings, folder) };
  const bucket = await openS3Bucket({ name, profile, client, signal: new AbortController().signal });
  const { region, endpoint, pathStyle } = s3ConnectionOf(settings);
  const signer = new SignatureV4({
    service: 's3',
    region,
    credentials: { accessKeyId: settings.access_key ?? '', secretAccessKey: settings.secret_key ?? '' },
    sha256: Sha256,
    uriEscapePath: false,
  });
  const base = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`);
  const host = pathStyle ? base.host : `${settings.bucket}.${base.host}`;
  return {
    bucket,
    signal: () => AbortSignal.timeout(CALL_TIMEOUT),
    checksumHeader: (sha256) => checksumHeader(settings, sha256),
    async presign({ method, key, seconds, headers = {}, query = {} }) {
      const object = bucket.nameOf(key).split('/').map(encodeURIComponent).join('/');
      const before = base.pathname.replace(/\/+$/, '');
      const path = pathStyle ? `${before}/${settings.bucket}/${object}` : `${before}/${object}`;
      const names = new Set(Object.keys(headers));
      const signed = await signer.presign(
        {
          method,
          protocol: base.protocol,
          hostname: host,
          path,
          query,
          headers: { host, ...UNSIGNED, ...headers },
        },
        { expiresIn: seconds, unhoistableHeaders: names, signableHeaders: new Set([...names, 'host']) },
      );
      const search = Object.entries(signed.query ?? {}).map(
        ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`,
      );
      return `${base.protocol}//${host}${path}?${search.join('&')}`;
    },
  };
}
