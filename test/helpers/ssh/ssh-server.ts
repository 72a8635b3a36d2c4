import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe } from 'vitest';
import { freePort } from '../proxies/free-port.ts';

const run = promisify(execFile);
const SSHD = '/usr/sbin/sshd';

/** A bastion: a real sshd, with keys and a configuration of its own. */
export interface TestBastion {
  port: number;
  /** `ssh://user@127.0.0.1:port` */
  url: string;
  folder: string;
  /** A `ssh` that reads the configuration of this bastion instead of the user's, first in `PATH`. */
  environment: { PATH: string };
  /** Adds lines before the others of ssh's configuration: the first value counts. */
  configure(lines: string): Promise<void>;
  knownHosts: string;
  /** What sshd has logged. */
  log(): Promise<string>;
  /** Ends all connections; new ones are possible. */
  disconnect(): Promise<void>;
  stop(): Promise<void>;
}

export function describeWithSsh(name: string, suite: () => void): void {
  const lacking = existsSync(SSHD) ? undefined : 'sshd';
  describe.skipIf(lacking)(lacking ? `${name} (needs ${lacking})` : name, suite);
}

export async function startBastion(settings = ''): Promise<TestBastion> {
  const folder = await mkdtemp(join(tmpdir(), 'tool-sshd-'));
  const user = userInfo().username;
  const at = (name: string): string => join(folder, name);
  for (const key of ['host', 'user']) await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at(key)]);
  const port = await freePort();
  // As root, sshd separates privileges in this folder.
  if (process.getuid?.() === 0) await mkdir('/run/sshd', { recursive: true });
  await writeFile(
    at('sshd_config'),
    `${settings}
Port ${port}
ListenAddress 127.0.0.1
HostKey ${at('host')}
AuthorizedKeysFile ${at('user.pub')}
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
LogLevel DEBUG1
`,
  );
  const knownHosts = at('known_hosts');
  await writeFile(knownHosts, `[127.0.0.1]:${port} ${await readFile(at('host.pub'), 'utf8')}`);
  const config = `UserKnownHostsFile ${knownHosts}\nIdentityFile ${at('user')}\nIdentitiesOnly yes\n`;
  await writeFile(at('ssh_config'), config);
  await mkdir(at('bin'));
  await writeFile(at('bin/ssh'), `#!/bin/sh\nexec /usr/bin/ssh -F '${at('ssh_config')}' "$@"\n`, { mode: 0o755 });
  const sshd = spawn(SSHD, ['-D', '-f', at('sshd_config'), '-E', at('log')], { stdio: 'ignore' });
  await answering(port, sshd);
  return {
    port,
    folder,
    knownHosts,
    url: `ssh://${user}@127.0.0.1:${port}`,
    environment: { PATH: `${at('bin')}:${process.env.PATH}` },
    configure: (lines) => writeFile(at('ssh_config'), `${lines}\n${config}`),
    log: () => readFile(at('log'), 'utf8'),
    async disconnect() {
      const { stdout } = await run('ps', ['-o', 'pid=', '--ppid', String(sshd.pid)]).catch(() => ({ stdout: '' }));
      for (const pid of stdout.split(/\s+/).filter(Boolean)) process.kill(Number(pid), 'SIGTERM');
    },
    async stop() {
      sshd.kill();
      if (sshd.exitCode === null && sshd.signalCode === null) await once(sshd, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function answering(port: number, sshd: ChildProcess): Promise<void> {
  while (sshd.exitCode === null) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await setTimeout(20);
  }
  throw new Error('sshd did not start');
}
