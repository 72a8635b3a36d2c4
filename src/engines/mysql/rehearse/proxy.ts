import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { DatabaseUrl } from '../../database-url.ts';
import { firstWord } from '../../shared/rehearse/first-word.ts';
import { type LoopbackProxy, passOn, startLoopbackProxy } from '../../shared/rehearse/loopback-proxy.ts';
import type { Recorder } from '../../shared/rehearse/recorder.ts';
import { dialledAddressOf } from '../connection/url.ts';
import { login, refusal } from './login.ts';
import { scanClient, scanServer } from './packets.ts';
import { COMMAND, trackStatements } from './track-statements.ts';

interface ProxyOptions {
  url: DatabaseUrl;
  recorder: Pick<Recorder<string>, 'now' | 'session'>;
  /** Reads the locks before the bytes that end a statement are passed on. */
  look: () => Promise<void>;
}

/**
 * Passes the protocol of MySQL on between clients of this user and one database, and notes the statements. It changes no
 * statement and keeps no row. https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html
 */
export function startProxy(options: ProxyOptions): Promise<LoopbackProxy> {
  return startLoopbackProxy(async (client, keep) => {
    const server = await openServer(options.url);
    keep(server);
    client.once('close', () => server.destroy());
    server.once('close', () => client.destroy());
    const admitted = await login({ client, server, url: options.url });
    if (!admitted) return;
    keep(admitted.server);
    await relay({ ...admitted, client, options });
  });
}

async function openServer(url: DatabaseUrl): Promise<Socket> {
  const address = dialledAddressOf(url);
  const socket =
    'socket' in address ? connect(address.socket) : connect({ host: address.host, port: address.port, noDelay: true });
  await once(socket, 'connect');
  return socket;
}

interface Relay {
  client: Socket;
  server: Duplex;
  /** Number of the connection on the server. */
  pid: number;
  withoutEndOfColumns: boolean;
  options: ProxyOptions;
}

async function relay({ client, server, pid, withoutEndOfColumns, options }: Relay): Promise<void> {
  const { recorder, look, url } = options;
  const session = recorder.session();
  const { now } = recorder;
  const tracker = trackStatements({ now, withoutEndOfColumns, ended: session.ended, released: session.released });
  session.began(pid, tracker.running);
  const toServer = scanClient(({ beginning }) => {
    if (tracker.isCommand() && leaves(beginning, url)) throw new Refused();
    tracker.fromClient(beginning);
  });
  const toClient = scanServer(({ beginning, bytes }) => tracker.fromServer(beginning, bytes));
  try {
    await Promise.all([
      passOn({
        from: client,
        to: server,
        async take(chunk) {
          toServer(chunk);
          return chunk;
        },
      }),
      passOn({
        from: server,
        to: client,
        async take(chunk) {
          toClient(chunk);
          if (tracker.takeLook()) await look();
          return chunk;
        },
      }),
    ]);
  } catch (error) {
    if (error instanceof Refused) await new Promise<void>((resolve) => client.end(refusal(1, url), resolve));
  } finally {
    session.closed();
    server.destroy();
    client.destroy();
  }
}

class Refused extends Error {}

const FORBIDDEN = new Set<number>([COMMAND.changeUser, COMMAND.binlogDump]);
const USED = /^[^;]*?\buse\s+(?:`((?:[^`]|``)+)`|([^\s;]+))/i;

/** Reports whether a command leads to another database or user; a statement may still name another database. */
function leaves(beginning: Buffer, { database }: DatabaseUrl): boolean {
  const command = beginning[0] ?? 0;
  if (FORBIDDEN.has(command)) return true;
  const text = beginning.toString('utf8', 1);
  if (command === COMMAND.initDatabase) return text !== database;
  if (command !== COMMAND.query || firstWord(text) !== 'USE') return false;
  const [, quoted, plain] = USED.exec(text) ?? [];
  return (quoted?.replaceAll('``', '`') ?? plain) !== database;
}
