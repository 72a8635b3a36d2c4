import { open, readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { isRunning } from '../../../process/is-running.ts';
import type { EngineContext } from '../../engine-context.ts';

/** The folder of the data within that of the server. */
export const DATA = 'data';
export const PID_FILE = join(DATA, 'postmaster.pid');

const DEADLINE_MS = 10_000;
const LOOK_EVERY_MS = 10;

/** Reports whether the server accepts connections: line 8 of its file is its state. */
export async function isReady(directory: string): Promise<boolean> {
  return (await pidLines(directory))[7]?.trim() === 'ready';
}

/**
 * Finds the process that runs on the data of a folder. A process that only has its id is another one: the server has the
 * folder among its arguments, which every user may read, unlike its current folder.
 */
export async function findServer(context: EngineContext, directory: string): Promise<number | null> {
  const [first = '', data = ''] = await pidLines(directory);
  // A single-user process has a negative one.
  const pid = Math.abs(Number(first));
  if (!Number.isSafeInteger(pid) || pid <= 1 || !isRunning(pid)) return null;
  const own = join(directory, DATA);
  if (data !== own && data !== (await realpath(own).catch(() => null))) return null;
  return (await argumentsOf(context, pid)).includes(`-D ${own}`) ? pid : null;
}

async function argumentsOf({ runner }: EngineContext, pid: number): Promise<string> {
  const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null);
  if (words !== null) return words.replaceAll('\0', ' ');
  // Systems without /proc.
  const listed = await runner.run({ file: 'ps', args: ['-ww', '-o', 'args=', '-p', String(pid)] }).catch(() => null);
  return listed?.stdout ?? '';
}

/** Stops it, at once where a clean shutdown takes too long. */
export async function stopServer(context: EngineContext, directory: string): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    const pid = await findServer(context, directory);
    if (pid === null) return;
    try {
      process.kill(pid, signal);
    } catch {
      return;
    }
    for (const end = Date.now() + DEADLINE_MS; Date.now() < end; ) {
      if ((await findServer(context, directory)) === null) return;
      await setTimeout(LOOK_EVERY_MS);
    }
  }
}

const MOST_BYTES = 4096;

async function pidLines(directory: string): Promise<string[]> {
  try {
    await using handle = await open(join(directory, PID_FILE), 'r');
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, 0);
    return buffer.subarray(0, bytesRead).toString().split('\n');
  } catch {
    return [];
  }
}
