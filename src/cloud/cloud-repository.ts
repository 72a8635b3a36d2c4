import { createHash } from 'node:crypto';
import { type Headline, unverified } from '../repository/headlines/headline.ts';
import { type Annotations, annotationsOf, withAnnotations } from '../repository/manifest/annotations.ts';
import { type Manifest, manifestText } from '../repository/manifest/manifest.ts';
import type { RemoteImages, RemoteRepository } from '../repository/remote-repository.ts';
import { createManifests, type ManifestStore, manifestKey } from '../repository/repository.ts';
import { isManifestKey } from '../repository/store/keys.ts';
import { MOST_TEXT_BYTES, TooLarge } from '../repository/store/store.ts';
import { UserError } from '../runtime/errors.ts';
import type { Report } from '../runtime/events.ts';
import { readBounded } from '../runtime/read-bounded.ts';
import { type CloudClient, listAll } from './client.ts';
import { bucketRefusal, queryBucket } from './objects/bucket-answer.ts';
import { createCloudObjects } from './objects/cloud-objects.ts';
import { checkedHref } from './objects/href.ts';
import { reportDamageToHub } from './report-damage.ts';

export interface CloudRepositoryOptions {
  open: (signal: AbortSignal, how: { listing: boolean }) => Promise<CloudClient>;
  /** Fewer retries, for a list. `within` opens a repository with all of them. */
  listing: boolean;
  target: string;
  /** The working directory. */
  directory: string;
  report: Report;
  signal: AbortSignal;
}

/** The snapshots of a cloud target. The hub does the locking and sweeping. */
export async function openRepositoryOnHub(options: CloudRepositoryOptions): Promise<RemoteRepository> {
  const { target, directory, report, signal, listing } = options;
  const client = await options.open(signal, { listing });
  const name = `${new URL(client.endpoint).host}/${target}`;
  const annotations = new Map<string, Annotations>();
  const store = createManifestStore({ name, client, target, annotations, signal });
  const repository = createManifests(store, report);
  const objectsOf = createCloudObjects({ name, client, target, directory, signal });
  const stores = new WeakMap<Manifest, ReturnType<typeof objectsOf>>();
  return {
    name,
    objectsOf(manifest) {
      const known = stores.get(manifest) ?? objectsOf(manifest);
      stores.set(manifest, known);
      return known;
    },
    images: createImages({ name, client, target, signal, objectsOf }),
    reportDamage: ({ id }, sha256s, { wait }) =>
      reportDamageToHub({ client, target, snapshot: id, sha256s, wait, signal }),
    async read(key) {
      const manifest = await repository.read(key);
      return manifest && withAnnotations(manifest, annotations.get(key) ?? NONE);
    },
    async write(manifest) {
      await repository.write(manifest).catch(async (error) => {
        if (!(await isPublished(error, manifest))) throw error;
      });
    },
    async annotate({ id }, changed) {
      await client.call('annotateSnapshot', { parameters: { name: target, snapshot: id }, body: changed });
    },
    remove: repository.remove,
    naming: repository.naming,
    ownBytes: repository.ownBytes,
    // During a push of more than a day, a sweep may remove objects that were present at its start.
    whilePushing: (work) =>
      work(async () => {}).catch((error) => {
        if (!isProblem(error, 'objects_missing')) throw error;
        return work(async () => {});
      }),
    headlines: async () => (await listHeadlines(client, target)).map((claimed) => ({ claimed })),
    // The hub's sweep removes the objects.
    sweep: async () => null,
    within: (other) => openRepositoryOnHub({ ...options, signal: other, listing: false }),
  };

  /** Ignores the annotations, which may have changed since. */
  async function isPublished(error: unknown, manifest: Manifest): Promise<boolean> {
    if (!isProblem(error, 'cloud_conflict')) return false;
    const there = await repository.read(manifestKey(manifest));
    return there !== null && bareText(there) === bareText(manifest);
  }
}

const NONE: Annotations = { note: null, tags: [], pinned: false };

function bareText(manifest: Manifest): string {
  return manifestText(withAnnotations(manifest, NONE));
}

