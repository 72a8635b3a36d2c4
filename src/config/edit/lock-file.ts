import { randomBytes } from 'node:crypto';
import { link, rename, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { isRunning } from '../../process/is-running.ts';
import { UserError } from '../../runtime/errors.ts';
import { openRegularFile } from '../../runtime/open-regular-file.ts';

const TIMEOUT_MS = 10_000;
const LOOK_EVERY = 20;
/** In milliseconds. A lock of another host (a shared home folder) expires after this time. */
const MOST_HELD = 60_000;
/** A process id and a host name. */
const MOST_BYTES = 512;

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
    const owner = await readOwner(lock);
    if (owner !== null && !(await isHeld(lock, owner))) await removeDead(lock, { owner, aside: `${own}.dead` });
    return false;
  }
}

/** Two processes may find the same dead owner; the second must not remove the lock of the first. */
async function removeDead(lock: string, { owner, aside }: { owner: string; aside: string }): Promise<void> {
  await rename(lock, aside).catch(() => {});
  if ((await readOwner(aside)) !== owner) await link(aside, lock).catch(() => {});
  await rm(aside, { force: true });
}

/** `null` without a regular file: a cloned repository may have a link to a pipe or a device in its place. */
async function readOwner(lock: string): Promise<string | null> {
  try {
    await using handle = await openRegularFile(lock);
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } catch {
    return null;
  }
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
