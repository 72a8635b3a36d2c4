import { UserError } from '../runtime/errors.ts';
import type { ProcessResult, Runner } from './runner.ts';

export interface Daemon {
  program: string;
  name: string;
  /** Flags of `docker run` that give mounted files the same owner inside and outside. */
  userFlags: string[];
  /** In a virtual machine, as on macOS: `localhost` and unix sockets of this machine are not reachable. */
  isVirtual: boolean;
}

export interface Self {
  platform: NodeJS.Platform;
  user: { uid: number; gid: number } | null;
}

const PROGRAMS = ['docker', 'podman'];

const DAEMON_HINT = 'Check that Docker is running and that you may use it: docker info';

/** The first installed client program, and its daemon. */
export async function findDaemon(runner: Runner, self: Self = thisProcess()): Promise<Daemon> {
  for (const program of PROGRAMS) {
    const answer = await runner.run({ file: program, args: ['info', '--format', '{{json .}}'] }).catch(notInstalled);
    if (!answer) continue;
    if (answer.exitCode !== 0) throw unreachable(answer);
    const info = JSON.parse(answer.stdout) as Info;
    // Some clients report themselves without a daemon, with exit 0.
    if (!info.ServerVersion && !info.version) throw unreachable(answer);
    return describeDaemon(program, { info, self });
  }
  throw new UserError(
    'docker_missing',
    'Neither docker nor podman is installed, and the client programs need a container',
    { hint: 'Install Docker (https://docs.docker.com/get-docker/) or Podman, or the client programs of the database.' },
  );
}

/**
 * Docker and Podman. https://docs.docker.com/reference/cli/docker/system/info/,
 * https://docs.podman.io/en/latest/markdown/podman-info.1.html
 */
export interface Info {
  ServerVersion?: string;
  OperatingSystem?: string;
  SecurityOptions?: string[] | null;
  version?: { Version: string };
  host?: { security?: { rootless?: boolean } };
}

export function describeDaemon(program: string, { info, self }: { info: Info; self: Self }): Daemon {
  const isPodman = info.version !== undefined;
  const rootless = isPodman
    ? info.host?.security?.rootless === true
    : (info.SecurityOptions ?? []).some((option) => option.startsWith('name=rootless'));
  const own = self.user ? ['--user', `${self.user.uid}:${self.user.gid}`] : [];
  return {
    program,
    name: isPodman ? `Podman ${info.version?.Version}` : `Docker ${info.ServerVersion}`,
    userFlags: rootless ? ROOTLESS[isPodman ? 'podman' : 'docker'](own) : own,
    isVirtual: self.platform !== 'linux' || info.OperatingSystem === 'Docker Desktop',
  };
}

/** A rootless daemon maps user ids in its own way. */
const ROOTLESS: Record<'docker' | 'podman', (own: string[]) => string[]> = {
  podman: (own) => ['--userns=keep-id', ...own],
  // Root inside is this user outside.
  docker: () => ['--user', '0:0'],
};

function thisProcess(): Self {
  const { getuid, getgid, platform } = process;
  return { platform, user: getuid && getgid ? { uid: getuid(), gid: getgid() } : null };
}

function notInstalled(thrown: unknown): null {
  if (thrown instanceof UserError && thrown.code === 'tool_not_started') return null;
  throw thrown;
}

function unreachable({ stderr }: ProcessResult): UserError {
  return new UserError(
    'docker_unreachable',
    'The Docker daemon does not answer, and the client programs need a container',
    { details: stderr.trim().split('\n'), hint: DAEMON_HINT },
  );
}
