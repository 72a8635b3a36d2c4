import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { unlessAborted } from '../../../process/unless-aborted.ts';
import { UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { profileOf } from '../../list.ts';
import { parseTunnel, type TunnelAddress } from '../../tunnel-address.ts';
import { createOwnConnectionCheck } from '../connection/own-connection.ts';
import { malformedUrl } from '../connection/url-parts.ts';
import { type OpenSsh, openSsh, type SshRequest } from './ssh.ts';

/** A tunnel without connections ends after so many milliseconds; the next connection opens it again. */
const IDLE_MS = 30_000;

export interface Tunnel {
  /** Logs in unless that is done; ends with the signal. */
  open(context: EngineContext): Promise<void>;
  /** On 127.0.0.1, one for each host; they stay the same while this process runs. */
  ports(): Promise<number[]>;
  /** The words of ssh about a tunnel that broke, or of a host that it could not reach, since then. */
  failureSince(time: number): Promise<string | null>;
}

// Module state on purpose: runs and status checks of this process share a tunnel.
const tunnels = new Map<string, Tunnel>();

export function tunnelOf({ engine, hosts, parameters }: DatabaseUrl): Tunnel {
  const address = parseTunnel(parameters.tunnel ?? '');
  if (!address) throw malformedUrl('its tunnel is not ssh://user@host:port');
  const targets = hosts.map(({ host, port }) => ({ host, port: port ?? profileOf(engine).defaultPort }));
  const key = JSON.stringify([address, targets]);
  const tunnel = tunnels.get(key) ?? createTunnel(address, targets);
  tunnels.set(key, tunnel);
  return tunnel;
}

/**
 * Relays connections of this machine to the sockets of ssh. Clients cannot use these themselves: libpq knows no TLS on a
 * socket.
 */
function createTunnel(address: TunnelAddress, hosts: SshRequest['hosts']): Tunnel {
  const isOwnConnection = createOwnConnectionCheck();
  const open = new Set<Socket>();
  let opener: EngineContext | null = null;
  let waiting = 0;
  let cancel = new AbortController();
  let ssh: Promise<OpenSsh> | null = null;
  let idle: NodeJS.Timeout | undefined;
  let line = { text: '', at: 0 };
  let broken = { says: '', at: 0 };
  /** The start of a connection that ended without a byte of the server. */
  let refusedAt = 0;

  function login(): Promise<OpenSsh> {
    if (ssh) return ssh;
    if (!opener) throw new Error('the tunnel was never opened');
    const onLine = (text: string): void => {
      line = { text, at: performance.now() };
    };
    cancel = new AbortController();
    const starting = openSsh({ ...opener, signal: cancel.signal }, { address, hosts, onLine });
    ssh = starting;
    const forget = (): void => {
      if (ssh === starting) ssh = null;
    };
    starting.then(({ ended }) => {
      endWhenIdle();
      return ended.then(() => {
        if (ssh === starting) broken = { says: line.text || 'ssh ended', at: performance.now() };
        forget();
      });
    }, forget);
    return starting;
  }

  function endWhenIdle(): void {
    clearTimeout(idle);
    if (open.size > 0 || !ssh) return;
    idle = setTimeout(() => {
      const ending = ssh;
      ssh = null;
      ending?.then(({ stop }) => stop()).catch(() => {});
    }, IDLE_MS).unref();
  }

  async function relay(client: Socket, index: number): Promise<void> {
    const startedAt = performance.now();
    client.unref();
    client.pause();
    client.on('error', () => client.destroy());
    open.add(client);
    client.once('close', () => {
      open.delete(client);
      endWhenIdle();
    });
    clearTimeout(idle);
    if (!(await isOwnConnection(client))) return void client.destroy();
    const { sockets } = await login();
    const server = connect(sockets[index] ?? '');
    server.unref();
    server.setNoDelay(true);
    client.setNoDelay(true);
    server.on('error', () => server.destroy());
    server.once('close', () => {
      if (server.bytesRead === 0) refusedAt = startedAt;
      client.destroySoon();
    });
    client.once('close', () => server.destroy());
    client.pipe(server);
    server.pipe(client);
  }

  let listening: Promise<number[]> | null = null;
  return {
    async open(context) {
      opener = context;
      waiting += 1;
      try {
        await unlessAborted(login(), context.signal);
      } finally {
        waiting -= 1;
        if (waiting === 0 && context.signal.aborted) cancel.abort(context.signal.reason);
      }
    },
    ports() {
      listening ??= Promise.all(
        hosts.map((_, index) => listen((client) => void relay(client, index).catch(() => client.destroy()))),
      );
      return listening;
    },
    async failureSince(time) {
      // ssh may be ending: its connections close first.
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      if (broken.at >= time) return broken.says;
      return refusedAt >= time && line.at >= refusedAt ? line.text : null;
    },
  };
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
    hint: `Log in once by hand, to see its questions: ssh ${loginOf(parameters.tunnel ?? '')}`,
    cause,
  });
}

function loginOf(tunnel: string): string {
  const { user = null, host = '', port = null } = parseTunnel(tunnel) ?? {};
  return `${port === null ? '' : `-p ${port} `}${user === null ? '' : `${user}@`}${host}`;
}
