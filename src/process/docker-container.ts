import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { hostname } from 'node:os';
import { EXIT, UserError } from '../runtime/errors.ts';
import type { Daemon } from './docker-daemon.ts';
import type { Mount, Runner } from './runner.ts';

/** A container in which one command after the other is run, until it is closed or we end. */
export interface Container {
  name: string;
  daemon: Daemon;
  /** What it sees of this machine. */
  sees(mounts: Mount[]): boolean;
  hasEnded(): boolean;
  ended: Promise<void>;
  /** Sends a signal to a process in it, and to those that this one has started. */
  kill(signal: 'TERM' | 'KILL', pid: number): void;
  close(): void;
}

export interface ContainerStart {
  runner: Runner;
  daemon: Daemon;
  image: string;
  mounts: Mount[];
  /** Seen by whoever may inspect the container: never a secret. */
  env: Record<string, string>;
}

/**
 * The container lives as long as its standard input, which is a pipe from us: however we end, by `kill -9` too, it
 * ends, and with it every process in it. What comes through the pipe are signals, since a killed `docker exec` leaves
 * its process behind. The shell's own builtins are enough for it, so that any image with a shell will do.
 */
const KEEPER = `echo ready
while read -r signal process; do
  kill -s "$signal" -- "-$process" || kill -s "$signal" "$process"
done 2>/dev/null`;

/** Marks the containers of all our processes on this machine; the name says of which process one is. */
const LABEL = `com.tool.machine=${hostname()}`;
const NAME = /^tool-(\d+)-[0-9a-f]+$/;

export async function startContainer({ runner, daemon, image, mounts, env }: ContainerStart): Promise<Container> {
  const name = `tool-${process.pid}-${randomBytes(4).toString('hex')}`;
  const present = mounts.filter(canBeMounted);
  const child = runner.start({
    file: daemon.program,
    args: [
      ...['run', '--rm', '--interactive', '--init', '--pull=never', '--name', name, '--label', LABEL],
      // Where SELinux rules, folders of this user's are not a container's; relabelling them would change them.
      ...['--security-opt', 'label=disable'],
      ...(daemon.isVirtual ? [] : ['--network=host']),
      ...daemon.userFlags,
      ...Object.entries(env).flatMap(([variable, value]) => ['--env', `${variable}=${value}`]),
      ...present.flatMap((mount) => ['--mount', mountFlag(mount)]),
      ...['--entrypoint', 'sh', image, '-c', KEEPER],
    ],
    // Ctrl-C in a terminal goes to its whole process group; we still need the container to clean up with.
    detached: true,
  });
  // It may have ended before it is told to.
  child.stdin.on('error', () => {});
  let over = false;
  const completed = child.ended.finally(() => {
    over = true;
  });
  const ready = new Promise<void>((resolve) => child.stdout.once('data', () => resolve()));
  const failed = await Promise.race([ready, completed]);
  if (failed) throw notStarted(image, failed.stderr);
  child.unref();
  return {
    name,
    daemon,
    // A path that is not there is not there inside either.
    sees: (wanted) => wanted.every((mount) => !canBeMounted(mount) || present.some((seen) => covers(seen, mount))),
    hasEnded: () => over,
    ended: completed.then(() => {}),
    kill: (signal, pid) => void child.stdin.write(`${signal} ${pid}\n`),
    close: () => void child.stdin.end(),
  };
}

/** Removes the containers of processes that ended without theirs, as when the daemon was down at that moment. */
export async function sweepContainers({ runner, daemon }: Pick<ContainerStart, 'runner' | 'daemon'>): Promise<void> {
  const list = ['ps', '--all', '--filter', `label=${LABEL}`, '--format', '{{.Names}}'];
  const { stdout } = await runner.run({ file: daemon.program, args: list });
  const left = stdout.split('\n').filter((name) => isLeft(NAME.exec(name)?.[1]));
  if (left.length > 0) await runner.run({ file: daemon.program, args: ['rm', '--force', ...left] });
}

function isLeft(pid: string | undefined): boolean {
  if (pid === undefined) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    // Somebody else's process answers EPERM.
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

function canBeMounted({ path, fileOnly }: Mount): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && !(fileOnly && stats.isDirectory());
}

/** Whether what is wanted can be seen through what is mounted. */
export function covers(seen: Mount, wanted: Mount): boolean {
  const inside = wanted.path === seen.path || wanted.path.startsWith(`${seen.path}/`);
  return inside && (seen.writable === true || wanted.writable !== true);
}

/** The value is a line of CSV, in which a path may have a comma. https://docs.docker.com/engine/storage/bind-mounts/ */
function mountFlag({ path, writable }: Mount): string {
  const quoted = path.replaceAll('"', '""');
  return ['type=bind', `"source=${quoted}"`, `"target=${quoted}"`, ...(writable ? [] : ['readonly'])].join(',');
}

function notStarted(image: string, stderr: string): UserError {
  return new UserError(`A container of ${image} cannot be started`, {
    code: 'container_not_started',
    exit: EXIT.failed,
    details: stderr.trim().split('\n'),
    hint: 'The message above is that of Docker. The image needs a shell; the daemon must run on this machine and may mount its folders.',
  });
}
