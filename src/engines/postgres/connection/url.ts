import { isIP, isIPv6 } from 'node:net';
import { isAbsolute, join } from 'node:path';
import type { Command, Mount } from '../../../process/runner.ts';
import type { DatabaseUrl, Host } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { EngineProfile } from '../../profile.ts';
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
  /^(?<scheme>postgres(?:ql)?|pgdocker):\/\/(?:(?<userinfo>[^/?#]*)@)?(?<hosts>[^/?#]*)(?:\/(?<database>[^?#]*))?(?:\?(?<parameters>.*))?$/is;
const IN_CONTAINER = profile.containerScheme;
const DEFAULT_PORT = 5432;

/**
 * A URL by libpq's rules (host lists, IPv6, unix sockets), which WHATWG's URL lacks.
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
 */
export function parsePostgresUrl(text: string): DatabaseUrl {
  assertUnambiguous(text);
  const groups = SHAPE.exec(text)?.groups;
  if (!groups) throw malformedUrl('expected postgres://user:password@host:port/database');
  const parameters = readParameters(groups.parameters ?? '', profile);
  // libpq has no environment variables for the other secrets.
  const secret = [...parameters.keys()].find((name) => name !== 'password' && PARAMETERS[name] === 'secret');
  if (secret !== undefined) {
    throw malformedUrl(`${secret} would be visible in the process list; use a service file with service=`);
  }
  // As libpq: what JDBC calls `ssl=true`.
  const ssl = take(parameters, 'ssl');
  if (ssl !== undefined && (ssl !== 'true' || parameters.has('sslmode'))) {
    throw malformedUrl('ssl can only be true, and not beside sslmode; use sslmode');
  }
  if (ssl !== undefined) parameters.set('sslmode', 'require');
  const hosts = readHosts(groups.hosts ?? '', { host: take(parameters, 'host'), port: take(parameters, 'port') });
  assertAddresses(parameters.get('hostaddr'), hosts);
  const [user, password] = splitOnce(groups.userinfo ?? '', ':');
  const database = take(parameters, 'dbname') ?? decodePart(groups.database ?? '');
  const url: DatabaseUrl = {
    engine: 'postgres',
    user: take(parameters, 'user') ?? (user === '' ? null : decodePart(user)),
    password: take(parameters, 'password') ?? (password === undefined ? null : decodePart(password)),
    hosts,
    database: database === '' ? null : database,
    parameters: Object.fromEntries(parameters),
    inContainer: groups.scheme?.toLowerCase() === IN_CONTAINER,
    display: '',
    toJSON: () => url.display,
  };
  assertTunnel(url);
  url.display = displayOf(url);
  return url;
}

export function withDatabase(url: DatabaseUrl, database: string): DatabaseUrl {
  return changed(url, { database });
}

/** The same place, as another user. */
export function withUser(url: DatabaseUrl, { user, password }: { user: string; password: string }): DatabaseUrl {
  return changed(url, { user, password });
}

function changed(url: DatabaseUrl, changes: Partial<DatabaseUrl>): DatabaseUrl {
  const other: DatabaseUrl = { ...url, ...changes, toJSON: () => other.display };
  other.display = displayOf(other);
  return other;
}

export type SessionSettings = Record<string, string>;

/** SQL_ASCII names no encoding: its bytes are read and written as they are, and elsewhere text is UTF-8. */
const RAW_ENCODING = 'SQL_ASCII';

export function encodingSettings({ encoding }: { encoding: string }): SessionSettings {
  return encoding === RAW_ENCODING ? { client_encoding: RAW_ENCODING } : {};
}

/**
 * Arguments and environment for a libpq program; the password in the environment only. Settings go into the URL's
 * `options`, which would hide PGOPTIONS, else into PGOPTIONS.
 */
export function connectionEnvironment(
  url: DatabaseUrl,
  { client_encoding = 'UTF8', ...settings }: SessionSettings = {},
): Required<Pick<Command, 'args' | 'env' | 'mounts'>> {
  const options = startupOptions(settings);
  const { hosts, parameters: given } = throughTunnel(url);
  const { options: own, ...parameters } = given;
  const connection = {
    ...{ user: url.user, database: url.database, hosts },
    parameters: { ...parameters, ...(own !== undefined && { options: `${own} ${options}`.trim() }) },
  };
  return {
    args: ['--dbname', writeUrl('postgres', connection)],
    mounts: filesOf(url),
    env: {
      // `failureOf` reads libpq's messages.
      LC_ALL: 'C',
      PGCLIENTENCODING: client_encoding,
      ...(url.password !== null && { PGPASSWORD: url.password }),
      ...(own === undefined && options !== '' && { PGOPTIONS: options }),
    },
  };
}

/** https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNECT-OPTIONS */
export function startupOptions(settings: SessionSettings): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(/[\\\s]/g, '\\$&')}`)
    .join(' ');
}

/** libpq verifies the server's certificate by `host`, and connects to `hostaddr`. */
function throughTunnel(url: DatabaseUrl): Pick<DatabaseUrl, 'hosts' | 'parameters'> {
  const ports = localPortsOf(url);
  if (!ports) return url;
  const { tunnel: _, ...parameters } = url.parameters;
  return {
    hosts: url.hosts.map(({ host }, index) => ({ host, port: ports[index] ?? null })),
    parameters: { ...parameters, hostaddr: ports.map(() => LOOPBACK).join(',') },
  };
}

const LOOPBACK = '127.0.0.1';

const PARAMETERS: EngineProfile['parameters'] = profile.parameters;

/** Single sockets and files: the rest of their folders must not be in a container. */
function filesOf({ hosts, parameters }: DatabaseUrl): Mount[] {
  const sockets = hosts.map(({ host, port }) => join(host, `.s.PGSQL.${port ?? DEFAULT_PORT}`));
  const files = Object.entries(parameters).flatMap(([name, value]) => (PARAMETERS[name] === 'file' ? [value] : []));
  return [...sockets, ...files].filter(isAbsolute).map((path) => ({ path, fileOnly: true }));
}

function displayOf(url: DatabaseUrl): string {
  return withTunnel(
    writeUrl(url.inContainer ? IN_CONTAINER : 'postgres', { ...url, parameters: {} }),
    url.parameters.tunnel,
  );
}

/** Returns the URL as text for other programs, with its password: only for a reader who has requested it. */
export function urlWithPassword(url: DatabaseUrl): string {
  assertReachable(url);
  const through = throughTunnel(url);
  const { hostaddr: _, ...parameters } = through.parameters;
  const isForEveryDriver = url.localPorts !== undefined && url.parameters.sslmode !== 'verify-full';
  // Only libpq knows `hostaddr`, and only verify-full needs the name.
  const hosts = through.hosts.map(({ port }) => ({ host: LOOPBACK, port }));
  return writeUrl('postgres', { ...url, ...through, ...(isForEveryDriver && { hosts, parameters }) }, url.password);
}

/** https://www.postgresql.org/docs/current/libpq-envars.html */
export function urlVariables(url: DatabaseUrl): Record<string, string> {
  const { user, password, database } = url;
  const { hosts, parameters } = throughTunnel(url);
  const route = {
    PGHOST: hosts.map(({ host }) => host).join(','),
    PGPORT: hosts.map(({ port }) => port ?? DEFAULT_PORT).join(','),
    PGUSER: user,
    PGPASSWORD: password,
    PGDATABASE: database,
  };
  const settings = VARIABLES.map((name) => [`PG${name.toUpperCase()}`, parameters[name]] as const);
  return Object.fromEntries(
    [...Object.entries(route), ...settings].flatMap(([name, value]) => (value ? [[name, value]] : [])),
  );
}

/** Parameters whose variable has their name. */
const VARIABLES = [
  ...['hostaddr', 'passfile', 'options', 'sslmode', 'sslcert', 'sslkey', 'sslrootcert', 'sslcrl', 'sslnegotiation'],
  ...['requirepeer', 'gssencmode', 'krbsrvname'],
];

function writeUrl(
  scheme: string,
  { user, hosts, database, parameters }: Pick<DatabaseUrl, 'user' | 'hosts' | 'database' | 'parameters'>,
  password: string | null = null,
): string {
  const secret = password === null ? '' : `:${encodeURIComponent(password)}`;
  const userinfo = user === null && password === null ? '' : `${encodeURIComponent(user ?? '')}${secret}@`;
  const path = encodeURIComponent(database ?? '');
  return `${scheme}://${userinfo}${hosts.map(writeHost).join(',')}/${path}${writeParameters(parameters)}`;
}

function writeHost({ host, port }: Host): string {
  const name = isIPv6(host) ? `[${host.replaceAll('%', '%25')}]` : encodeURIComponent(host);
  return port === null ? name : `${name}:${port}`;
}

/** Parameters override the authority, host and port separately; one port applies to all hosts. */
function readHosts(authority: string, given: { host: string | undefined; port: string | undefined }): Host[] {
  const parts = authority.split(',').map(readHost);
  const names = given.host?.split(',') ?? parts.map(({ name }) => name);
  const ports = given.port?.split(',') ?? parts.map(({ port }) => port);
  if (ports.length !== 1 && ports.length !== names.length) {
    throw malformedUrl(`there are ${ports.length} ports for ${names.length} hosts`);
  }
  names.forEach(assertHost);
  return names.map((host, index) => ({ host, port: readPort(ports[index] ?? ports[0] ?? '') }));
}

/** libpq connects to the address of the same position; an empty one would lead to the host. */
function assertAddresses(hostaddr: string | undefined, hosts: Host[]): void {
  if (hostaddr === undefined) return;
  const addresses = hostaddr.split(',');
  if (!addresses.every((address) => isIP(address) !== 0)) throw malformedUrl('hostaddr is not an IP address');
  const isUnnamed = hosts.every(({ host }) => host === '');
  if (addresses.length !== hosts.length && !isUnnamed) {
    throw malformedUrl(`there are ${addresses.length} addresses for ${hosts.length} hosts`);
  }
}

function readHost(part: string): { name: string; port: string } {
  const match = /^(?:\[(?<six>[^\]]*)\]|(?<name>[^:]*))(?::(?<port>[^:]*))?$/.exec(part)?.groups;
  if (!match) throw malformedUrl(`"${part}" is not host:port; an IPv6 address stands in brackets`);
  const name = match.six === undefined ? decodePart(match.name ?? '') : readBracketed(match.six);
  return { name, port: match.port ?? '' };
}

export function portOf({ port }: Host, environment: NodeJS.ProcessEnv): number {
  return port ?? Number(environment.PGPORT ?? DEFAULT_PORT);
}

function take(parameters: Map<string, string>, name: string): string | undefined {
  const value = parameters.get(name);
  parameters.delete(name);
  return value;
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

/** Returns the database by the rules of libpq; `null` when the URL names a service and no database. */
export function databaseOf(context: EngineContext, url: DatabaseUrl): string | null {
  if (url.database !== null || serviceOf(context, url) !== null) return url.database;
  const { PGDATABASE, PGUSER } = context.environment;
  return PGDATABASE ?? url.user ?? PGUSER ?? null;
}

export function serviceOf({ environment }: EngineContext, { parameters }: DatabaseUrl): string | null {
  return parameters.service || environment.PGSERVICE || null;
}
