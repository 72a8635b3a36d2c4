import { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import pg from 'pg';
import { type Encryption, isOfThisMachine, tlsOptions } from './encryption.ts';
import { LOGIN_TIMEOUT_MS } from './exchange.ts';
import { ConnectionLost } from './session-errors.ts';
import { type SessionSettings, startupOptions } from './url.ts';
import { messageOf, readMessages } from './wire-messages.ts';

export interface WireAddress {
  /** A name, an address, or the folder of a unix socket. */
  host: string;
  port: number;
  user: string;
  password: string | null;
  database: string;
  /** `null`: none. */
  encryption: Encryption | null;
}

export interface WireOptions {
  /** Settings of the session from its first statement on. */
  settings?: SessionSettings;
  signal?: AbortSignal | undefined;
  /** Instead of a socket: leads to the server already. */
  stream?: () => Duplex;
  /** Sends no password in clear text. */
  refusesClearText?: boolean;
}

/** Servers of this machine that have answered that they have no TLS, until a login fails. */
const withoutTls = new Set<string>();

/** Connects as libpq would: by TLS first where that is optional. Rejects with `ConnectionLost`. */
export async function logIn(address: WireAddress, options: WireOptions): Promise<Duplex> {
  const { host, port, encryption } = address;
  const plain = { ...address, encryption: null };
  const server = JSON.stringify([host, port]);
  if (encryption?.isOptional && withoutTls.has(server)) {
    return await tryToConnect(plain, options).catch((error) => {
      withoutTls.delete(server);
      throw refused(address, error);
    });
  }
  try {
    return await tryToConnect(address, options);
  } catch (error) {
    if (!(error instanceof TlsRefused && encryption?.isOptional)) throw refused(address, error);
  }
  const unencrypted = { ...options, refusesClearText: !isOfThisMachine(host) };
  const socket = await tryToConnect(plain, unencrypted).catch((error) => Promise.reject(refused(plain, error)));
  // Elsewhere, another server may answer next time, or somebody between.
  if (isOfThisMachine(host)) withoutTls.add(server);
  return socket;
}

/** No such database, too many connections, not yet ready: the same by any way. */
const SAME_BY_ANY_WAY = new Set(['3D000', '53300', '57P03']);

/** In the words of libpq, which tries another way after an answer over TLS. */
function refused({ host, port, encryption }: WireAddress, error: unknown): ConnectionLost {
  const place = `connection to server at "${host}", port ${port} failed`;
  if (error instanceof ConnectionLost && error.isFinal) return new ConnectionLost(`${place}: ${error.message}`, error);
  if (!(error instanceof pg.DatabaseError)) return new ConnectionLost(`${error}`);
  const isFinal = encryption === null || SAME_BY_ANY_WAY.has(error.code ?? '');
  return new ConnectionLost(`${place}: ${error.severity}:  ${error.message}`, { isFinal });
}

/** A function of the database could be the better match of a name. */
const SEARCH_PATH: SessionSettings = { search_path: 'pg_catalog' };

/** The system then asks ten times, a second apart, whether the server is there. */
const KEEPALIVE_MS = 30_000;

/** The server has answered that it has no TLS. */
class TlsRefused extends Error {}

const BOUND = 'SCRAM-SHA-256-PLUS';
const NOT_BOUND = 'the server does not bind the channel';
const CLEAR_TEXT =
  'the server has no TLS and requests the password in clear text. Use sslmode=require, or permit it with sslmode=disable';
const NO_TLS = 0x4e;

async function tryToConnect(
  { encryption, host, port, user, password, database }: WireAddress,
  { settings = SEARCH_PATH, signal, stream, refusesClearText = false }: WireOptions,
): Promise<Duplex> {
  const client = new pg.Client({
    ...{ host, port, user, database, keepAlive: true, keepAliveInitialDelayMillis: KEEPALIVE_MS },
    // As the sessions of psql beside it.
    application_name: 'psql',
    options: startupOptions(settings),
    // As libpq, which takes an empty one for none.
    password: () => password || Promise.reject(new ConnectionLost('there is no password')),
    ssl: encryption ? tlsOptions(encryption, host) : false,
    enableChannelBinding: encryption !== null && encryption.channelBinding !== 'disable',
    ...(stream && { stream: () => asSocket(stream()) }),
  });
  const { connection } = client;
  checkMessages(connection);
  let hasNoTls = false;
  const offered: string[] = [];
  let isProven = false;
  const mustBind = encryption?.channelBinding === 'require';
  // Nothing is sent to a server that asks for less.
  const refuse = (): void => {
    if (mustBind) connection.stream.destroy(new ConnectionLost(NOT_BOUND));
  };
  const end = (reason: string): unknown => connection.stream.destroy(new ConnectionLost(reason, { isFinal: true }));
  if (refusesClearText) connection.on('authenticationCleartextPassword', () => end(CLEAR_TEXT));
  connection.on('authenticationCleartextPassword', refuse).on('authenticationMD5Password', refuse);
  connection.on('authenticationSASL', ({ mechanisms }: { mechanisms: string[] }) => {
    offered.push(...mechanisms);
    if (!offered.includes(BOUND)) refuse();
  });
  connection.on('authenticationSASLFinal', () => {
    isProven = true;
  });
  connection.stream.once('data', (first: Buffer) => {
    hasNoTls = encryption !== null && first.length === 1 && first[0] === NO_TLS;
  });
  // It reports what the promise and the stream do, too.
  client.on('error', () => {});
  const abort = (): void => void connection.stream.destroy(new ConnectionLost('aborted'));
  signal?.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(() => end('timeout expired'), LOGIN_TIMEOUT_MS);
  try {
    signal?.throwIfAborted();
    await client.connect();
    if (offered.length > 0 && !isProven)
      throw new ConnectionLost('the server does not prove that it knows the password');
    if (mustBind && !offered.includes(BOUND)) throw new ConnectionLost(NOT_BOUND);
  } catch (error) {
    connection.stream.destroy();
    throw hasNoTls ? new TlsRefused() : error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
  return connection.stream.removeAllListeners('data');
}

/** Adds the members that the driver calls of a socket. */
function asSocket(stream: Duplex): Duplex {
  const connect = (): void => process.nextTick(() => stream.emit('connect'));
  return Object.assign(stream, { connect, setNoDelay() {}, setKeepAlive() {} });
}

/** Messages of a login: authentication, error, notice, status of a parameter, key to cancel, ready. */
const OF_LOGIN = new Set([...'RENSKZ'].map((letter) => letter.charCodeAt(0)));
const WITH_FIELDS = new Set([...'EN'].map((letter) => letter.charCodeAt(0)));

/** Refuses unknown messages, for which the reader of `pg` throws an uncaught error or never ends. */
function checkMessages(connection: object): void {
  const reading = connection as { attachListeners(stream: EventEmitter): void };
  const attach = reading.attachListeners.bind(connection);
  reading.attachListeners = (stream) => {
    const checked = new EventEmitter();
    attach(checked);
    const nothing = (): void => {};
    const handle = (type: number, body: Buffer): void => {
      const isWhole = !WITH_FIELDS.has(type) || body.subarray(-2).equals(FIELDS_END);
      if (!OF_LOGIN.has(type) || !isWhole) throw new ConnectionLost(`unexpected message ${type} at the login`);
      checked.emit('data', messageOf(type, body));
    };
    const read = readMessages({ rows: nothing, row: nothing, handle });
    stream.on('data', (chunk: Buffer) => {
      try {
        read(chunk);
      } catch (error) {
        (stream as Duplex).destroy(error as Error);
      }
    });
  };
}

/** The end of the last field's text, and that of the fields. */
const FIELDS_END = Buffer.alloc(2);
