import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve, sep } from 'node:path';

/** The file of `config init`, and the second place of the search. */
export function userConfigFile(environment: NodeJS.ProcessEnv): string {
  return join(homeOf(environment), '.config', 'tool', 'tool.yml');
}

export function absolutePath(
  path: string,
  { from, environment }: { from: string; environment: NodeJS.ProcessEnv },
): string {
  if (path === '~') return homeOf(environment);
  if (/^~[/\\]/.test(path)) return join(homeOf(environment), path.slice(2));
  return resolve(from, path);
}

export function homeOf(environment: NodeJS.ProcessEnv): string {
  return environment.HOME || environment.USERPROFILE || homedir();
}

/** Relative to the current or the home folder, for display. */
export function shortPath(path: string, { environment, cwd }: { environment: NodeJS.ProcessEnv; cwd: string }): string {
  if (dirname(path) === cwd) return `./${basename(path)}`;
  const home = homeOf(environment);
  return path.startsWith(join(home, sep)) ? `~${path.slice(home.length)}` : path;
}

export async function firstFile(paths: string[]): Promise<string | null> {
  for (const path of paths) {
    const stats = await stat(path).catch(() => null);
    if (stats?.isFile()) return path;
  }
  return null;
}
