import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { UserError } from '../runtime/errors.ts';
import type { Report } from '../runtime/events.ts';
import { createDamageNotes } from './damage-notes.ts';
import { clearMark, type EncryptionMark, sealedMark } from './encryption/encryption-mark.ts';
import { clearEnvelope, sealedEnvelope } from './encryption/envelope.ts';
import type { Headline, VerifiedHeadline } from './headlines/headline.ts';
import { type HeadlinesRequest, readHeadlines } from './headlines/headlines.ts';
import type { Annotations } from './manifest/annotations.ts';
import type { Manifest } from './manifest/manifest.ts';
import { createRepository, imageKey, type Repository } from './repository.ts';
import type { Credentials } from './s3/client.ts';
import type { StorageProfile } from './s3/connection.ts';
import { createFolder } from './store/folder.ts';
import { createLocks, type Locks } from './store/locks.ts';
import { type OpenStore, storeOpener } from './store/open-store.ts';
import type { ObjectStore, Store } from './store/store.ts';

/** `damaged`: the next push replaces the object. `checking` and `not_checked`: it may, once the hub has checked it. */
export type DamageVerdict = 'damaged' | 'checking' | 'intact' | 'not_checked';

/** A snapshot of a list: read from its manifest, or claimed by a hub. */
export type ListedSnapshot = { verified: VerifiedHeadline } | { claimed: Headline };

/** Images of snapshots, by the names of `imageName`. Removing a snapshot removes its images. */
export interface RemoteImages {
  /** `false` for a hub of an earlier version. */
  accepts(snapshot: Manifest, name: string): Promise<boolean>;
  /** Reads a manifest, which nothing has verified yet; `null` where the snapshot has no such image. */
  read(snapshot: Manifest, name: string): Promise<string | null>;
  /** Writes a manifest; its chunks must be stored already. */
  write(snapshot: Manifest, name: string, text: string): Promise<void>;
  /** These chunks of an image. */
  objectsOf(snapshot: Manifest, sha256s: string[]): ObjectStore;
}

/** Snapshots that several machines use at the same time: in a bucket, or on a hub. */
export interface RemoteRepository extends Omit<Repository, 'sweep' | 'files' | 'list'> {
  name: string;
  /** The objects of a snapshot that is there, or is about to be. */
  objectsOf(manifest: Manifest): ObjectStore;
  /**
   * Reports objects of a snapshot whose content differs from their names, so that the next push replaces them. With
   * `wait` it ends when the remote repository has checked them.
   */
  reportDamage(manifest: Manifest, sha256s: string[], options: { wait: boolean }): Promise<Map<string, DamageVerdict>>;
  images: RemoteImages;
  /** Runs a push: no sweep removes what it relies on, as long as it calls `renew` now and then. */
  whilePushing: Locks['whilePushing'];
  /** Writes the annotations of the manifest, of which these have changed. */
  annotate(manifest: Manifest, changed: Partial<Annotations>): Promise<void>;
  within(signal: AbortSignal): Promise<RemoteRepository>;
  headlines(request?: HeadlinesRequest): Promise<ListedSnapshot[]>;
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
  /** `null` where nothing is encrypted. */
  secretKey: string | null;
  directory: string;
  report: Report;
  signal: AbortSignal;
  credentials?: Credentials | undefined;
}

/** Throws when the profile has `encrypt`, and the bucket is not encrypted, or with another key. */
export async function openRemoteRepository(options: RemoteRepositoryOptions): Promise<BucketRepository> {
  const { remote, mark } = await createRemoteRepository({ ...options, openStore: await storeOpener(options) });
  if (options.profile.encrypt) await mark.check();
  return remote;
}

async function createRemoteRepository(
  options: RemoteRepositoryOptions & { openStore: OpenStore },
): Promise<{ remote: BucketRepository; mark: EncryptionMark }> {
  const { name, profile, openStore, secretKey, directory, report, signal } = options;
  const clear = await openStore({ envelope: clearEnvelope, signal });
  const envelope = profile.encrypt ? sealedEnvelope(requireEncryptionKey(secretKey, name)) : null;
  const store = envelope ? await openStore({ envelope, signal }) : clear;
  const mark = profile.encrypt ? sealedMark(store, clear, name) : clearMark(store, name);
  const repository = createRepository(store, report);
  const notes = createDamageNotes(store);
  const locks = createLocks(store, { signal, report });
  const cache = createFolder(join(directory, 'cache', cacheName(profile)));
  const remote: BucketRepository = {
    ...repository,
    name: store.name,
    store,
    objectsOf: () => notes.objects,
    images: {
      accepts: async () => true,
      // The first images had no name.
      read: async (snapshot, image) =>
        (await store.read(imageKey(snapshot, image))) ?? (await store.read(imageKey(snapshot))),
      write: (snapshot, image, text) => store.write(imageKey(snapshot, image), text),
      objectsOf: () => notes.objects,
    },
    async reportDamage(_manifest, sha256s) {
      await notes.add(sha256s);
      return new Map(sha256s.map((sha256) => [sha256, 'damaged']));
    },
    annotate: repository.write,
    async whilePushing(work) {
      await mark.set();
      return await locks.whilePushing(work);
    },
    async within(other) {
      const { remote: same } = await createRemoteRepository({ ...options, signal: other });
      return same;
    },
    async headlines(request) {
      const found = await readHeadlines({ repository, cache }, request);
      if (found.length === 0) await mark.check();
      return found.map((verified) => ({ verified }));
    },
    async sweep(now) {
      await mark.set();
      return await locks.whileSweeping(async (mayGoOn) => {
        const freed = await repository.sweep(now, mayGoOn);
        await notes.sweep();
        return freed;
      });
    },
  };
  return { remote, mark };
}

function requireEncryptionKey(key: string | null, profile: string): string {
  if (key !== null) return key;
  throw new UserError('secret_key_missing', `Storage profile "${profile}" is encrypted, and there is no key`, {
    hint: `Set storage_profiles.${profile}.encryption_key, or secret_key, to the key that it was encrypted with.`,
  });
}

/** One cache per location, independent of the profile's name. */
function cacheName({ provider, path, endpoint, account_id, bucket, prefix, cli_profile }: StorageProfile): string {
  const place = JSON.stringify([provider, ...(path ? [path] : [endpoint, account_id, bucket, prefix, cli_profile])]);
  return createHash('sha256').update(place).digest('hex').slice(0, 16);
}
