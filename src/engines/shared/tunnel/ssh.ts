import { existsSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { redact } from '../../../process/redact.ts';
import { printable } from '../../../text/printable.ts';
import type { Host } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { TunnelAddress } from '../../tunnel-address.ts';
import { startSupervised } from '../server/supervised-server.ts';

export interface OpenSsh {
  /** Sockets that lead to the hosts, in a folder of this user only. */
  sockets: string[];
  ended: Promise<unknown>;
  stop(): void;
}

export interface SshRequest {
  address: TunnelAddress;
  hosts: (Host & { port: number })[];
  /** Receives what ssh says, a line at a time. */
  onLine: (line: string) => void;
}

/** Milliseconds for the whole login, jumps included. */
const LOGIN_TIMEOUT_MS = 30_000;
const POLL_MS = 20;

/** Options that the user's configuration may not change: see ssh_config(5). */
const FIXED = {
  // No question in the middle of a run.
  BatchMode: 'yes',
  StrictHostKeyChecking: 'yes',
  NoHostAuthenticationForLocalhost: 'no',
  // A shared connection would outlive this one.
  ControlMaster: 'no',
  ControlPath: 'none',
  PermitLocalCommand: 'no',
  RemoteCommand: 'none',
  // Forwards of the user's configuration may be in use already; those of this one are awaited.
  ExitOnForwardFailure: 'no',
  // Only this user connects.
  StreamLocalBindMask: '0177',
  ServerAliveInterval: '15',
  ServerAliveCountMax: '3',
  ConnectTimeout: '20',
  LogLevel: 'INFO',
};

/** Logs in by the system's ssh; resolves once the sockets exist. Rejects with ssh's last line. */
export async function openSsh(context: EngineContext, { address, hosts, onLine }: SshRequest): Promise<OpenSsh> {
  const { signal } = context;
  let last = '';
  const { user, host, port } = address;
  const login = [
    ...(user === null ? [] : ['-l', user]),
    ...(port === null ? [] : ['-p', String(port)]),
    ...['--', host],
  ];
  const options = Object.entries({ ...FIXED, ...(await unlessForked(context, login)) });
  const directory = await mkdtemp(join(plainFolder(), 'tool-ssh-'));
  const sockets = hosts.map((_, index) => join(directory, String(index)));
  const forwards = hosts.map(
    (each, index) => `${sockets[index]}:${each.host.includes(':') ? `[${each.host}]` : each.host}:${each.port}`,
  );
  const ssh = startSupervised(context, {
    words: [
      ...(['ssh', '-N', '-n', '-T', '-a', '-x'] as const),
      ...options.flatMap(([name, value]) => ['-o', `${name}=${value}`]),
      ...forwards.flatMap((forward) => ['-L', forward]),
      ...login,
    ],
    ...{ directory, user: undefined, lastSignal: 'TERM' },
    onErrorLine(line) {
      const said = printable(redact(line)).trim();
      if (said === '') return;
      last = said;
      onLine(said);
    },
  });
  // The tunnel never keeps this process.
  ssh.unref();
  let hasEnded = false;
  const ended = ssh.ended.then(
    () => {
      hasEnded = true;
    },
    () => {
      hasEnded = true;
    },
  );
  const deadline = performance.now() + LOGIN_TIMEOUT_MS;
  while (!sockets.every((socket) => existsSync(socket))) {
    if (hasEnded) throw new Error(last || 'ssh ended without a message');
    if (signal.aborted || performance.now() > deadline) {
      await ssh.stop('TERM');
      signal.throwIfAborted();
      throw new Error(last || `no login within ${LOGIN_TIMEOUT_MS / 1000} s`);
    }
    await delay(POLL_MS);
  }
  return { sockets, ended, stop: () => void ssh.stop('TERM').catch(() => {}) };
}

/** The user's configuration may send ssh to the background, where it would outlive this process. Older ones cannot. */
async function unlessForked({ runner, signal }: EngineContext, login: string[]): Promise<Record<string, string>> {
  const { stdout } = await runner.run({ file: 'ssh', args: ['-G', ...login] }, { signal });
  return /^forkafterauthentication /m.test(stdout) ? { ForkAfterAuthentication: 'no' } : {};
}

/** ssh replaces tokens and variables in the path of a socket, and divides it at colons; its length is limited. */
function plainFolder(): string {
  const folder = tmpdir();
  return /^[\w./-]{1,70}$/.test(folder) ? folder : '/tmp';
}
