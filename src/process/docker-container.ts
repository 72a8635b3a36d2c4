import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { hostname } from 'node:os';
import { UserError } from '../runtime/errors.ts';
import type { Daemon } from './docker-daemon.ts';
import type { ImageRequest } from './docker-image.ts';
import { isRunning } from './is-running.ts';
import type { Mount } from './runner.ts';

export interface Container {
  name: string;
  daemon: Daemon;
  sees(mounts: Mount[]): boolean;
  hasEnded(): boolean;
  ended: Promise<void>;
  kill(signal: 'TERM' | 'KILL', pid: number): void;
  close(): void;
}

export interface ContainerStart extends ImageRequest {
  mounts: Mount[];
  /** Visible to anybody who can inspect the container: never a secret. */
  env: Record<string, string>;
}

/**
 * The container lives as long as its standard input, a pipe from this process, which closes however the process ends.
 * Signals come through the pipe, because killing `docker exec` leaves its process running. The script uses shell
 * builtins only, so any image with a shell works.
 */
const KEEPER = `echo ready
while read -r signal process; do
  kill -s "$signal" -- "-$process" || kill -s "$signal" "$process"
done 2>/dev/null`;

const LABEL = `com.tool.machine=${hostname()}`;
const NAME = /^tool-(\d+)-[0-9a-f]+$/;

export async function startContainer({ runner, daemon, image, mounts, env }: ContainerStart): Promise<Container> {
  const name = `tool-${process.pid}-${randomBytes(4).toString('hex')}`;
  const present = mounts.filter(canBeMounted);
  const child = runner.start({
    file: daemon.program,
    args: [
      ...['run', '--rm', '--interactive', '--init', '--pull=never', '--name', name, '--label', LABEL],
      // Under SELinux a container cannot read this user's folders, and relabelling would change them.
      ...['--security-opt', 'label=disable'],
      ...(daemon.isVirtual ? [] : ['--network=host']),
      ...daemon.userFlags,
      ...Object.entries(env).flatMap(([variable, value]) => ['--env', `${variable}=${value}`]),
      ...present.flatMap((mount) => ['--mount', mountFlag(mount)]),
      ...['--entrypoint', 'sh', image, '-c', KEEPER],
    ],
    // Ctrl-C reaches the whole process group of the terminal; cleaning up still needs the container.
    detached: true,
  });
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
    // A path that does not exist need not be mounted.
    sees: (wanted) => wanted.every((mount) => !canBeMounted(mount) || present.some((seen) => covers(seen, mount))),
    hasEnded: () => over,
    ended: completed.then(() => {}),
    kill: (signal, pid) => void child.stdin.write(`${signal} ${pid}\n`),
    close: () => void child.stdin.end(),
  };
}

/** Removes containers of dead processes, for example after the daemon was down. */
export async function sweepContainers({ runner, daemon }: Pick<ContainerStart, 'runner' | 'daemon'>): Promise<void> {
  const list = ['ps', '--all', '--filter', `label=${LABEL}`, '--format', '{{.Names}}'];
  const { stdout } = await runner.run({ file: daemon.program, args: list });
  const left = stdout.split('\n').filter((name) => isLeft(NAME.exec(name)?.[1]));
  if (left.length > 0) await runner.run({ file: daemon.program, args: ['rm', '--force', ...left] });
}

function isLeft(pid: string | undefined): boolean {
  return pid !== undefined && !isRunning(Number(pid));
}

function canBeMounted({ path, fileOnly }: Mount): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && !(fileOnly && stats.isDirectory());
}

export function covers(seen: Mount, wanted: Mount): boolean {
  const inside = wanted.path === seen.path || wanted.path.startsWith(`${seen.path}/`);
  return inside && (seen.writable === true || wanted.writable !== true);
}

/** CSV, because a path may contain a comma. https://docs.docker.com/engine/storage/bind-mounts/ */
function mountFlag({ path, writable }: Mount): string {
  const quoted = path.replaceAll('"', '""');
  return ['type=bind', `"source=${quoted}"`, `"target=${quoted}"`, ...(writable ? [] : ['readonly'])].join(',');
}

function notStarted(image: string, stderr: string): UserError {
  return new UserError('container_not_started', `Cannot start a container of ${image}`, {
    details: stderr.trim().split('\n'),
    hint: 'The message above is from Docker. The image needs a shell; the daemon must run on this machine and be able to mount its folders.',
  });
}
