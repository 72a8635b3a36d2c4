import { UserError } from '../../runtime/errors.ts';

// The exact names of the program's keys: everything else in a shared folder or bucket is foreign.

export function isObjectKey(key: string): boolean {
  return /^objects\/([0-9a-f]{2})\/\1[0-9a-f]{62}$/.test(key);
}

export function objectKey(sha256: string): string {
  const key = `objects/${sha256.slice(0, 2)}/${sha256}`;
  if (!isObjectKey(key)) throw keyRefused();
  return key;
}

/** The sanitization query of a snapshot: on this machine only, because it may contain a salt. */
export function queryKey(id: string): string {
  const key = `query-texts/${id}.sql`;
  if (!/^query-texts\/[0-9a-f]{8}\.sql$/.test(key)) throw keyRefused();
  return key;
}

export function isManifestKey(key: string): boolean {
  return /^snapshots\/[^/]+\/\d{8}T\d{6}(\d{3})?Z-[0-9a-f]{8}\.json$/.test(key);
}

export function keyRefused(): UserError {
  return new UserError('content_refused', 'A snapshot references a file outside its folder', {
    hint: 'It was forged: nothing was written or removed. Find out where it comes from.',
  });
}
