import { normalize } from 'node:path';

/** The variable of an environment file that has the URL. */
const VARIABLE = /^[A-Z][A-Z0-9_]{0,99}$/;
/** Keys of maps: `development.database`. */
const PATH = /^[A-Za-z_][\w-]{0,62}(?:\.[A-Za-z_][\w-]{0,62}){0,4}$/;

const ENVIRONMENT = /^(?:[^/\\\0]+\/)*\.env(?:\.[\w-]+)*$/;
const YAML = /^(?:[^/\\\0]+\/)*[\w-][\w.-]*\.ya?ml$/;

/** Reports whether a path is `.env`, `.env.NAME` or such a file in folders of the tree, but none of git. */
export function isEnvironmentFile(path: string): boolean {
  return isInTree(path) && ENVIRONMENT.test(path);
}

export function isYamlFile(path: string): boolean {
  return isInTree(path) && YAML.test(path);
}

export function isKeyOf(file: string, key: string): boolean {
  return isYamlFile(file) ? PATH.test(key) : isEnvironmentFile(file) && VARIABLE.test(key);
}

function isInTree(path: string): boolean {
  return path.length <= 500 && normalize(path) === path && !/(?:^|\/)\.(?:git|\.)\//i.test(path);
}
