import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { DatabaseUrl } from '../../database-url.ts';
import { type LoopbackProxy, relayBetween, startLoopbackProxy } from '../../shared/rehearse/loopback-proxy.ts';
import type { Recorder } from '../../shared/rehearse/recorder.ts';
import { dialledAddressOf } from '../connection/url.ts';
import { followModes } from '../restore/script/sql-mode.ts';
import { errorBody, login, refusal } from './login.ts';
import { OTHER_DATABASE_HINT, otherDatabaseIn, otherDatabaseText } from './other-database.ts';
import { packetOf, scanClient, scanServer } from './packets.ts';
import { COMMAND, PacketTracker } from './track-statements.ts';

interface ProxyOptions {
  url: DatabaseUrl;
  recorder: Pick<Recorder<string>, 'now' | 'session'>;
  /** The `sql_mode` of new sessions. */
  sqlMode: string;
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
  client: Duplex;
  server: Duplex;
  /** Number of the connection on the server. */
  pid: number;
  withoutEndOfColumns: boolean;
  options: ProxyOptions;
}

async function relay({ client, server, pid, withoutEndOfColumns, options }: Relay): Promise<void> {
  const { recorder, look, url } = options;
  const session = recorder.session();
  const tracker = new PacketTracker({ ...session, now: recorder.now, withoutEndOfColumns });
  session.began(pid, () => tracker.running());
  const otherDatabase = otherDatabases(options);
  const readClient = scanClient(({ beginning }) => {
    const isCommand = tracker.isCommand;
    if (isCommand && leaves(beginning, url)) throw new Refused(refusal(1, url));
    tracker.fromClient(beginning);
    const other = isCommand ? otherDatabase(beginning) : null;
    if (other === null) return;
    const body = errorBody(`${otherDatabaseText(other)}. ${OTHER_DATABASE_HINT}`);
    tracker.fromServer(body, body.length);
    throw new Refused(packetOf(1, body));
  });
  const readServer = scanServer(({ beginning, bytes }) => tracker.fromServer(beginning, bytes));
  try {
    await relayBetween({
      ...{ client, server },
      toServer(chunk) {
        readClient(chunk);
        return chunk;
      },
      toClient(chunk) {
        readServer(chunk);
        return tracker.takeLook() ? look().then(() => chunk) : chunk;
      },
    });
  } catch (error) {
    if (error instanceof Refused) await new Promise<void>((resolve) => client.end(error.packet, resolve));
  } finally {
    session.closed();
    server.destroy();
    client.destroy();
  }
}

/** The connection ends with this packet. */
class Refused extends Error {
  readonly packet: Buffer;

  constructor(packet: Buffer) {
    super('refused');
    this.packet = packet;
  }
}

const FORBIDDEN = new Set<number>([
  ...[COMMAND.createDatabase, COMMAND.dropDatabase, COMMAND.changeUser, COMMAND.binlogDump],
]);

/** Reports whether a command leads to another database or user. */
function leaves(beginning: Buffer, { database }: DatabaseUrl): boolean {
  const command = beginning[0] ?? 0;
  return FORBIDDEN.has(command) || (command === COMMAND.initDatabase && beginning.toString('utf8', 1) !== database);
}

/** Finds the other database that a statement changes, in the `sql_mode` that those before have set. */
function otherDatabases({ url, sqlMode }: ProxyOptions) {
  const modes = followModes(sqlMode);
  let mode = modes.first;
  return (beginning: Buffer): string | null => {
    const command = beginning[0] ?? 0;
    if (command !== COMMAND.query && command !== COMMAND.prepare) return null;
    const bytes = beginning.subarray(1);
    const other = otherDatabaseIn(bytes.toString(), url.database ?? '', mode);
    mode = modes.after({ words: ['SET'], bytes });
    return other;
  };
}
