import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { S3Client } from '@aws-sdk/client-s3';
import type { Report } from '../runtime/events.ts';
import { clearMark, type EncryptionMark, sealedMark } from './encryption/encryption-mark.ts';
import { sealedEnvelope } from './encryption/envelope.ts';
import { createFolder } from './folder.ts';
import type { Headline } from './headline.ts';
import { readHeadlines } from './headlines.ts';
import { createLocks, type Locks } from './locks.ts';
import { createRepository, type Repository } from './repository.ts';
import type { Credentials } from './s3/client.ts';
import type { StorageProfile } from './s3/providers.ts';
import { createS3Store } from './s3/store.ts';
import type { Store } from './store.ts';

/** The snapshots in a bucket, which many may use at the same moment. */
export interface RemoteRepository extends Omit<Repository, 'sweep'> {
  /** For people: `s3://bucket/prefix`. */
  name: string;
  store: Store;
  locks: Locks;
  /** The same remote repository, for work that is ended by another signal. */
  within(signal: AbortSignal): Promise<RemoteRepository>;
  /** Newest first; of every target unless one is named. */
  headlines(target?: string): Promise<Headline[]>;
  /** As that of a repository; `null` when others use the remote repository, and nothing was removed. */
  sweep(now: Date): Promise<number | null>;
}

export interface RemoteRepositoryOptions {
  /** Name of the storage profile. */
  name: string;
  profile: StorageProfile;
  /** Encrypts what is stored, when the profile says so. */
  secretKey: string;
  /** The working directory, which remembers what was read. */
  directory: string;
  report: Report;
  signal: AbortSignal;
  /** Where the profile has a role: its temporary ones. */
  credentials?: Credentials | undefined;
}

/** Throws when the profile says that the remote repository is encrypted, and it is not, or with another key. */
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

/** One for each place in a bucket, whatever the profile that leads to it is called. */
function cacheName({ provider, endpoint, account_id, bucket, prefix, cli_profile }: StorageProfile): string {
  const place = JSON.stringify([provider, endpoint, account_id, bucket, prefix, cli_profile]);
  return createHash('sha256').update(place).digest('hex').slice(0, 16);
}
