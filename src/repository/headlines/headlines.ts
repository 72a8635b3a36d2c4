import * as v from 'valibot';
import { mapWithConcurrency } from '../../runtime/map-with-concurrency.ts';
import { isDamage, manifestKey, type Repository } from '../repository.ts';
import type { Store, StoredFile } from '../store/store.ts';
import { headlineOf, headlineSchema, type VerifiedHeadline } from './headline.ts';

export interface HeadlinesOptions {
  repository: Repository;
  /** In the working directory. */
  cache: Store;
}

export interface HeadlinesRequest {
  /** Default: all targets. */
  target?: string | undefined;
  /** Ends the reading early: the newest snapshots are enough. Default: all are read. */
  isEnough?: ((newest: VerifiedHeadline[]) => boolean) | undefined;
}

const verifiedSchema = v.custom<VerifiedHeadline>((value) => v.is(headlineSchema, value));

/** Format 1 also held entries of an index in the bucket, which was not signed. */
const indexSchema = v.object({
  format: v.literal(2),
  headlines: v.record(v.string(), v.object({ version: v.string(), headline: verifiedSchema })),
});

type Index = v.InferOutput<typeof indexSchema>['headlines'];

const AT_ONCE = 16;

/**
 * The headlines of a remote repository, newest first. Each comes from a manifest that this machine read, now or under
 * the same version before: no summary of another decides what is shown or chosen.
 */
export async function readHeadlines(
  { repository, cache }: HeadlinesOptions,
  { target, isEnough }: HeadlinesRequest = {},
): Promise<VerifiedHeadline[]> {
  const files = await repository.files(target);
  const groups = [...Map.groupBy(files, ({ key }) => `index/${key.split('/')[1]}.json`)];
  const cached = await mapWithConcurrency(groups, AT_ONCE, async ([key, group]) =>
    current(await readIndex(cache, key), group),
  );
  const known: Index = Object.assign({}, ...cached);
  const read = new Set<string>();
  const headlines = (some: StoredFile[]) => some.flatMap(({ key }) => known[key]?.headline ?? []);
  const step = isEnough ? AT_ONCE : Math.max(files.length, 1);
  try {
    for (let end = step; ; end += step) {
      const unread = files.slice(end - step, end).filter(({ key }) => !(key in known));
      await mapWithConcurrency(unread, AT_ONCE, async ({ key, version }) => {
        const manifest = await repository.read(key);
        if (!manifest) return;
        known[key] = { version, headline: headlineOf(manifest) };
        read.add(key);
      });
      const newest = headlines(files.slice(0, end));
      if (end >= files.length || isEnough?.(newest)) return newest;
    }
  } finally {
    // After a timeout too: the next call continues.
    for (const [key, group] of groups) {
      if (!group.some((file) => read.has(file.key))) continue;
      const entries = group.flatMap((file) => (known[file.key] ? [[file.key, known[file.key]] as const] : []));
      await cache.write(key, JSON.stringify({ format: 2, headlines: Object.fromEntries(entries) }));
    }
  }
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
