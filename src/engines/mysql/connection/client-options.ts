import { writeFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import type { Mount } from '../../../process/runner.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { ClientProgram } from '../../facets/connect.ts';
import type { Flavour } from '../catalog/introspect.ts';
import { anyClient } from './tools.ts';
import { dialledAddressOf, type TlsPolicy, tlsPolicyOf } from './url.ts';

const TLS_OPTIONS: Record<Flavour, Record<TlsPolicy, string[]>> = {
  // https://dev.mysql.com/doc/refman/en/connection-options.html#option_general_ssl-mode
  mysql: {
    disabled: ['ssl-mode=DISABLED'],
    preferred: ['ssl-mode=PREFERRED'],
    required: ['ssl-mode=REQUIRED'],
    verify_ca: ['ssl-mode=VERIFY_CA'],
    verify_identity: ['ssl-mode=VERIFY_IDENTITY'],
  },
  // https://mariadb.com/kb/en/mariadb-command-line-client/; MariaDB has one option for both verifications.
  mariadb: {
    disabled: ['skip-ssl'],
    preferred: ['loose-disable-ssl-verify-server-cert'],
    required: ['ssl', 'loose-disable-ssl-verify-server-cert'],
    verify_ca: ['ssl', 'ssl-verify-server-cert'],
    verify_identity: ['ssl', 'ssl-verify-server-cert'],
  },
};

/** Without TLS, MySQL 8 and later encrypt a password with the server's key, which must be requested. */
const OTHER_OPTIONS: Record<Flavour, string[]> = {
  mysql: ['get-server-public-key'],
  mariadb: [],
};

const TLS_FILES = ['ssl-ca', 'ssl-cert', 'ssl-key'];

export interface ClientConnection {
  args: string[];
  env: Record<string, string>;
  mounts: Mount[];
}

/**
 * The connection as an option file of mode 0600 with the password: arguments are visible to every user. It must be
 * the first argument, and excludes `~/.my.cnf`, which would override the confirmed URL. The host is a separate
 * argument, where runners look for it.
 */
export async function connectionOf(url: DatabaseUrl, { flavour, directory }: { flavour: Flavour; directory: string }) {
  const path = join(directory, 'client.cnf');
  await writeFile(path, optionsOf(url, flavour), { mode: 0o600 });
  const address = dialledAddressOf(url);
  const named = TLS_FILES.flatMap((name) => url.parameters[name] ?? []).filter(isAbsolute);
  return {
    args: [`--defaults-file=${path}`, ...('socket' in address ? [] : [`--host=${address.host}`])],
    // MySQL's client reads this file in any case, and it overrides the option file.
    env: { MYSQL_TEST_LOGIN_FILE: join(directory, 'no-logins') },
    mounts: [
      { path: directory },
      ...[...named, ...('socket' in address ? [address.socket] : [])].map(
        (file): Mount => ({ path: file, fileOnly: true }),
      ),
    ],
  };
}

export function optionsOf(url: DatabaseUrl, flavour: Flavour): string {
  const address = dialledAddressOf(url);
  const { charset = 'utf8mb4', ...parameters } = url.parameters;
  const lines = [
    ...('socket' in address ? [`socket=${quote(address.socket)}`] : [`port=${address.port}`, 'protocol=TCP']),
    ...(url.user === null ? [] : [`user=${quote(url.user)}`]),
    ...(url.password === null ? [] : [`password=${quote(url.password)}`]),
    `default-character-set=${quote(charset)}`,
    ...TLS_OPTIONS[flavour][tlsPolicyOf(url)],
    ...OTHER_OPTIONS[flavour],
    ...TLS_FILES.flatMap((name) => (parameters[name] === undefined ? [] : [`${name}=${quote(parameters[name])}`])),
  ];
  return `[client]\n${lines.join('\n')}\n`;
}

/** https://dev.mysql.com/doc/refman/en/option-files.html, "Option file syntax" */
function quote(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}

/** mysql or mariadb for a person; the password is in an option file. */
export async function clientProgram(
  context: EngineContext,
  { url, directory }: { url: DatabaseUrl; directory: string },
): Promise<ClientProgram> {
  const { path: file, flavour } = await anyClient(context);
  const { args, env } = await connectionOf(url, { flavour, directory });
  return { file, args: [...args, `--database=${url.database ?? ''}`], env };
}
