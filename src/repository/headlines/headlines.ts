import * as v from 'valibot';
import { mapWithConcurrency } from '../../runtime/map-with-concurrency.ts';
import { isDamage, manifestKey, type Repository } from '../repository.ts';
import type { Store, StoredFile } from '../store.ts';
import { type Headline, headlineOf, headlineSchema, unverified } from './headline.ts';

export interface HeadlinesOptions {
  store: Store;
  repository: Repository;
  cache: Store;
}

const indexSchema = v.object({
  format: v.literal(1),
  headlines: v.record(v.string(), v.object({ version: v.string(), headline: headlineSchema })),
});

type Index = v.InferOutput<typeof indexSchema>['headlines'];

const AT_ONCE = 16;

/** Above this number of unread manifests the index is written for everybody. */
const WORTH_AN_INDEX = 32;

/**
 * The headlines of a remote repository, newest first, in few requests: the list of manifests is authoritative; contents
 * come from the local cache, then from the index in the bucket, then from the manifests.
 */
export async function readHeadlines(options: HeadlinesOptions, target?: string): Promise<Headline[]> {
  const files = await options.repository.files(target);
  const groups = Map.groupBy(files, ({ key }) => `index/${key.split('/')[1]}.json`);
  const indexes = await mapWithConcurrency([...groups], AT_ONCE, ([key, group]) => readGroup(options, key, group));
  const known: Index = Object.assign({}, ...indexes);
  return files.flatMap(({ key }) => known[key]?.headline ?? []);
}

async function readGroup(
  { store, repository, cache }: HeadlinesOptions,
  key: string,
  files: StoredFile[],
): Promise<Index> {
  const cached = await readIndex(cache, key);
  const index = current(cached, files);
  if (lacking(index, files).length === 0) return index;

  Object.assign(index, unchecked(current(await readIndex(store, key), lacking(index, files))));
  const unread = lacking(index, files);
  const text = (): string => JSON.stringify({ format: 1, headlines: index });
  try {
    await mapWithConcurrency(unread, AT_ONCE, async (file) => {
      const manifest = await repository.read(file.key);
      if (manifest) index[file.key] = { version: file.version, headline: headlineOf(manifest) };
    });
  } finally {
    // After a timeout too: the next call continues.
    await cache.write(key, text());
  }
  // Keys with read access only cannot write the index.
  if (unread.length > WORTH_AN_INDEX) await store.write(key, text()).catch(() => {});
  return index;
}

async function readIndex(store: Store, key: string): Promise<Index> {
  try {
    const text = await store.read(key);
    return text === null ? {} : v.parse(indexSchema, JSON.parse(text)).headlines;
  } catch (error) {
    if (isDamage(error)) return {};
    throw error;
  }
}

function current(index: Index, files: StoredFile[]): Index {
  const entries = files.flatMap(({ key, version }) => {
    const entry = index[key];
    return entry?.version === version && manifestKey(entry.headline) === key ? [[key, entry] as const] : [];
  });
  return Object.fromEntries(entries);
}

function lacking(index: Index, files: StoredFile[]): StoredFile[] {
  return files.filter(({ key }) => !(key in index));
}

/** Everybody with write access can write the index, so its `valid` signatures are not trusted. */
function unchecked(index: Index): Index {
  return Object.fromEntries(
    Object.entries(index).map(([key, { version, headline }]) => [key, { version, headline: unverified(headline) }]),
  );
}
