import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { urlParts } from '../../config/urls/url-parts.ts';
import { redact } from '../../process/redact.ts';
import { UserError } from '../../runtime/errors.ts';
import { connectionText } from './check/connection-text.ts';
import { databaseYamlUrl, YAML_KEYS } from './database-yaml.ts';

/** The database of the application in a folder. */
export interface ProjectDatabase {
  file: string;
  key: string;
  /** With password, without parameters, which are those of the framework. */
  url: string;
}

/** The first file and the first key win, as in the frameworks. */
export const PROJECT_FILES = ['.env.development.local', '.env.local', '.env.development', '.env'];

/** Rails, Django, Phoenix, Symfony and Prisma; Vercel; Payload; Flask; TypeORM; Laravel. */
const URL_KEYS = [
  'DATABASE_URL',
  'POSTGRES_PRISMA_URL',
  'POSTGRES_URL',
  'MYSQL_URL',
  'DATABASE_URI',
  'SQLALCHEMY_DATABASE_URI',
  'TYPEORM_URL',
  'DB_URL',
];

/** In the order in which they are searched. */
export const PROJECT_KEYS = [...URL_KEYS, 'DB_DATABASE'];

export const PROJECT_YAML = 'config/database.yml';

const MOST_BYTES = 64 * 1024;

/** Finds the local database in the environment files of a folder, then in that of Rails; `null` where none names one. */
export async function findProjectDatabase(folder: string): Promise<ProjectDatabase | null> {
  for (const file of [...PROJECT_FILES, PROJECT_YAML]) {
    const text = await readText(join(folder, file)).catch(() => null);
    if (text === null) continue;
    const isYaml = file === PROJECT_YAML;
    const variables = isYaml ? {} : parseEnv(text);
    for (const key of isYaml ? YAML_KEYS : PROJECT_KEYS) {
      const url = isYaml ? databaseYamlUrl(text, key) : connectionText(variables, key);
      if (url !== null && isLocal(url)) return { file, key, url };
    }
  }
  return null;
}

/** Names the database of the application in the error of a missing destination. */
export async function withProjectDatabase(thrown: unknown, folder: string): Promise<unknown> {
  if (!(thrown instanceof UserError && thrown.code === 'destination_missing')) return thrown;
  const project = await findProjectDatabase(folder);
  const found = project ? ` ${project.key} of ${project.file} is ${redact(project.url)}.` : '';
  return new UserError(thrown.code, thrown.message, { hint: `Pass the destination: --to URL.${found}` });
}

/** `null` for a pipe or a device, which may have no end, and for a large file. */
async function readText(path: string): Promise<string | null> {
  const found = await stat(path);
  return found.isFile() && found.size <= MOST_BYTES ? readFile(path, 'utf8') : null;
}

/** Any other host may be production. */
const LOCAL_HOST = /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/i;

function isLocal(url: string): boolean {
  return LOCAL_HOST.test(urlParts(url)?.hosts ?? '');
}
