import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { isOfThisMachine, isThere, readEncryption } from './encryption.ts';
import { portOf } from './url.ts';
import type { WireAddress } from './wire-login.ts';

/** `PG…` of the environment would have libpq connect in another way. */
const OF_LIBPQ = /^PG[A-Z]+$/;

/**
 * Returns the address for a connection of our own, which follows libpq's rules where one host and nothing but the URL
 * determines them. `null` in all other cases: only libpq knows all of its ways to connect and to encrypt.
 */
export async function directAddress(
  { runner, environment }: Pick<EngineContext, 'runner' | 'environment'>,
  url: DatabaseUrl,
): Promise<WireAddress | null> {
  const [host, ...others] = url.hosts;
  const { user, password, database } = url;
  if (!host || others.length > 0 || host.host === '' || user === null || database === null) return null;
  if (runner.id !== 'local' || url.inContainer) return null;
  if (Object.keys(environment).some((name) => OF_LIBPQ.test(name))) return null;
  const found = await readEncryption(url, environment);
  if (!found) return null;
  const { encryption } = found;
  const mayBePlain = encryption === null || encryption.isOptional;
  if (mayBePlain && !isOfThisMachine(host.host) && (await mayHaveTickets(environment))) return null;
  return { host: host.host, port: portOf(host, environment), user, password, database, encryption };
}

/** With a ticket of Kerberos libpq encrypts by GSSAPI, where this would not encrypt. */
async function mayHaveTickets(environment: NodeJS.ProcessEnv): Promise<boolean> {
  if (process.platform !== 'linux' || Object.keys(environment).some((name) => name.startsWith('KRB5'))) return true;
  return await isThere('/etc/krb5.conf').catch(() => true);
}
