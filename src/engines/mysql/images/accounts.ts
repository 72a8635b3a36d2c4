import type { Flavour } from '../catalog/introspect.ts';
import { quoteAccount, quoteName, quoteText } from '../connection/quote.ts';

/** User of every server on an image, and DEFINER of the objects that are loaded into it. */
export const USER = 'tool';
const ACCOUNT = quoteAccount(USER, '%');

/** Returns statements that create the account of a load, which creates the plain user that restores the content. */
export function loadingAccount(password: string): string[] {
  return [
    `CREATE USER ${ACCOUNT} IDENTIFIED BY ${quoteText(password)}`,
    `GRANT ALL ON *.* TO ${ACCOUNT} WITH GRANT OPTION`,
  ];
}

/** Accounts and rights, and the libraries and other servers that a server uses. */
const TABLES = ['db', 'tables_priv', 'columns_priv', 'procs_priv', 'proxies_priv', 'servers', 'func', 'plugin'];
const OWN_TABLES: Record<Flavour, string[]> = {
  mariadb: ['global_priv', 'roles_mapping'],
  mysql: ['role_edges', 'default_roles', 'global_grants', 'password_history', 'component'],
};

/** Owners of the server's own views, as which nobody can log in. */
const OWNERS = "User IN ('mysql.infoschema', 'mysql.session', 'mysql.sys') AND Host = 'localhost'";
const OWN_STATEMENTS: Record<Flavour, string[]> = {
  mariadb: [],
  mysql: [
    `DELETE FROM mysql.user WHERE NOT (${OWNERS})`,
    "UPDATE mysql.user SET account_locked = 'Y', authentication_string = '', plugin = 'caching_sha2_password'",
  ],
};

/** Rights that reach no files, settings, accounts and other users' data of this machine. */
const RIGHTS_ON_SERVER = 'PROCESS, RELOAD';

/**
 * Returns statements that leave nothing of the accounts of an image, and create one with a password and rights on the
 * database and on those named after it.
 */
export function onlyAccount(flavour: Flavour, { database, password }: { database: string; password: string }) {
  const pattern = database.replaceAll(/[_%\\]/g, '\\$&');
  return [
    ...[...TABLES, ...OWN_TABLES[flavour]].map((table) => `DELETE FROM ${quoteName('mysql')}.${quoteName(table)}`),
    ...OWN_STATEMENTS[flavour],
    'FLUSH PRIVILEGES',
    `CREATE USER ${ACCOUNT} IDENTIFIED BY ${quoteText(password)}`,
    `GRANT ${RIGHTS_ON_SERVER} ON *.* TO ${ACCOUNT}`,
    // A test of an application has databases of its own, and a load one beside the destination.
    ...[pattern, `${pattern}\\_%`, `${pattern}.%`].map((name) => `GRANT ALL ON ${quoteName(name)}.* TO ${ACCOUNT}`),
  ];
}
