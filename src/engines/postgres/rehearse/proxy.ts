import { once } from 'node:events';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import {
  type LoopbackProxy,
  readBytes,
  relayBetween,
  startLoopbackProxy,
} from '../../shared/rehearse/loopback-proxy.ts';
import type { Recorder } from '../../shared/rehearse/recorder.ts';
import { isOfThisMachine, tlsOptions } from '../connection/encryption.ts';
import { ConnectionLost } from '../connection/session-errors.ts';
import type { SessionSettings } from '../connection/url.ts';
import type { WireAddress } from '../connection/wire-login.ts';
import { int32, messageOf } from '../connection/wire-messages.ts';
import { MessageTracker, scanClient, scanServer } from './track-statements.ts';

interface ProxyOptions {
  address: WireAddress;
  recorder: Pick<Recorder<number>, 'now' | 'session'>;
  /** Settings of its sessions; those of the client win. */
  settings: SessionSettings;
  /** Reads the locks before the bytes that end a statement are passed on. */
  look: () => Promise<void>;
}

/**
 * Passes the protocol of PostgreSQL on between clients of this user and one database, and notes the statements. It changes
 * no statement and keeps no row. https://www.postgresql.org/docs/current/protocol-flow.html
 */
export function startProxy(options: ProxyOptions): Promise<LoopbackProxy> {
  return startLoopbackProxy(async (client, keep) => {
    const late = setTimeout(() => client.destroy(), STARTUP_MS).unref();
    const first = await readStartup(client, options).finally(() => clearTimeout(late));
    if (!first) return;
    const server = await openServer(options.address);
    keep(server);
    server.write(first.packet);
    client.once('close', () => server.destroy());
    server.once('close', () => client.destroy());
    if (first.isCancel) return void server.once('end', () => client.end());
    await relay({ client, server, options });
  });
}

const CODES = { ssl: 80877103, gssapi: 80877104, cancel: 80877102 };
const LONGEST_STARTUP = 10_000;
/** Milliseconds: a client that says nothing takes the place of another one. */
const STARTUP_MS = 10_000;

/** The first packet of a client for the database; `null` after another one, which is refused. */
async function readStartup(client: Duplex, { address, settings }: Pick<ProxyOptions, 'address' | 'settings'>) {
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
    if (isPlanned && !parameters.has('replication')) return { packet: withSettings(body, settings), isCancel: false };
    client.end(refusal(`this address leads to database "${address.database}" as "${address.user}" only`));
    return null;
  }
}

/** A setting of the client wins: the server takes the last one of a name. */
function withSettings(body: Buffer, settings: SessionSettings): Buffer {
  const words = Object.entries(settings).flat();
  const added = Buffer.from(words.map((word) => `${word}\0`).join(''));
  const longer = Buffer.concat([body.subarray(0, 4), added, body.subarray(4)]);
  return Buffer.concat([int32(longer.length + 4), longer]);
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
  client: Duplex;
  server: Duplex;
  options: ProxyOptions;
}

async function relay({ client, server, options }: Relay): Promise<void> {
  const { recorder, look } = options;
  const session = recorder.session();
  const tracker = new MessageTracker({
    ...session,
    now: recorder.now,
    began: (pid) => session.began(pid, () => tracker.running()),
  });
  const [readClient, readServer] = [scanClient(tracker), scanServer(tracker)];
  const behindLook = (chunk: Buffer) => (tracker.takeLook() ? look().then(() => chunk) : chunk);
  try {
    await relayBetween({
      ...{ client, server },
      toServer(chunk) {
        readClient(chunk);
        return behindLook(chunk);
      },
      toClient(chunk) {
        readServer(chunk);
        return behindLook(withoutBinding(chunk));
      },
    });
  } finally {
    session.closed();
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
