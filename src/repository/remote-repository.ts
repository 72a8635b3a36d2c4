import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { S3Client } from '@aws-sdk/client-s3';
import type { Report } from '../runtime/events.ts';
import { clearMark, type EncryptionMark, sealedMark } from './encryption/encryption-mark.ts';
import { sealedEnvelope } from './encryption/envelope.ts';
import { createFolder } from './folder.ts';
import type { Headline } from './headlines/headline.ts';
import { readHeadlines } from './headlines/headlines.ts';
import { createLocks, type Locks } from './locks.ts';
import { createRepository, type Repository } from './repository.ts';
import type { Credentials } from './s3/client.ts';
import type { StorageProfile } from './s3/providers.ts';
import { createS3Store } from './s3/store.ts';
import type { Store } from './store.ts';

/** The snapshots in a bucket, which several machines use at the same time. */
export interface RemoteRepository extends Omit<Repository, 'sweep'> {
  name: string;
  store: Store;
  locks: Locks;
  within(signal: AbortSignal): Promise<RemoteRepository>;
  headlines(target?: string): Promise<Headline[]>;
  /** `null` when others use the bucket and nothing was removed. */
  sweep(now: Date): Promise<number | null>;
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
export async function openRemoteRepository(options: RemoteRepositoryOptions): Promise<RemoteRepository> {
  const { createS3Client } = await import('./s3/client.ts');
  const client = await createS3Client(options.profile, options.credentials);
  const { remote, mark } = await createRemoteRepository({ ...options, client });
  if (options.profile.encrypt) await mark.check();
  return remote;
}

async function createRemoteRepository(
  options: RemoteRepositoryOptions & { client: S3Client },
): Promise<{ remote: RemoteRepository; mark: EncryptionMark }> {
  const { name, profile, client, secretKey, directory, report, signal } = options;
  const clear = await createS3Store({ name, profile, client, signal });
  const store = profile.encrypt
    ? await createS3Store({ name, profile, client, envelope: sealedEnvelope(secretKey), signal })
    : clear;
  const mark = profile.encrypt ? sealedMark(store, clear, name) : clearMark(store, name);
  const repository = createRepository(store, report);
  const locks = createLocks(store, signal);
  const cache = createFolder(join(directory, 'cache', cacheName(profile)));
  const remote: RemoteRepository = {
    ...repository,
    name: store.name,
    store,
    locks: {
      ...locks,
      async whilePushing(work) {
        await mark.set();
        return await locks.whilePushing(work);
      },
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
