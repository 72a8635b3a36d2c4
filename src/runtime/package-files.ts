import { readFileSync } from 'node:fs';

/** The package's folder: two levels above this file, one above `dist/`. */
const ROOT = import.meta.url.endsWith('.ts') ? '../..' : '..';

export function assetUrl(name: string): URL {
  return new URL(`${ROOT}/assets/${name}`, import.meta.url);
}

export function readVersion(): string {
  const manifest = readFileSync(new URL(`${ROOT}/package.json`, import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
