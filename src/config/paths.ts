import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** The file that `config init` writes, and the second place that is searched. */
export function userConfigFile(environment: NodeJS.ProcessEnv): string {
  return join(homeOf(environment), '.config', 'tool', 'tool.yml');
}

/** An absolute path: `~` is the home directory, a relative one starts at the given folder. */
export function absolutePath(
  path: string,
  { from, environment }: { from: string; environment: NodeJS.ProcessEnv },
): string {
  if (path === '~') return homeOf(environment);
  if (/^~[/\\]/.test(path)) return join(homeOf(environment), path.slice(2));
  return resolve(from, path);
}

function homeOf(environment: NodeJS.ProcessEnv): string {
  return environment.HOME || environment.USERPROFILE || homedir();
}
