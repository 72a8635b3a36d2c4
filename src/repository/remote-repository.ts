import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { S3Client } from '@aws-sdk/client-s3';
import type { Report } from '../runtime/events.ts';
import type { Annotations } from './annotations.ts';
import { clearMark, type EncryptionMark, sealedMark } from './encryption/encryption-mark.ts';
import { sealedEnvelope } from './encryption/envelope.ts';
import { createFolder } from './folder.ts';
import type { Headline } from './headlines/headline.ts';
import { readHeadlines } from './headlines/headlines.ts';
import { createLocks, type Locks } from './locks.ts';
import type { Manifest } from './manifest.ts';
import { createRepository, type Repository } from './repository.ts';
import type { Credentials } from './s3/client.ts';
import type { StorageProfile } from './s3/providers.ts';
import { createS3Store } from './s3/store.ts';
import type { ObjectStore, Store } from './store.ts';

/** Snapshots that several machines use at the same time: in a bucket, or on a hub. */
export interface RemoteRepository extends Omit<Repository, 'sweep' | 'files' | 'list'> {
  name: string;
  /** The objects of a snapshot that is there, or is about to be. */
  objectsOf(manifest: Manifest): ObjectStore;
  /** Whether an object that is there can be replaced by another one. */
  replacesObjects: boolean;
  /** Runs a push: no sweep removes what it relies on, as long as it calls `renew` now and then. */
  whilePushing: Locks['whilePushing'];
  /** Writes the annotations of the manifest, of which these have changed. */
  annotate(manifest: Manifest, changed: Partial<Annotations>): Promise<void>;
  within(signal: AbortSignal): Promise<RemoteRepository>;
  headlines(target?: string): Promise<Headline[]>;
  /** `null` when others use the repository, and nothing was removed. */
  sweep(now: Date): Promise<number | null>;
}

/** The snapshots in a bucket. */
export interface BucketRepository extends RemoteRepository {
  store: Store;
}

export interface RemoteRepositoryOptions {
  name: string;
  profile: StorageProfile;
  secretKey: string;
  directory: string;
  report: Report;
  signal: AbortSignal;
  credentials?: Credentials | undefined;
}

/** Throws when the profile has `encrypt`, and the bucket is not encrypted, or with another key. */
export async function openRemoteRepository(options: RemoteRepositoryOptions): Promise<BucketRepository> {
  const { createS3Client } = await import('./s3/client.ts');
  const client = await createS3Client(options.profile, options.credentials);
  const { remote, mark } = await createRemoteRepository({ ...options, client });
  if (options.profile.encrypt) await mark.check();
  return remote;
}

async function createRemoteRepository(
  options: RemoteRepositoryOptions & { client: S3Client },
): Promise<{ remote: BucketRepository; mark: EncryptionMark }> {
  const { name, profile, client, secretKey, directory, report, signal } = options;
  const clear = await createS3Store({ name, profile, client, signal });
  const store = profile.encrypt
    ? await createS3Store({ name, profile, client, envelope: sealedEnvelope(secretKey), signal })
    : clear;
  const mark = profile.encrypt ? sealedMark(store, clear, name) : clearMark(store, name);
  const repository = createRepository(store, report);
  const locks = createLocks(store, { signal, report });
  const cache = createFolder(join(directory, 'cache', cacheName(profile)));
  const remote: BucketRepository = {
    ...repository,
    name: store.name,
    store,
    objectsOf: () => store,
    replacesObjects: true,
    annotate: repository.write,
    async whilePushing(work) {
      await mark.set();
      return await locks.whilePushing(work);
    },
    async within(other) {
      const { remote: same } = await createRemoteRepository({ ...options, signal: other });
      return same;
    },
    async headlines(target) {
      const found = await readHeadlines({ store, repository, cache }, target);
      if (found.length === 0) await mark.check();
      return found;
    },
    async sweep(now) {
      await mark.set();
      return await locks.whileSweeping((mayGoOn) => repository.sweep(now, mayGoOn));
    },
  };
  return { remote, mark };
}

/** One cache per location, independent of the profile's name. */
function cacheName({ provider, endpoint, account_id, bucket, prefix, cli_profile }: StorageProfile): string {
  const place = JSON.stringify([provider, endpoint, account_id, bucket, prefix, cli_profile]);
  return createHash('sha256').update(place).digest('hex').slice(0, 16);
}
