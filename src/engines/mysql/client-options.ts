import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseUrl } from '../engine.ts';
import type { Flavour } from './catalogue.ts';
import { addressOf, type TlsPolicy, tlsPolicyOf } from './url.ts';

/** What only one flavour's client understands, and the other refuses. */
const TLS_OPTIONS: Record<Flavour, Record<TlsPolicy, string[]>> = {
  // https://dev.mysql.com/doc/refman/en/connection-options.html#option_general_ssl-mode
  mysql: {
    disabled: ['ssl-mode=DISABLED'],
    preferred: ['ssl-mode=PREFERRED'],
    required: ['ssl-mode=REQUIRED'],
    verify_ca: ['ssl-mode=VERIFY_CA'],
    verify_identity: ['ssl-mode=VERIFY_IDENTITY'],
  },
  // https://mariadb.com/kb/en/mariadb-command-line-client/; what MariaDB calls verifying is both at once.
  mariadb: {
    disabled: ['skip-ssl'],
    preferred: ['loose-disable-ssl-verify-server-cert'],
    required: ['ssl', 'loose-disable-ssl-verify-server-cert'],
    verify_ca: ['ssl', 'ssl-verify-server-cert'],
    verify_identity: ['ssl', 'ssl-verify-server-cert'],
  },
};

/** Without TLS a password of MySQL 8 and later travels encrypted by the server's key, which has to be asked for. */
const OTHER_OPTIONS: Record<Flavour, string[]> = {
  mysql: ['get-server-public-key'],
  mariadb: [],
};

/** Names that both flavours share. */
const TLS_FILES = ['ssl-ca', 'ssl-cert', 'ssl-key'];

/**
 * Writes what the client needs to connect into a file that only we can read, password included: arguments are seen by
 * every user of the machine. Handed over as `--defaults-extra-file`, which must come first.
 */
export async function connectionFile(
  url: DatabaseUrl,
  { flavour, directory }: { flavour: Flavour; directory: string },
): Promise<string> {
  const path = join(directory, 'client.cnf');
  await writeFile(path, optionsOf(url, flavour), { mode: 0o600 });
  return path;
}

export function optionsOf(url: DatabaseUrl, flavour: Flavour): string {
  const address = addressOf(url);
  const { charset = 'utf8mb4', ...parameters } = url.parameters;
  const lines = [
    ...('socket' in address
      ? [`socket=${quote(address.socket)}`]
      : [`host=${quote(address.host)}`, `port=${address.port}`, 'protocol=TCP']),
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
