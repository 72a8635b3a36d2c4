import { urlParts } from '../../../config/urls/url-parts.ts';

/** The variables of Laravel, which state the URL together. */
export const COMPOSED_KEYS = ['DB_CONNECTION', 'DB_HOST', 'DB_PORT', 'DB_DATABASE', 'DB_USERNAME', 'DB_PASSWORD'];

/** The URL that variables state, on any host, without the parameters and driver of the framework; `null` for none. */
export function connectionText(variables: NodeJS.Dict<string>, key: string): string | null {
  const value = key === 'DB_DATABASE' ? composed(variables) : variables[key];
  const { scheme = '', user = '', hosts = '', path = '' } = urlParts(value ?? '') ?? {};
  const known = SCHEMES.get(scheme.split('+')[0] ?? '');
  if (!known || path.length < 2) return null;
  return `${known}://${user === '' ? '' : `${user}@`}${hosts}/${encodeURIComponent(path.slice(1))}`;
}

function composed(variables: NodeJS.Dict<string>): string | undefined {
  const { DB_CONNECTION, DB_HOST = '127.0.0.1', DB_PORT, DB_DATABASE, DB_USERNAME, DB_PASSWORD } = variables;
  const scheme = SCHEMES.get(DB_CONNECTION ?? '');
  if (!scheme || !DB_DATABASE) return undefined;
  const user = encodeURIComponent(DB_USERNAME ?? '');
  const login = DB_PASSWORD ? `${user}:${encodeURIComponent(DB_PASSWORD)}` : user;
  const port = DB_PORT ? `:${DB_PORT}` : '';
  return `${scheme}://${login === '' ? '' : `${login}@`}${DB_HOST}${port}/${encodeURIComponent(DB_DATABASE)}`;
}

/** The scheme of a URL, without a driver (`postgresql+psycopg`), or the name of a connection. */
const SCHEMES = new Map(
  Object.entries({
    postgres: 'postgres',
    postgresql: 'postgres',
    pgsql: 'postgres',
    postgis: 'postgres',
    ecto: 'postgres',
    mysql: 'mysql',
    mysql2: 'mysql',
    trilogy: 'mysql',
    mariadb: 'mysql',
  }),
);
