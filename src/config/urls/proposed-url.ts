import { joinParts, partsOf } from './raw-parts.ts';

const LOCAL_HOST = /^(localhost|127(\.\d+){3}|\[::1\]|)$/i;

/**
 * `postgres://app@localhost/shop_dev`: the source's database with a suffix. On the source's server only where that is
 * this machine: never beside production. `null` where the URL cannot be read.
 */
export function urlWithSuffix(source: string, suffix: string): string | null {
  const parts = partsOf(source);
  if (!parts?.database) return null;
  const database = `${parts.database}${suffix}`;
  return LOCAL_HOST.test(parts.host)
    ? joinParts({ ...parts, database })
    : joinParts({ ...parts, database, host: 'localhost', port: '', password: '', rest: '' });
}

/** The database for a subset of a source: on the server of its destination, where there is one, and never that database. */
export function proposedSubsetUrl(source: string, destination: string | undefined): string | null {
  const parts = destination === undefined ? null : partsOf(destination);
  const database = partsOf(source)?.database;
  if (destination === undefined || !database) return urlWithSuffix(source, SUBSET);
  if (!parts) return null;
  const name = `${database}${SUBSET}`;
  return joinParts({ ...parts, database: name === parts.database ? `${name}${SUBSET}` : name });
}

const SUBSET = '_subset';
