import { readFileSync } from 'node:fs';

/** The package's folder: two above this file, and one above the bundle's `dist/`. */
const ROOT = import.meta.url.endsWith('.ts') ? '../..' : '..';

/** A file of `assets/`. */
export function assetUrl(name: string): URL {
  return new URL(`${ROOT}/assets/${name}`, import.meta.url);
}

/** The version in `package.json`. */
export function readVersion(): string {
  const manifest = readFileSync(new URL(`${ROOT}/package.json`, import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