function isProblem(error: unknown, code: string): boolean {
  return error instanceof UserError && error.code === code;
}

function noneFor(code: string): (error: unknown) => { body: null } {
  return (error) => {
    if (!isProblem(error, code)) throw error;
    return { body: null };
  };
}

/** Signatures are verified in manifests only. */
async function listHeadlines(client: CloudClient, target: string): Promise<Headline[]> {
  const headlines = await listAll(client, 'listSnapshots', { parameters: { name: target } });
  const foreign = headlines.find((headline) => headline.target !== target || !isManifestKey(manifestKey(headline)));
  if (foreign) throw client.invalid('the list contains snapshots of another target');
  return headlines.map(unverified);
}

interface ManifestStoreOptions {
  name: string;
  client: CloudClient;
  target: string;
  /** By key. The hub stores annotations apart from the published manifests. */
  annotations: Map<string, Annotations>;
  signal: AbortSignal;
}

/** Manifests by their keys, as in a bucket. */
function createManifestStore({ name, client, target, annotations, signal }: ManifestStoreOptions): ManifestStore {
  const addressOf = (key: string) => ({ parameters: { name: target, snapshot: idIn(key) } });
  return {
    name,
    async list() {
      const headlines = await listHeadlines(client, target);
      const file = { bytes: 0, version: '' };
      return headlines.map((headline) => ({
        ...file,
        key: manifestKey(headline),
        modified: new Date(headline.created_at),
      }));
    },
    async read(key) {
      const { body } = await client.call('getSnapshot', addressOf(key)).catch(noneFor('snapshot_unknown'));
      if (body === null) return null;
      annotations.set(key, annotationsOf(body.headline));
      return await fetchManifest(body.manifest, { name, client, signal });
    },
    async write(key, body) {
      await client.call('publishSnapshot', { ...addressOf(key), body });
    },
    async remove(key) {
      await client.call('removeSnapshot', addressOf(key)).catch(noneFor('snapshot_unknown'));
    },
  };
}

function idIn(key: string): string {
  return key.slice(key.lastIndexOf('-') + 1, -'.json'.length);
}

type ImagesOptions = Omit<ManifestStoreOptions, 'annotations'> & {
  objectsOf: ReturnType<typeof createCloudObjects>;
};

function createImages({ objectsOf, ...options }: ImagesOptions): RemoteImages {
  const { client, target } = options;
  const addressOf = ({ id }: Manifest, image: string) => ({ parameters: { name: target, snapshot: id, image } });
  const find = async (snapshot: Manifest, image: string) => {
    const { body } = await client.call('getImage', addressOf(snapshot, image)).catch(noneFor('cloud_unknown'));
    return body;
  };
  return {
    accepts: async (snapshot, image) => (await find(snapshot, image)) !== null,
    async read(snapshot, image) {
      const manifest = (await find(snapshot, image))?.manifest;
      return manifest ? await fetchManifest(manifest, options) : null;
    },
    async write(snapshot, image, body) {
      await client.call('publishImage', { ...addressOf(snapshot, image), body });
    },
    objectsOf,
  };
}

function fetchManifest(
  { href, sha256 }: { href: string; sha256: string },
  { name, client, signal }: Pick<ManifestStoreOptions, 'name' | 'client' | 'signal'>,
): Promise<string> {
  return queryBucket((request) => fetchText(checkedHref(href, client), { sha256, ...request }), { name, signal });
}

/** Fetches a bounded text by a signed URL and verifies its SHA-256. */
async function fetchText(
  url: URL,
  { sha256, abortSignal }: { sha256: string; abortSignal: AbortSignal },
): Promise<string> {
  const response = await fetch(url, { redirect: 'error', signal: abortSignal });
  const text = await readBounded(response.body, MOST_TEXT_BYTES, () => new TooLarge());
  if (!response.ok) throw bucketRefusal(response.status, text.toString());
  if (createHash('sha256').update(text).digest('hex') !== sha256) throw new Error('the manifest arrived damaged');
  return text.toString();
}
