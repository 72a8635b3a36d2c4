import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { unlessAborted } from '../../../process/unless-aborted.ts';
import { UserError } from '../../../runtime/errors.ts';
import { shell } from '../../../text/shell-word.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { profileOf } from '../../list.ts';
import { parseTunnel, type TunnelAddress } from '../../tunnel-address.ts';
import { createOwnConnectionCheck } from '../connection/own-connection.ts';
import { malformedUrl } from '../connection/url-parts.ts';
import { type OpenSsh, openSsh, type SshRequest } from './ssh.ts';

/** A tunnel without connections ends after so many milliseconds; the next connection opens it again. */
const IDLE_MS = 30_000;

/**
 * Relays connections of this machine to the sockets of ssh. Clients cannot use these themselves: libpq knows no TLS on a
 * socket.
 */
class Tunnel {
  readonly #address: TunnelAddress;
  readonly #hosts: SshRequest['hosts'];
  readonly #isOwnConnection = createOwnConnectionCheck();
  readonly #clients = new Set<Socket>();
  #opener: EngineContext | null = null;
  #waiting = 0;
  #cancel = new AbortController();
  #ssh: Promise<OpenSsh> | null = null;
  #idle: NodeJS.Timeout | undefined;
  #listening: Promise<number[]> | null = null;
  #line = { text: '', at: 0 };
  #broken = { says: '', at: 0 };
  /** The start of a connection that ended without a byte of the server. */
  #refusedAt = 0;

  constructor(address: TunnelAddress, hosts: SshRequest['hosts']) {
    this.#address = address;
    this.#hosts = hosts;
  }

  /** Logs in unless that is done; ends with the signal. */
  async open(context: EngineContext): Promise<void> {
    this.#opener = context;
    this.#waiting += 1;
    try {
      await unlessAborted(this.#login(), context.signal);
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0 && context.signal.aborted) this.#cancel.abort(context.signal.reason);
    }
  }

  /** Ports on 127.0.0.1, one for each host; they stay the same while this process runs. */
  ports(): Promise<number[]> {
    this.#listening ??= Promise.all(
      this.#hosts.map((_, index) => listen((client) => void this.#relay(client, index).catch(() => client.destroy()))),
    );
    return this.#listening;
  }

  /** Returns the words of ssh about a tunnel that broke, or of a host that it could not reach, since then. */
  async failureSince(time: number): Promise<string | null> {
    // ssh may be ending: its connections close first.
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    if (this.#broken.at >= time) return this.#broken.says;
    return this.#refusedAt >= time && this.#line.at >= this.#refusedAt ? this.#line.text : null;
  }

  #login(): Promise<OpenSsh> {
    if (this.#ssh !== null) return this.#ssh;
    if (!this.#opener) throw new Error('the tunnel was never opened');
    const onLine = (text: string): void => {
      this.#line = { text, at: performance.now() };
    };
    this.#cancel = new AbortController();
    const opener = { ...this.#opener, signal: this.#cancel.signal };
    const starting = openSsh(opener, { address: this.#address, hosts: this.#hosts, onLine });
    this.#ssh = starting;
    const forget = (): void => {
      if (this.#ssh === starting) this.#ssh = null;
    };
    starting.then(({ ended }) => {
      this.#endWhenIdle();
      return ended.then(() => {
        if (this.#ssh === starting) this.#broken = { says: this.#line.text || 'ssh ended', at: performance.now() };
        forget();
      });
    }, forget);
    return starting;
  }

  #endWhenIdle(): void {
    clearTimeout(this.#idle);
    if (this.#clients.size > 0 || !this.#ssh) return;
    this.#idle = setTimeout(() => {
      const ending = this.#ssh;
      this.#ssh = null;
      ending?.then(({ stop }) => stop()).catch(() => {});
    }, IDLE_MS).unref();
  }

  async #relay(client: Socket, index: number): Promise<void> {
    const startedAt = performance.now();
    client.unref();
    client.pause();
    client.on('error', () => client.destroy());
    this.#clients.add(client);
    client.once('close', () => {
      this.#clients.delete(client);
      this.#endWhenIdle();
    });
    clearTimeout(this.#idle);
    if (!(await this.#isOwnConnection(client))) return void client.destroy();
    const { sockets } = await this.#login();
    const server = connect(sockets[index] ?? '');
    server.unref();
    server.setNoDelay(true);
    client.setNoDelay(true);
    server.on('error', () => server.destroy());
    server.once('close', () => {
      if (server.bytesRead === 0) this.#refusedAt = startedAt;
      client.destroySoon();
    });
    client.once('close', () => server.destroy());
    client.pipe(server);
    server.pipe(client);
  }
}

// Module state on purpose: runs and status checks of this process share a tunnel.
const tunnels = new Map<string, Tunnel>();

export function tunnelOf({ engine, hosts, parameters }: DatabaseUrl): Tunnel {
  const address = parseTunnel(parameters.tunnel ?? '');
  if (!address) throw malformedUrl('its tunnel is not ssh://user@host:port');
  const targets = hosts.map(({ host, port }) => ({ host, port: port ?? profileOf(engine).defaultPort }));
  const key = JSON.stringify([address, targets]);
  const tunnel = tunnels.get(key) ?? new Tunnel(address, targets);
  tunnels.set(key, tunnel);
  return tunnel;
}

const SETTLE_MS = 200;

async function listen(take: (client: Socket) => void): Promise<number> {
  const server: Server = createServer({ pauseOnConnect: true }, take);
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

export function tunnelFailed({ hosts, parameters }: DatabaseUrl, { says, cause }: { says: string; cause: unknown }) {
  const to = hosts.map(({ host, port }) => (port === null ? host : `${host}:${port}`)).join(', ');
  return new UserError('tunnel_failed', `The SSH tunnel ${parameters.tunnel} to ${to} failed: ${says}`, {
    hint: `Log in once by hand, to see its questions: ${loginCommand(parameters.tunnel ?? '')}`,
    cause,
  });
}

function loginCommand(tunnel: string): string {
  const { user = null, host = '', port = null } = parseTunnel(tunnel) ?? {};
  const login = user === null ? host : `${user}@${host}`;
  return port === null ? shell`ssh ${login}` : shell`ssh -p ${port} ${login}`;
}
