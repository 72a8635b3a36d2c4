import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { writePrivateFile } from '../runtime/write-file.ts';
import { parseJsonAs } from '../text/parse-json.ts';
import { type CloudClient, pagesOf } from './client.ts';
import { type CloudTarget, targetPageSchema } from './contract/resources.ts';

const cacheSchema = v.object({
  /** Hash of hub and token: another user sees other targets. */
  of: v.string(),
  at: v.string(),
  pages: v.array(v.object({ etag: v.nullable(v.string()), page: targetPageSchema })),
});
type Cache = v.InferOutput<typeof cacheSchema>;

export interface CacheOptions {
  /** The working directory. */
  directory: string;
  endpoint: string;
  token: string;
}

export interface CachedTargets {
  targets: CloudTarget[];
  /** Time of the hub's answer. */
  at: string;
}

function fileIn(directory: string): string {
  return join(directory, 'cache', 'hub-targets.json');
}

function ownerOf({ endpoint, token }: CacheOptions): string {
  return createHash('sha256').update(`${endpoint} ${token}`).digest('hex');
}

/** The targets of the last list; `null` without one, or for another user. Contains no secrets. */
export async function cachedTargets(options: CacheOptions): Promise<CachedTargets | null> {
  const cache = await readCache(options);
  return cache && { targets: cache.pages.flatMap(({ page }) => page.items), at: cache.at };
}

/** Asks the hub for its targets, page by page; what has not changed is not sent again. */
export async function fetchTargets(client: CloudClient, options: CacheOptions, now: Date): Promise<CachedTargets> {
  const known = (await readCache(options))?.pages ?? [];
  const etags: (string | null)[] = [];
  const pages = await pagesOf(client, async (query, index) => {
    const old = known[index];
    const { body, etag } = await client.call('listTargets', { query, etag: old?.etag ?? undefined });
    const page = body ?? old?.page;
    if (!page) throw new Error('the hub answered 304 without a known ETag');
    etags.push(etag);
    return page;
  });
  const cached = pages.map((page, index) => ({ etag: etags[index] ?? null, page }));
  const cache: Cache = { of: ownerOf(options), at: now.toISOString(), pages: cached };
  await writePrivateFile(fileIn(options.directory), JSON.stringify(cache));
  return { targets: pages.flatMap(({ items }) => items), at: cache.at };
}

/** After the refusal of a token nothing of its cache is shown. */
export function removeCache(directory: string): Promise<void> {
  return rm(fileIn(directory), { force: true });
}

async function readCache(options: CacheOptions): Promise<Cache | null> {
  const text = await readFile(fileIn(options.directory), 'utf8').catch(() => '');
  const cache = parseJsonAs(cacheSchema, text);
  return cache?.of === ownerOf(options) ? cache : null;
}
