import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { getAsset, isSea } from 'node:sea';
import { pathToFileURL } from 'node:url';

/** The package's folder: two levels above this file, one above `dist/`. */
const ROOT = import.meta.url.endsWith('.ts') ? '../..' : '..';

/** The text of a file of `assets/`. */
export function readAsset(name: string): string {
  return readPackageFile(`assets/${name}`);
}

export function readVersion(): string {
  return (JSON.parse(readPackageFile('package.json')) as { version: string }).version;
}

/** Returns the URL of an `assets/` file for editors; a single executable first writes it to the user's cache folder. */
export function assetUrl(name: string, environment: NodeJS.ProcessEnv = process.env): URL {
  const text = readFromExecutable(`assets/${name}`);
  if (text === null) return new URL(`${ROOT}/assets/${name}`, import.meta.url);
  const folder = join(environment.XDG_CACHE_HOME || join(homedir(), '.cache'), 'tool');
  const file = join(folder, name);
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${file}.${process.pid}.tmp`, text);
    renameSync(`${file}.${process.pid}.tmp`, file);
  } catch {
    // An editor without completion is no reason to fail.
  }
  return pathToFileURL(file);
}

function readPackageFile(name: string): string {
  return readFromExecutable(name) ?? readFileSync(new URL(`${ROOT}/${name}`, import.meta.url), 'utf8');
}

/** `null` outside of a single executable, which carries the files of the package. */
function readFromExecutable(name: string): string | null {
  return isSea() ? getAsset(name, 'utf8') : null;
}
