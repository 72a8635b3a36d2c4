import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { urlParts } from '../../config/urls/url-parts.ts';
import { redact } from '../../process/redact.ts';
import { UserError } from '../../runtime/errors.ts';

/** The database of the application in a folder. */
export interface ProjectDatabase {
  /** Name of the file. */
  file: string;
  /** Name of its variable. */
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

/** The variables of Laravel, which state the URL together. */
export const COMPOSED_KEYS = ['DB_CONNECTION', 'DB_HOST', 'DB_PORT', 'DB_DATABASE', 'DB_USERNAME', 'DB_PASSWORD'];

const MOST_BYTES = 64 * 1024;

/** Finds the local database in the environment files of a folder; `null` where none names one. */
export async function findProjectDatabase(folder: string): Promise<ProjectDatabase | null> {
  for (const file of PROJECT_FILES) {
    const text = await readText(join(folder, file)).catch(() => null);
    if (text === null) continue;
    const variables = parseEnv(text);
    for (const key of PROJECT_KEYS) {
      const url = connectionText(variables, key);
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

function urlValue(variables: NodeJS.Dict<string>, key: string): string {
  return (key === 'DB_DATABASE' ? composed(variables) : variables[key]) ?? '';
}

/** The URL that variables state, on any host, without the parameters and driver of the framework; `null` for none. */
export function connectionText(variables: NodeJS.Dict<string>, key: string): string | null {
  const { scheme = '', user = '', hosts = '', path = '' } = urlParts(urlValue(variables, key)) ?? {};
  const known = SCHEMES.get(scheme.split('+')[0] ?? '');
  if (!known || path.length < 2) return null;
  return `${known}://${user === '' ? '' : `${user}@`}${hosts}/${encodeURIComponent(path.slice(1))}`;
}

function composed(variables: NodeJS.Dict<string>): string | undefined {
  const { DB_CONNECTION, DB_HOST = '127.0.0.1', DB_PORT, DB_DATABASE, DB_USERNAME, DB_PASSWORD } = variables;
  const scheme = SCHEMES.get(DB_CONNECTION ?? '');
  if (!scheme || !DB_DATABASE) return undefined;
  const login = [DB_USERNAME, DB_PASSWORD].flatMap((part) => (part ? [encodeURIComponent(part)] : []));
  const port = DB_PORT ? `:${DB_PORT}` : '';
  return `${scheme}://${login.length > 0 ? `${login.join(':')}@` : ''}${DB_HOST}${port}/${encodeURIComponent(DB_DATABASE)}`;
}

/** The scheme of a URL, without a driver (`postgresql+psycopg`), or the name of a connection. */
const SCHEMES = new Map(
  Object.entries({
    postgres: 'postgres',
    postgresql: 'postgres',
    pgsql: 'postgres',
    ecto: 'postgres',
    mysql: 'mysql',
    mysql2: 'mysql',
    mariadb: 'mysql',
  }),
);

/** Any other host may be production. */
const LOCAL_HOST = /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/i;

function isLocal(url: string): boolean {
  return LOCAL_HOST.test(urlParts(url)?.hosts ?? '');
}
