import type { CloudClient } from '../client.ts';

/** Signed URLs of the objects of one snapshot, requested in batches and renewed before they expire. */
export interface DownloadUrls {
  find(sha256: string): Promise<string>;
  /** Drops a rejected URL. */
  forget(sha256: string): void;
}

/** In one request; the hub takes 200. */
const OBJECTS_AT_ONCE = 100;

/** A URL is valid for 15 minutes. */
const REUSE_MS = 10 * 60_000;

export interface DownloadUrlsOptions {
  client: CloudClient;
  target: string;
  snapshot: string;
  /** All of the snapshot. */
  sha256s: string[];
}

export function createDownloadUrls({ client, target, snapshot, sha256s }: DownloadUrlsOptions): DownloadUrls {
  const known = new Map<string, { href: string; at: number }>();
  const asking = new Map<number, Promise<void>>();
  const chunks = new Map(sha256s.map((sha256, index) => [sha256, Math.floor(index / OBJECTS_AT_ONCE)]));

  async function ask(chunk: number): Promise<void> {
    const objects = sha256s.slice(chunk * OBJECTS_AT_ONCE, (chunk + 1) * OBJECTS_AT_ONCE);
    const request = { parameters: { name: target, snapshot }, body: { objects } };
    const { body } = await client.call('requestDownloads', request);
    for (const { sha256, href } of body?.objects ?? []) known.set(sha256, { href, at: performance.now() });
  }

  return {
    async find(sha256) {
      const found = known.get(sha256);
      if (found && performance.now() - found.at <= REUSE_MS) return found.href;
      known.delete(sha256);
      const chunk = chunks.get(sha256) ?? 0;
      const asked = asking.get(chunk) ?? ask(chunk).finally(() => asking.delete(chunk));
      asking.set(chunk, asked);
      await asked;
      const href = known.get(sha256)?.href;
      if (href === undefined) throw client.invalid('the response lacks an object');
      return href;
    },
    forget: (sha256) => void known.delete(sha256),
  };
}
