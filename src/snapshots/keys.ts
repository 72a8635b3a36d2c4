// What our keys look like, exactly: in a folder or bucket that others use too, everything else is theirs.

export function isObjectKey(key: string): boolean {
  return /^objects\/([0-9a-f]{2})\/\1[0-9a-f]{62}$/.test(key);
}

export function isManifestKey(key: string): boolean {
  return /^snapshots\/[^/]+\/\d{8}T\d{6}(\d{3})?Z-[0-9a-f]{8}\.json$/.test(key);
}
