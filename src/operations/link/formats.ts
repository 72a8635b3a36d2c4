import { YAML_KEYS } from '../configuration/database-yaml.ts';
import { PROJECT_FILES, PROJECT_KEYS, PROJECT_YAML } from '../configuration/project-database.ts';
import { environmentFile } from './environment-file.ts';
import type { FileFormat } from './file-format.ts';
import { isEnvironmentFile, isKeyOf, isYamlFile } from './names.ts';
import { refused } from './tree-file.ts';
import { yamlFile } from './yaml-file.ts';

/** Files that are searched for the URL of the application, in this order. */
export const LINK_FILES = [...PROJECT_FILES, PROJECT_YAML];

export function formatOf(file: string): FileFormat {
  return isYamlFile(file) ? yamlFile : environmentFile;
}

/** Keys that are searched for the URL, in this order. */
export function keysIn(file: string): string[] {
  return isYamlFile(file) ? YAML_KEYS : PROJECT_KEYS;
}

/** Refuses names of a file and a key that the memory of a link cannot have. */
export function assertNames({ file, key }: { file?: string | undefined; key?: string | undefined }): void {
  if (file !== undefined && !isEnvironmentFile(file) && !isYamlFile(file)) {
    throw refused(`--file ${file} is not .env, .env.NAME, NAME.yml or such a file in a folder of the tree`);
  }
  if (key !== undefined && !isKeyOf(file ?? '.env', key)) {
    const form = file !== undefined && isYamlFile(file) ? 'no path of keys (development.database)' : NO_VARIABLE;
    throw refused(`--key ${key} ${form}`);
  }
}

const NO_VARIABLE = 'has other characters than A-Z, 0-9 and _ (DATABASE_URL), or more than 100';
