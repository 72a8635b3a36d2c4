import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Staging folders of killed runs; one without owner is removed after a minute. */
export async function stagingLeftovers(workingDirectory: string): Promise<string[]> {
  const root = join(workingDirectory, 'staging');
  const names = await readdir(root).catch(() => []);
  return names.filter((name) => existsSync(join(root, name, 'owner.json')));
}
