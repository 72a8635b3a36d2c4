import { X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, DEFAULT_CIPHERS } from 'node:tls';
import type { DatabaseUrl } from '../../database-url.ts';

/** TLS of a connection of our own. https://www.postgresql.org/docs/current/libpq-ssl.html */
export interface Encryption {
  /** Continues unencrypted where the server has no TLS, as libpq does with `sslmode=prefer`. */
  isOptional: boolean;
  /** Certificates in PEM that the server's must lead to; `null` where libpq verifies none. */
  roots: string | null;
  /** Verifies the name of the host, too. */
  verifiesHost: boolean;
  client: { certificate: string; key: string } | null;
  channelBinding: 'disable' | 'prefer' | 'require';
}

const MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'];
const BINDINGS = ['disable', 'prefer', 'require'] as const;

/** Parameters of a URL that `readEncryption` knows, and their values; `null`: any file. */
const PARAMETERS = new Map<string, readonly string[] | null>([
  ['sslmode', MODES],
  ['channel_binding', BINDINGS],
  ['gssencmode', ['disable', 'prefer']],
  ['sslsni', ['1']],
  ['sslrootcert', null],
  ['sslcert', null],
  ['sslkey', null],
  ...['keepalives', 'keepalives_idle', 'keepalives_interval', 'keepalives_count'].map((name) => [name, null] as const),
]);

/**
 * Returns how libpq would encrypt a connection by this URL, `encryption: null` for a plain one, or `null` where only
 * libpq knows.
 */
export async function readEncryption(
  { parameters, hosts: [host] }: Pick<DatabaseUrl, 'parameters' | 'hosts'>,
  environment: NodeJS.ProcessEnv,
): Promise<{ encryption: Encryption | null } | null> {
  if (!Object.entries(parameters).every(isKnown)) return null;
  const { sslmode = 'prefer', channel_binding = 'prefer' } = parameters;
  const channelBinding = BINDINGS.find((name) => name === channel_binding) ?? 'require';
  // libpq begins without TLS in these modes, and knows none in a socket's folder. It may continue otherwise: this does not.
  if (sslmode === 'disable' || sslmode === 'allow' || host?.host.startsWith('/')) {
    return channelBinding === 'require' ? null : { encryption: null };
  }
  const files = await findFiles(parameters, environment);
  if (!files || (files.roots === null && sslmode.startsWith('verify'))) return null;
  const encryption = {
    isOptional: sslmode === 'prefer' && channelBinding !== 'require',
    verifiesHost: sslmode === 'verify-full',
    ...{ ...files, channelBinding },
  };
  return { encryption };
}

function isKnown([name, value]: [string, string]): boolean {
  const known = PARAMETERS.get(name);
  return known === null ? value !== '' : (known?.includes(value) ?? false);
}

/** libpq 16 knows this word, older ones a file. */
const SYSTEM_ROOTS = 'system';

/** The files that libpq reads, also those that it looks for in the home folder. `null` where it cannot be told which. */
async function findFiles({ sslrootcert, sslcert, sslkey }: DatabaseUrl['parameters'], environment: NodeJS.ProcessEnv) {
  if (process.platform === 'win32' || sslrootcert === SYSTEM_ROOTS) return null;
  try {
    // libpq 15 and newer prefer HOME, older ones the user's entry. Programs do not tell which libpq they have.
    const homes = [...new Set([environment.HOME || userInfo().homedir, userInfo().homedir])];
    const folders: string[] = [];
    for (const folder of homes.map((home) => join(home, '.postgresql')))
      if (await isThere(folder)) folders.push(folder);
    const [folder = null, ...others] = folders;
    if (others.length > 0) return null;
    const byDefault = async (name: string): Promise<string | undefined> => {
      const path = folder === null ? null : join(folder, name);
      return path !== null && (await isThere(path)) ? path : undefined;
    };
    if (await byDefault('root.crl')) return null;
    const roots = sslrootcert ?? (await byDefault('root.crt'));
    const certificate = sslcert ?? (await byDefault('postgresql.crt'));
    const key = sslkey ?? (await byDefault('postgresql.key'));
    if (certificate === undefined ? sslkey !== undefined : key === undefined) return null;
    if (key !== undefined && !(await isPrivate(key))) return null;
    return {
      roots: roots === undefined ? null : await readFile(roots, 'utf8'),
      client:
        certificate === undefined || key === undefined
          ? null
          : { certificate: await readFile(certificate, 'utf8'), key: await readFile(key, 'utf8') },
    };
  } catch {
    return null;
  }
}

/** libpq refuses a key that others may read, or the group where its owner is not root. */
async function isPrivate(path: string): Promise<boolean> {
  const { mode, uid } = await stat(path);
  return (mode & (uid === 0 ? 0o037 : 0o077)) === 0;
}

/** Throws where it cannot be told. */
export async function isThere(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return false;
      throw error;
    },
  );
}

export function isOfThisMachine(host: string): boolean {
  return host.startsWith('/') || host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** libpq's least version; another level of security than that of its library must not make this accept more. */
const LIMITS = { minVersion: 'TLSv1.2', ciphers: `${DEFAULT_CIPHERS}:@SECLEVEL=2` } as const;

export function tlsOptions({ roots, verifiesHost, client }: Encryption, host: string): ConnectionOptions {
  return {
    ...LIMITS,
    rejectUnauthorized: roots !== null,
    ...(roots !== null && { ca: [roots] }),
    ...(client && { cert: client.certificate, key: client.key }),
    checkServerIdentity: (_, { raw }) =>
      verifiesHost && !isNamed(new X509Certificate(raw), host)
        ? new Error(`the certificate of the server is not that of ${host}`)
        : undefined,
  };
}

/** Reports whether libpq would accept the certificate for the host, or less often: never for a name that it would refuse. */
function isNamed(certificate: X509Certificate, host: string): boolean {
  if (isIP(host) !== 0) return certificate.checkIP(host) !== undefined;
  // libpq knows one common name; each of several would do here.
  const names = certificate.subject.match(/\bCN=/g) ?? [];
  return names.length <= 1 && certificate.checkHost(host, { partialWildcards: false }) !== undefined;
}
