import { isIP, isIPv6 } from 'node:net';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import {
  assertHost,
  assertReachable,
  assertTunnel,
  assertUnambiguous,
  decodePart,
  localPortsOf,
  malformedUrl,
  readBracketed,
  readParameters,
  readPort,
} from '../../shared/connection/url-parts.ts';
import { withTunnel } from '../../tunnel-address.ts';
import { writeParameters } from '../../url-parameters.ts';
import { profile } from '../profile.ts';

const SHAPE =
  /^(?<scheme>mysql|mariadb|mydocker):\/\/(?:(?<userinfo>[^/?#]*)@)?(?<host>\[[^\]/?#]*\]|[^:/?#]*)(?::(?<port>[^/?#]*))?(?:\/(?<database>[^?#]*))?(?:\?(?<parameters>[^#]*))?$/is;
const IN_CONTAINER = profile.containerScheme;
const DEFAULT_PORT = 3306;
const DEFAULT_HOST = 'localhost';
const DEFAULT_SOCKET = '/var/run/mysqld/mysqld.sock';

/** `mysql://user:password@host:3306/database?tls=required&socket=/run/mysqld/mysqld.sock` */
export function parseMysqlUrl(text: string): DatabaseUrl {
  assertUnambiguous(text);
  const groups = SHAPE.exec(text)?.groups;
  if (!groups) throw malformedUrl('expected mysql://user:password@host:port/database');
  const parameters = Object.fromEntries(readParameters(groups.parameters ?? '', profile));
  const [user = '', ...password] = (groups.userinfo ?? '').split(':');
  const bracketed = /^\[(.*)\]$/s.exec(groups.host ?? '')?.[1];
  const host = bracketed === undefined ? decodePart(groups.host ?? '') : readBracketed(bracketed);
  assertHost(host);
  const database = decodePart(groups.database ?? '');
  const url: DatabaseUrl = {
    engine: 'mysql',
    user: user === '' ? null : decodePart(user),
    password: password.length === 0 ? null : decodePart(password.join(':')),
    hosts: [{ host, port: readPort(groups.port ?? '') }],
    database: database === '' ? null : database,
    parameters,
    inContainer: groups.scheme?.toLowerCase() === IN_CONTAINER,
    display: '',
    toJSON: () => url.display,
  };
  const { charset } = parameters;
  if (charset !== undefined && !/^\w{1,32}$/.test(charset)) throw malformedUrl('charset is not the name of one');
  // The driver verifies host names only.
  if (tlsPolicyOf(url) === 'verify_identity' && isIP(host)) {
    throw malformedUrl(
      `a certificate is verified for a host's name, and ${host} is an address; tls=verify_ca takes any`,
    );
  }
  assertTunnel(url);
  url.display = displayOf(url);
  return url;
}

export function withDatabase(url: DatabaseUrl, database: string | null): DatabaseUrl {
  const other: DatabaseUrl = { ...url, database, toJSON: () => other.display };
  other.display = displayOf(other);
  return other;
}

/** The same place, as another user. */
export function withUser(url: DatabaseUrl, { user, password }: { user: string; password: string }): DatabaseUrl {
  const other: DatabaseUrl = { ...url, user, password, toJSON: () => other.display };
  other.display = displayOf(other);
  return other;
}

export type Address = { socket: string } | { host: string; port: number };

/** Returns the address by the rules of the client programs: the default socket without host and port. */
export function addressOf({ hosts: [given], parameters }: DatabaseUrl): Address {
  if (parameters.socket !== undefined) return { socket: parameters.socket };
  const { host = '', port = null } = given ?? {};
  if (host.startsWith('/')) return { socket: host };
  if (host === '' && port === null) return { socket: DEFAULT_SOCKET };
  return { host: host === '' ? DEFAULT_HOST : host, port: port ?? DEFAULT_PORT };
}

/** The address to connect to: that of the tunnel, if any. */
export function dialledAddressOf(url: DatabaseUrl): Address {
  const [port] = localPortsOf(url) ?? [];
  return port === undefined ? addressOf(url) : { host: LOOPBACK, port };
}

const LOOPBACK = '127.0.0.1';

export function writeAddress(address: Address): string {
  return 'socket' in address ? address.socket : `${address.host}:${address.port}`;
}

export type TlsPolicy = 'disabled' | 'preferred' | 'required' | 'verify_ca' | 'verify_identity';

/** Words of MySQL's clients, libpq, Go's driver and JDBC. */
const TLS_WORDS: [TlsPolicy, string[]][] = [
  ['disabled', ['disabled', 'disable', 'false']],
  ['preferred', ['allow', 'prefer', 'preferred']],
  ['required', ['skip-verify', 'require', 'required']],
  ['verify_ca', ['verify-ca', 'verify_ca']],
  ['verify_identity', ['true', 'verify-full', 'verify_identity', 'verify-identity']],
];

/** From `tls`, `sslmode` or `ssl-mode`; by default TLS where the server offers it. */
export function tlsPolicyOf({ parameters }: Pick<DatabaseUrl, 'parameters'>): TlsPolicy {
  const word = parameters.tls ?? parameters.sslmode ?? parameters['ssl-mode'];
  if (word === undefined) return 'preferred';
  const known = TLS_WORDS.find(([, words]) => words.includes(word.toLowerCase()));
  if (known) return known[0];
  throw malformedUrl(`tls=${word} is not one of disabled, preferred, required, verify_ca, verify_identity`);
}

/** With its parameters, which `display` leaves out. */
export function urlWithPassword(url: DatabaseUrl): string {
  assertReachable(url);
  const { hosts, parameters } = throughTunnel(url);
  return `${writeUrl({ ...url, hosts }, url.password)}${writeParameters(parameters)}`;
}

function throughTunnel({ hosts, parameters, localPorts }: DatabaseUrl): Pick<DatabaseUrl, 'hosts' | 'parameters'> {
  if (!localPorts) return { hosts, parameters };
  const { tunnel: _, ...others } = parameters;
  return { hosts: localPorts.map((port) => ({ host: LOOPBACK, port })), parameters: others };
}

function displayOf(url: DatabaseUrl): string {
  return withTunnel(writeUrl(url), url.parameters.tunnel);
}

/** Returns variables of the client programs, and those by which images and frameworks name the same. */
export function urlVariables(url: DatabaseUrl): Record<string, string> {
  const { user, password, database, parameters } = url;
  const [given] = throughTunnel(url).hosts;
  const port = given?.port?.toString();
  const variables = {
    MYSQL_HOST: given?.host,
    MYSQL_PORT: port,
    MYSQL_TCP_PORT: port,
    MYSQL_UNIX_PORT: parameters.socket,
    MYSQL_USER: user,
    MYSQL_PWD: password,
    MYSQL_PASSWORD: password,
    MYSQL_DATABASE: database,
  };
  return Object.fromEntries(Object.entries(variables).flatMap(([name, value]) => (value ? [[name, value]] : [])));
}

function writeUrl({ user, hosts: [given], database, inContainer }: DatabaseUrl, password: string | null = null) {
  const secret = password === null ? '' : `:${encodeURIComponent(password)}`;
  const userinfo = user === null && password === null ? '' : `${encodeURIComponent(user ?? '')}${secret}@`;
  const { host = '', port = null } = given ?? {};
  const name = isIPv6(host) ? `[${host}]` : encodeURIComponent(host);
  return `${inContainer ? IN_CONTAINER : 'mysql'}://${userinfo}${name}${port === null ? '' : `:${port}`}/${encodeURIComponent(database ?? '')}`;
}

/** Some systems ignore case: see `identityOf`. */
export function databaseOf(_context: EngineContext, { database }: DatabaseUrl): string | null {
  return database?.toLowerCase() ?? null;
}
