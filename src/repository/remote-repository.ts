import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { S3Client } from '@aws-sdk/client-s3';
import type { Report } from '../runtime/events.ts';
import { clearMark, type ShelfMark, sealedMark } from './encryption/encryption-mark.ts';
import { sealedEnvelope } from './encryption/envelope.ts';
import { createFolder } from './folder.ts';
import type { Headline } from './headline.ts';
import { readHeadlines } from './headlines.ts';
import { createLocks, type Locks } from './locks.ts';
import { type Catalogue, createCatalogue } from './repository.ts';
import type { Credentials } from './s3/client.ts';
import type { StorageProfile } from './s3/providers.ts';
import { createS3Store } from './s3/store.ts';
import type { Store } from './store.ts';

/** The snapshots in a bucket, which many may use at the same moment. */
export interface Shelf extends Omit<Catalogue, 'sweep'> {
  /** For people: `s3://bucket/prefix`. */
  name: string;
  store: Store;
  locks: Locks;
  /** The same shelf, for work that is ended by another signal. */
  within(signal: AbortSignal): Promise<Shelf>;
  /** Newest first; of every target unless one is named. */
  headlines(target?: string): Promise<Headline[]>;
  /** As that of a catalogue; `null` when others use the shelf, and nothing was removed. */
  sweep(now: Date): Promise<number | null>;
}

export interface ShelfOptions {
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

/** Throws when the profile says that the shelf is encrypted, and it is not, or with another key. */
export async function openShelf(options: ShelfOptions): Promise<Shelf> {
  const { createS3Client } = await import('./s3/client.ts');
  const client = await createS3Client(options.profile, options.credentials);
  const { shelf, mark } = await createShelf({ ...options, client });
  if (options.profile.encrypt) await mark.check();
  return shelf;
}

async function createShelf(options: ShelfOptions & { client: S3Client }): Promise<{ shelf: Shelf; mark: ShelfMark }> {
  const { name, profile, client, secretKey, directory, report, signal } = options;
  const clear = await createS3Store({ name, profile, client, signal });
  const store = profile.encrypt
    ? await createS3Store({ name, profile, client, envelope: sealedEnvelope(secretKey), signal })
    : clear;
  const mark = profile.encrypt ? sealedMark(store, clear, name) : clearMark(store, name);
  const catalogue = createCatalogue(store, report);
  const locks = createLocks(store, signal);
  const cache = createFolder(join(directory, 'cache', cacheName(profile)));
  const shelf: Shelf = {
    ...catalogue,
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
      const { shelf: same } = await createShelf({ ...options, signal: other });
      return same;
    },
    async headlines(target) {
      const found = await readHeadlines({ store, catalogue, cache }, target);
      if (found.length === 0) await mark.check();
      return found;
    },
    async sweep(now) {
      await mark.set();
      return await locks.whileSweeping((mayGoOn) => catalogue.sweep(now, mayGoOn));
    },
  };
  return { shelf, mark };
}

/** One for each place in a bucket, whatever the profile that leads to it is called. */
function cacheName({ provider, endpoint, account_id, bucket, prefix, cli_profile }: StorageProfile): string {
  const place = JSON.stringify([provider, endpoint, account_id, bucket, prefix, cli_profile]);
  return createHash('sha256').update(place).digest('hex').slice(0, 16);
}
