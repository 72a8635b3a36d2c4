import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Report } from '../events.ts';
import { type Catalogue, createCatalogue } from './catalogue.ts';
import { createFolder } from './folder.ts';
import type { Headline } from './headline.ts';
import { readHeadlines } from './headlines.ts';
import { createLocks, type Locks } from './locks.ts';
import type { StorageProfile } from './providers.ts';
import { createS3Store } from './s3.ts';
import type { Credentials } from './s3-client.ts';
import type { Store } from './store.ts';

/** The snapshots in a bucket, which many may use at the same moment. */
export interface Shelf extends Omit<Catalogue, 'sweep'> {
  /** For people: `s3://bucket/prefix`. */
  name: string;
  store: Store;
  locks: Locks;
  /** Newest first; of every target unless one is named. */
  headlines(target?: string): Promise<Headline[]>;
  /** As that of a catalogue; `null` when others use the shelf, and nothing was removed. */
  sweep(now: Date): Promise<number | null>;
}

export interface ShelfOptions {
  /** Name of the storage profile. */
  name: string;
  profile: StorageProfile;
  /** The working directory, which remembers what was read. */
  directory: string;
  report: Report;
  signal: AbortSignal;
  /** Where the profile has a role: its temporary ones. */
  credentials?: Credentials | undefined;
}

export async function openShelf({
  name,
  profile,
  directory,
  report,
  signal,
  credentials,
}: ShelfOptions): Promise<Shelf> {
  const store = await createS3Store({ name, profile, signal, credentials });
  const catalogue = createCatalogue(store, report);
  const locks = createLocks(store, signal);
  const cache = createFolder(join(directory, 'cache', cacheName(profile)));
  return {
    ...catalogue,
    name: store.name,
    store,
    locks,
    headlines: (target) => readHeadlines({ store, catalogue, cache }, target),
    sweep: (now) => locks.whileSweeping((mayGoOn) => catalogue.sweep(now, mayGoOn)),
  };
}

/** One for each place in a bucket, whatever the profile that leads to it is called. */
function cacheName({ provider, endpoint, account_id, bucket, prefix, cli_profile }: StorageProfile): string {
  const place = JSON.stringify([provider, endpoint, account_id, bucket, prefix, cli_profile]);
  return createHash('sha256').update(place).digest('hex').slice(0, 16);
}
