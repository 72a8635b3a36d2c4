import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { isOwnConnection } from '../../shared/connection/own-connection.ts';
import { isOfThisMachine, tlsOptions } from '../connection/encryption.ts';
import { ConnectionLost } from '../connection/session-errors.ts';
import type { WireAddress } from '../connection/wire-login.ts';
import { int32, messageOf } from '../connection/wire-messages.ts';
import { scanMessages } from './scan-messages.ts';
import {
  clientBytes,
  type SessionStatement,
  type StatementTracker,
  serverBytes,
  trackStatements,
} from './track-statements.ts';

export interface ProxySession {
  /** From 1. */
  number: number;
  tracker: StatementTracker;
}

export interface StatementProxy extends AsyncDisposable {
  port: number;
}

interface ProxyOptions {
  address: WireAddress;
  now: () => number;
  /** Reads the locks before the bytes that end a statement are passed on. */
  look: () => Promise<void>;
  /** `pid`: the process of the server. */
  began: (session: ProxySession, pid: number) => void;
  ended: (session: ProxySession, statement: SessionStatement) => void;
  /** No transaction of the process holds locks. */
  released: (pid: number) => void;
  closed: (pid: number) => void;
}

const LOOPBACK = '127.0.0.1';
const MOST_SESSIONS = 500;

/**
 * Passes the protocol of PostgreSQL on between clients of this user and one database, and notes the statements. It changes
 * no statement and keeps no row. Other users of the machine are refused: the server may know this program by its user or
 * its certificate, and ask them for no password.
 * https://www.postgresql.org/docs/current/protocol-flow.html
 */
export async function startProxy(options: ProxyOptions): Promise<StatementProxy> {
  const open = new Set<Duplex>();
  let count = 0;
  const keepOpen = (stream: Duplex): void => {
    open.add(stream);
    stream.on('error', () => {}).once('close', () => open.delete(stream));
  };
  const serve = async (client: Socket): Promise<void> => {
    if (!(await isOwnConnection(client))) return void client.destroy();
    const first = await readStartup(client, options.address);
    if (!first) return;
    const server = await openServer(options.address);
    keepOpen(server);
    server.write(first.packet);
    client.once('close', () => server.destroy());
    server.once('close', () => client.destroy());
    if (first.isCancel) return void server.once('end', () => client.end());
    count += 1;
    await relay({ client, server, number: count, options });
  };
  const proxy = createServer({ noDelay: true }, (client) => {
    keepOpen(client);
    if (open.size > 2 * MOST_SESSIONS) return void client.destroy();
    serve(client).catch(() => client.destroy());
  });
  proxy.listen(0, LOOPBACK);
  await once(proxy, 'listening');
  return {
    port: (proxy.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      const { promise, resolve } = Promise.withResolvers<void>();
      proxy.close(() => resolve());
      for (const stream of open) stream.destroy();
      await promise;
    },
  };
}

const CODES = { ssl: 80877103, gssapi: 80877104, cancel: 80877102 };
const LONGEST_STARTUP = 10_000;

/** The first packet of a client for the database; `null` after another one, which is refused. */
async function readStartup(client: Socket, address: WireAddress) {
  while (true) {
    const length = (await readBytes(client, 4)).readInt32BE(0);
    if (length < 8 || length > LONGEST_STARTUP) throw new ConnectionLost('no packet of PostgreSQL');
    const body = await readBytes(client, length - 4);
    const code = body.readInt32BE(0);
    if (code === CODES.ssl || code === CODES.gssapi) {
      client.write('N');
      continue;
    }
    const packet = Buffer.concat([int32(length), body]);
    if (code === CODES.cancel) return { packet, isCancel: true };
    const words = body.toString('utf8', 4).split('\0');
    const parameters = new Map(
      words.flatMap((word, at): [string, string][] => (at % 2 === 0 ? [[word, words[at + 1] ?? '']] : [])),
    );
    const database = parameters.get('database') ?? parameters.get('user');
    const isPlanned = database === address.database && parameters.get('user') === address.user;
    if (isPlanned && !parameters.has('replication')) return { packet, isCancel: false };
    client.end(refusal(`this address leads to database "${address.database}" as "${address.user}" only`));
    return null;
  }
}

async function readBytes(socket: Socket, count: number): Promise<Buffer> {
  while (true) {
    const bytes: Buffer | null = socket.read(count);
    if (bytes?.length === count) return bytes;
    if (bytes || socket.readableEnded || socket.destroyed) throw new ConnectionLost('the client has left');
    await Promise.race([once(socket, 'readable'), once(socket, 'close')]);
  }
}

function refusal(message: string): Buffer {
  return messageOf(0x45, Buffer.from(`SFATAL\0VFATAL\0C3D000\0M${message}\0\0`));
}

async function openServer({ host, port, encryption }: WireAddress): Promise<Duplex> {
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect({ host, port, noDelay: true });
  await once(socket, 'connect');
  if (!encryption) return socket;
  socket.write(Buffer.concat([int32(8), int32(CODES.ssl)]));
  const [answer] = (await once(socket, 'data')) as [Buffer];
  if (answer.toString('latin1') !== 'S') {
    if (encryption.isOptional && isOfThisMachine(host)) return socket;
    socket.destroy();
    throw new ConnectionLost('the server has no TLS');
  }
  const tls = connectTls({ ...tlsOptions(encryption, host), socket, servername: host });
  await once(tls, 'secureConnect');
  return tls;
}

interface Relay {
  client: Socket;
  server: Duplex;
  number: number;
  options: ProxyOptions;
}

async function relay({ client, server, number, options }: Relay): Promise<void> {
  const { now, look, began, ended, released, closed } = options;
  let own: number | null = null;
  const tracker = trackStatements({
    now,
    began(pid) {
      own = pid;
      began(session, pid);
    },
    ended: (statement) => ended(session, statement),
    released: () => own !== null && released(own),
  });
  const session: ProxySession = { number, tracker };
  const passOn = async (from: Duplex, to: Duplex, scan: (chunk: Buffer) => void): Promise<void> => {
    for await (const chunk of from as AsyncIterable<Buffer>) {
      scan(chunk);
      if (tracker.takeLook()) await look();
      if (!to.write(from === server ? withoutBinding(chunk) : chunk)) {
        await Promise.race([once(to, 'drain'), once(to, 'close')]);
      }
    }
    to.end();
  };
  const toServer = scanMessages({ readBytes: clientBytes, take: tracker.fromClient });
  const toClient = scanMessages({ readBytes: serverBytes, take: tracker.fromServer });
  try {
    await Promise.all([passOn(client, server, toServer), passOn(server, client, toClient)]);
  } finally {
    if (own !== null) closed(own);
    server.destroy();
    client.destroy();
  }
}

const BOUND = Buffer.from('SCRAM-SHA-256-PLUS\0');
const AUTHENTICATION = 0x52;
const SASL = 10;

/** The client's connection is not encrypted, so that it cannot bind its login to the server's certificate. */
function withoutBinding(chunk: Buffer): Buffer {
  if (chunk[0] !== AUTHENTICATION || chunk.length < 9 || chunk.readInt32BE(5) !== SASL) return chunk;
  const length = chunk.readInt32BE(1);
  const at = chunk.indexOf(BOUND);
  if (chunk.length !== length + 1 || at === -1) return chunk;
  const body = Buffer.concat([chunk.subarray(5, at), chunk.subarray(at + BOUND.length)]);
  return messageOf(AUTHENTICATION, body);
}
