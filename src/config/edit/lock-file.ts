import { randomBytes } from 'node:crypto';
import { link, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { isRunning } from '../../process/is-running.ts';
import { UserError } from '../../runtime/errors.ts';

const TIMEOUT_MS = 10_000;
const LOOK_EVERY = 20;
/** In milliseconds. A lock of another host (a shared home folder) expires after this time. */
const MOST_HELD = 60_000;

export async function lockFile(path: string): Promise<AsyncDisposable> {
  const lock = `${path}.lock`;
  const own = `${lock}.${process.pid}-${randomBytes(4).toString('hex')}`;
  const end = Date.now() + TIMEOUT_MS;
  await writeFile(own, `${process.pid} ${hostname()}`, { mode: 0o600 });
  try {
    while (!(await take(lock, own))) {
      if (Date.now() > end) throw busy(path, lock);
      await setTimeout(LOOK_EVERY);
    }
  } finally {
    await rm(own, { force: true });
  }
  return { [Symbol.asyncDispose]: () => rm(lock, { force: true }) };
}

/** A link is atomic, and the lock file contains the owner's process id. */
async function take(lock: string, own: string): Promise<boolean> {
  try {
    await link(own, lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const owner = await readFile(lock, 'utf8').catch(() => null);
    if (owner !== null && !(await isHeld(lock, owner))) await removeDead(lock, { owner, aside: `${own}.dead` });
    return false;
  }
}

/** Two processes may find the same dead owner; the second must not remove the lock of the first. */
async function removeDead(lock: string, { owner, aside }: { owner: string; aside: string }): Promise<void> {
  await rename(lock, aside).catch(() => {});
  const moved = await readFile(aside, 'utf8').catch(() => owner);
  if (moved !== owner) await link(aside, lock).catch(() => {});
  await rm(aside, { force: true });
}

async function isHeld(lock: string, owner: string): Promise<boolean> {
  const [pid, host] = owner.split(' ');
  if (host === hostname()) return isRunning(Number(pid));
  const { mtimeMs } = await stat(lock).catch(() => ({ mtimeMs: Date.now() }));
  return Date.now() - mtimeMs < MOST_HELD;
}

function busy(path: string, lock: string): UserError {
  return new UserError('configuration_busy', `Another program is writing ${path}`, {
    hint: `If none is, remove ${lock}`,
  });
}
