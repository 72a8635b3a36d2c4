import { readFile } from 'node:fs/promises';
import { connect as connectSocket, type Socket } from 'node:net';
import { userInfo } from 'node:os';
import type { Connection, ConnectionOptions } from 'mysql2';
import type { DatabaseUrl } from '../../database-url.ts';
import { signEd25519 } from './auth-ed25519.ts';
import { ConnectionLost, messageOf, numberOf } from './session-errors.ts';
import { addressOf, dialledAddressOf, tlsPolicyOf } from './url.ts';

export interface MysqlSessionOptions {
  url: DatabaseUrl;
  signal?: AbortSignal | undefined;
  /** Several statements in one packet; the result is a list. */
  several?: boolean | undefined;
  /** `false`: the server cannot request a file (`LOAD DATA LOCAL`). */
  localFiles?: false;
}

export interface ConnectionWithSocket {
  connection: Connection;
  socket: Socket;
}

export async function openConnection(options: MysqlSessionOptions): Promise<ConnectionWithSocket> {
  const { url, signal } = options;
  signal?.throwIfAborted();
  const encryption = encryptionOf(url);
  return dial(options, encryption !== 'none').catch((error) => {
    if (encryption === 'if offered' && error instanceof ConnectionLost && error.code === NO_TLS) {
      return dial(options, false);
    }
    throw error;
  });
}

/** Reports whether a connection uses TLS. */
export function encryptionOf(url: DatabaseUrl): 'none' | 'if offered' | 'required' {
  const policy = tlsPolicyOf(url);
  if (policy !== 'preferred') return policy === 'disabled' ? 'none' : 'required';
  const address = addressOf(url);
  // No eavesdropping on a local connection, and TLS costs more than the rest of a dump.
  const isHere =
    url.parameters.tunnel === undefined &&
    ('socket' in address || ['localhost', '127.0.0.1', '::1'].includes(address.host));
  return isHere ? 'none' : 'if offered';
}

const NO_TLS = 'HANDSHAKE_NO_SSL_SUPPORT';

const CONNECT_TIMEOUT = 10_000;

/** Most bytes of a server before a session: a greeting has a hundred, and the driver keeps all. */
const MOST_LOGIN_BYTES = 1024 * 1024;
const LOGIN_BYTES_EVERY_MS = 50;

const KEEP_ALIVE_MS = 30_000;

const CHALLENGE_BYTES = 32;

async function dial(
  { url, signal, several = false, localFiles }: MysqlSessionOptions,
  tls: boolean,
): Promise<ConnectionWithSocket> {
  const { default: mysql2 } = await import('mysql2');
  const address = addressOf(url);
  const dialled = dialledAddressOf(url);
  const socket = 'socket' in dialled ? connectSocket(dialled.socket) : connectSocket(dialled.port, dialled.host);
  socket.setNoDelay(true);
  // Load balancers close idle connections.
  socket.setKeepAlive(true, KEEP_ALIVE_MS);
  const options: ConnectionOptions = {
    stream: () => socket,
    // The driver's rules for passwords depend on the kind of connection.
    ...('socket' in address ? { socketPath: address.socket } : address),
    user: url.user ?? userInfo().username,
    ...(url.password !== null && { password: url.password }),
    ...(url.database !== null && { database: url.database }),
    ...(tls && { ssl: await tlsOptions(url) }),
    authPlugins: {
      unix_socket: () => () => Buffer.alloc(0),
      auth_socket: () => () => Buffer.alloc(0),
      client_ed25519: () => (challenge) => signEd25519(url.password ?? '', challenge.subarray(0, CHALLENGE_BYTES)),
    },
    connectTimeout: CONNECT_TIMEOUT,
    supportBigNumbers: true,
    dateStrings: true,
    multipleStatements: several,
    ...(localFiles === false && { flags: ['-LOCAL_FILES'] }),
    insecureAuth: false,
  };
  return new Promise((resolve, reject) => {
    const connection = mysql2.createConnection(options);
    const abort = (): void => void socket.destroy(new Error('aborted'));
    signal?.addEventListener('abort', abort, { once: true });
    socket.once('close', () => signal?.removeEventListener('abort', abort));
    connection.on('error', () => {});
    const watch = setInterval(() => {
      if (socket.bytesRead > MOST_LOGIN_BYTES) socket.destroy(new Error('the greeting of the server has no end'));
    }, LOGIN_BYTES_EVERY_MS);
    connection.connect((error) => {
      clearInterval(watch);
      if (!error) return resolve({ connection, socket });
      socket.destroy();
      if (signal?.aborted) return reject(signal.reason);
      return reject(new ConnectionLost(messageOf(error), numberOf(error), error.code));
    });
  });
}

/** Options of the driver; all but the last one are those of Node. */
interface TlsOptions {
  ca?: string;
  cert?: string;
  key?: string;
  rejectUnauthorized: boolean;
  verifyIdentity?: true;
}

export async function tlsOptions({ parameters, hosts }: DatabaseUrl): Promise<TlsOptions> {
  const policy = tlsPolicyOf({ parameters });
  const file = async (name: string): Promise<string | undefined> =>
    parameters[name] === undefined ? undefined : readFile(parameters[name], 'utf8');
  const [ca, cert, key] = [await file('ssl-ca'), await file('ssl-cert'), await file('ssl-key')];
  return {
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    rejectUnauthorized: policy === 'verify_ca' || policy === 'verify_identity',
    ...(policy === 'verify_identity' && hosts[0] && { verifyIdentity: true }),
  };
}
