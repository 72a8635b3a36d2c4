import { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import pg from 'pg';
import { releaseChunk } from '../../../repository/objects/release.ts';
import { type Encryption, isOfThisMachine, tlsOptions } from './encryption.ts';
import { ConnectionLost, SqlError } from './session-errors.ts';
import { type SessionSettings, startupOptions } from './url.ts';
import { readMessages, type Take, TYPE } from './wire-messages.ts';

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

/**
 * A connection of our own, for rows: a libpq program copies each row once more, and hands it over in pieces of 4 kB.
 * `pg` connects; then the messages are read here, since `pg` has an object and an event for each row.
 * https://www.postgresql.org/docs/current/protocol.html
 */
export interface Wire {
  /** Resolves with the first value of each row; statements are sent at once as by `execute`. */
  query(statement: string): Promise<string[]>;
  /** Statements are sent at once, also while the server still answers others: a round trip costs nothing then. */
  execute(statement: string): Promise<void>;
  /** Passes on the rows of `COPY … TO STDOUT`, in pieces whose memory is released afterwards; resolves with their number. */
  copyOut(statement: string, take: Take): Promise<number>;
  /** Begins `COPY … FROM STDIN`. */
  copyIn(statement: string): CopyIn;
  /** Ends the session when its statements have ended. */
  end(): Promise<void>;
  /** Ends it at once. */
  close(reason?: Error): void;
}

export interface CopyIn {
  /** Resolves when the system has taken the rows, which have whole lines only in all. */
  write(rows: Uint8Array): Promise<void>;
  /** Resolves with the number of rows that the server has loaded. */
  end(): Promise<number>;
}

interface Exchange extends PromiseWithResolvers<number> {
  take: Take | null;
  /** First values of the rows of a query. */
  values: string[] | null;
  takesRows: boolean;
  rows: number;
  tag: string;
  error: Error | null;
}

/** Copies begin and end; status of a parameter, notice, description of a result, notification. */
const IGNORED = new Set([...'HcSNTAI'].map((letter) => letter.charCodeAt(0)));

export interface WireOptions {
  /** Settings of the session from its first statement on. */
  settings?: SessionSettings;
  signal?: AbortSignal | undefined;
}

export async function openWire(address: WireAddress, options: WireOptions = {}): Promise<Wire> {
  const socket = await connect(address, options);
  /** In the order of their statements, which the server answers one after the other. */
  const exchanges: Exchange[] = [];
  const idle = newExchange();
  const current = (): Exchange => exchanges[0] ?? idle;
  let failure: Error | null = null;

  const fail = (error: Error): void => {
    failure ??= error;
    socket.destroy();
    for (const { reject } of exchanges.splice(0)) reject(failure);
  };
  const handle = (type: number, body: Buffer): void => {
    switch (type) {
      case TYPE.error:
        current().error = errorOf(body, { withDetails: current().values === null });
        return;
      case TYPE.row:
        current().values?.push(firstValue(body));
        return;
      case TYPE.copyIn:
        if (!current().takesRows) socket.write(messageOf(TYPE.copyFail, cString('no rows follow')));
        return;
      case TYPE.ended:
        current().tag = body.toString('latin1', 0, body.length - 1);
        return;
      case TYPE.ready:
        settle(exchanges.shift() ?? idle);
        return;
      default:
        if (!IGNORED.has(type)) throw new ConnectionLost(`unexpected message ${type}`);
    }
  };
  const read = readMessages({
    rows: (buffer, from, to) => current().take?.(buffer, from, to),
    row: () => countRow(current()),
    handle,
  });
  socket.on('error', (error) => fail(new ConnectionLost(error.message)));
  // A connection that is ended by the server gets an error, and no `ready`.
  socket.on('close', () => fail(new ConnectionLost(current().error?.message ?? 'the connection was closed')));
  socket.on('data', (chunk: Buffer<ArrayBuffer>) => {
    try {
      read(chunk);
    } catch (error) {
      fail(error as Error);
    }
    releaseChunk(chunk);
  });

  const send = (statement: string, how: Partial<Exchange>): Promise<number> => {
    if (failure) return Promise.reject(failure);
    const exchange = { ...newExchange(), ...how };
    socket.write(messageOf(TYPE.query, cString(statement)));
    exchanges.push(exchange);
    return exchange.promise;
  };
  return {
    async query(statement) {
      const values: string[] = [];
      await send(statement, { values });
      return values;
    },
    async execute(statement) {
      await send(statement, {});
    },
    copyOut: (statement, take) => send(statement, { take }),
    copyIn(statement) {
      let refused: Error | null = null;
      const ended = send(statement, { takesRows: true });
      ended.catch((error) => {
        refused = error;
      });
      return {
        // Rows that are under way when the server refuses one are ignored by it.
        async write(rows) {
          if (refused) throw refused;
          await writeRows(socket, rows).catch(() => ended);
        },
        end() {
          if (!refused) socket.write(messageOf(TYPE.copyDone, Buffer.alloc(0)));
          return ended;
        },
      };
    },
    async end() {
      await Promise.allSettled(exchanges.map(({ promise }) => promise));
      if (socket.destroyed) return;
      const { promise: closed, resolve } = Promise.withResolvers<void>();
      socket.once('close', resolve);
      socket.end(messageOf(TYPE.terminate, Buffer.alloc(0)), () => socket.destroy());
      await closed;
    },
    close: (reason = new ConnectionLost('the connection was closed')) => fail(reason),
  };
}

/** Servers of this machine that have answered that they have no TLS, until a login fails. */
const withoutTls = new Set<string>();

async function connect(address: WireAddress, options: WireOptions): Promise<Duplex> {
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
  const socket = await tryToConnect(plain, options).catch((error) => Promise.reject(refused(plain, error)));
  // Elsewhere, another server may answer next time, or somebody between.
  if (isOfThisMachine(host)) withoutTls.add(server);
  return socket;
}

/** No such database, too many connections, not yet ready: the same by any way. */
const SAME_BY_ANY_WAY = new Set(['3D000', '53300', '57P03']);

/** In the words of libpq, which tries another way after an answer over TLS. */
function refused({ host, port, encryption }: WireAddress, error: unknown): ConnectionLost {
  if (!(error instanceof pg.DatabaseError)) return new ConnectionLost(`${error}`);
  const place = `connection to server at "${host}", port ${port} failed`;
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
const NO_TLS = 0x4e;

async function tryToConnect(
  { encryption, host, port, user, password, database }: WireAddress,
  { settings = SEARCH_PATH, signal }: WireOptions,
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
    signal?.removeEventListener('abort', abort);
  }
  return connection.stream.removeAllListeners('data');
}

/** Messages of a login: authentication, error, notice, status of a parameter, key to cancel, ready. */
const OF_LOGIN = new Set([...'RENSKZ'].map((letter) => letter.charCodeAt(0)));
const WITH_FIELDS = new Set([...'EN'].map((letter) => letter.charCodeAt(0)));

/** The reader of `pg` throws where nobody catches, or never ends, for a message that it does not know. */
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

function newExchange(): Exchange {
  const state = { take: null, values: null, takesRows: false, rows: 0, tag: '', error: null };
  const exchange = { ...Promise.withResolvers<number>(), ...state };
  exchange.promise.catch(() => {});
  return exchange;
}

/** A number of values, then the length and bytes of each; a length of -1 for NULL. */
function firstValue(body: Buffer): string {
  const length = body.length < 6 || body.readInt16BE(0) < 1 ? 0 : body.readInt32BE(2);
  return body.toString('utf8', 6, 6 + Math.max(0, length));
}

function countRow(exchange: Exchange): void {
  exchange.rows += 1;
}

function settle({ resolve, reject, take, rows, tag, error }: Exchange): void {
  const told = /^COPY (\d+)$/.exec(tag)?.[1];
  if (error) reject(error);
  else if (take && told !== String(rows)) reject(new ConnectionLost(`${rows} rows came, and the server says ${tag}`));
  else resolve(Number(told ?? 0));
}

/** The server copies a message before it reads the rows: larger ones leave the caches of the processor. */
const SENT_BYTES = 64 * 1024;

function writeRows(socket: Duplex, rows: Uint8Array): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.cork();
  for (let at = 0; at < rows.length; at += SENT_BYTES) {
    const piece = rows.subarray(at, at + SENT_BYTES);
    socket.write(Buffer.concat([Buffer.of(TYPE.copyData), int32(piece.length + 4)]));
    socket.write(piece);
  }
  socket.write(Buffer.alloc(0), (error) => (error ? reject(error) : resolve()));
  socket.uncork();
  return promise;
}

function messageOf(type: number, body: Buffer): Buffer {
  return Buffer.concat([Buffer.of(type), int32(body.length + 4), body]);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function cString(text: string): Buffer {
  if (text.includes('\0')) throw new ConnectionLost('a NUL character cannot be sent');
  return Buffer.from(`${text}\0`);
}

/** Fields: a letter each, then text up to a NUL. */
function errorOf(body: Buffer, { withDetails }: { withDetails: boolean }): SqlError {
  const fields = new Map(
    body
      .toString('utf8')
      .split('\0')
      .map((field) => [field[0], field.slice(1)]),
  );
  const lines = ['M', ...(withDetails ? ['D', 'H', 'W'] : [])].map((letter) => fields.get(letter));
  return new SqlError(lines.filter(Boolean).join('\n'), fields.get('C') ?? '');
}
