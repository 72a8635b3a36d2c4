import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expandHome } from './resolve-paths.ts';

export interface Lookup {
  /** The file given with `--config`; it must exist. Without it the usual places are searched. */
  file?: string | undefined;
  environment: NodeJS.ProcessEnv;
  cwd: string;
}

/** Where a configuration is looked for, in this order. */
export const USUAL_PLACES = ['./tool.yml', '~/.config/tool/tool.yml'];

/** Absolute path of the configuration file; `null` when it is in none of the usual places. */
export async function findFile({ file, environment, cwd }: Lookup): Promise<string | null> {
  if (file !== undefined) return resolve(cwd, file);
  for (const place of USUAL_PLACES) {
    const path = resolve(cwd, expandHome(place, environment));
    if (await exists(path)) return path;
  }
  return null;
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}
