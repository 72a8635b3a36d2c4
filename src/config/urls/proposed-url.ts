import { joinParts, partsOf, type RawParts } from './raw-parts.ts';
import { decoded, urlParts } from './url-parts.ts';

const LOCAL_HOST = /^(localhost|127(\.\d+){3}|\[::1\]|)$/i;

/**
 * `postgres://app@localhost/shop_dev`: the source's database with a suffix. On the source's server only where that is
 * this machine: never beside production. `null` where the URL cannot be read.
 */
export function urlWithSuffix(source: string, suffix: string): string | null {
  const parts = partsOf(source);
  if (!parts?.database || namesDatabase(source)) return null;
  const database = `${parts.database}${suffix}`;
  return isLocal(source, parts)
    ? joinParts({ ...parts, database })
    : joinParts({ ...parts, database, host: 'localhost', port: '', password: '', rest: '' });
}

/** The database for a subset of a source: on the server of its destination, where there is one, and never that database. */
export function proposedSubsetUrl(source: string, destination: string | undefined): string | null {
  const parts = destination === undefined ? null : partsOf(destination);
  const database = partsOf(source)?.database;
  if (destination === undefined || !database) return urlWithSuffix(source, SUBSET);
  if (!parts || namesDatabase(source) || namesDatabase(destination)) return null;
  const name = `${database}${SUBSET}`;
  return joinParts({ ...parts, database: decoded(name) === decoded(parts.database) ? `${name}${SUBSET}` : name });
}

const SUBSET = '_subset';

/** Reports whether a parameter wins over the database of the path. */
function namesDatabase(url: string): boolean {
  return urlParts(url)?.parameters.some(([name]) => name === 'dbname') ?? false;
}

/** Parameters win over the host; a service may name another. */
function isLocal(url: string, { host }: RawParts): boolean {
  const elsewhere = ([name, value]: [string, string]): boolean =>
    name === 'service' || (/^host(addr)?$/.test(name) && !value.startsWith('/') && !LOCAL_HOST.test(value));
  return LOCAL_HOST.test(host) && !(urlParts(url)?.parameters.some(elsewhere) ?? false);
}
