import { readFileSync } from 'node:fs';

/** The program's version. The path holds in `src/` and in the bundle's `dist/` alike. */
export function readVersion(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
