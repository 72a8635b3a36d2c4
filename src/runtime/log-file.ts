import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

export interface LogFileOptions {
  /** `…/logs/tool.log`; the older ones are `tool.log.1`, `tool.log.2`, … beside it. */
  path: string;
  maxBytes?: number;
  /** Number of older files that are kept. */
  keep?: number;
}

const MAX_BYTES = 5 * 1024 * 1024;
const KEEP = 4;

/** A lock older than so many milliseconds was left by a process that was killed. */
const LOCK_STALE_MS = 10_000;

/**
 * Appends lines to a file that others of our kind write to at the same moment, for the eyes of its owner alone. Each
 * line is one write to the end of the file as it is named now: none is torn, and none is lost when the process dies.
 */
export function openLogFile({ path, maxBytes = MAX_BYTES, keep = KEEP }: LogFileOptions): (line: string) => void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return (line) => {
    if (sizeOf(path) >= maxBytes) rotate(path, { maxBytes, keep });
    append(path, `${line}\n`);
  };
}

/** Opens `logs/tool.log` of a working directory. Throws for a folder `logs` that is a link in a repository. */
export function openProgramLog(directory: string): (line: string) => void {
  const folder = join(directory, 'logs');
  const isLink = lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink();
  if (isLink && isInRepository(directory)) throw new Error(`${folder} is a link in a repository`);
  return openLogFile({ path: join(folder, 'tool.log') });
}

function isInRepository(folder: string): boolean {
  const parent = dirname(folder);
  return existsSync(join(folder, '.git')) || (parent !== folder && isInRepository(parent));
}

/** A cloned repository may have a link, or a pipe that nobody reads, in place of the file. */
function append(path: string, text: string): void {
  const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = openSync(path, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW | O_NONBLOCK, 0o600);
  try {
    if (!fstatSync(file).isFile()) throw new Error(`${path} is not a file`);
    writeFileSync(file, text);
  } finally {
    closeSync(file);
  }
}

function sizeOf(path: string): number {
  return lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** One process renames at a time; the others write on in the meantime. */
function rotate(path: string, { maxBytes, keep }: { maxBytes: number; keep: number }): void {
  const lock = `${path}.lock`;
  if (!take(lock)) return;
  try {
    // Somebody else may have been here between the look and the lock.
    if (sizeOf(path) < maxBytes) return;
    for (let number = keep; number > 0; number -= 1) {
      const newer = number === 1 ? path : `${path}.${number - 1}`;
      if (lstatSync(newer, { throwIfNoEntry: false })) renameSync(newer, `${path}.${number}`);
    }
  } finally {
    rmSync(lock, { force: true });
  }
}

function take(lock: string): boolean {
  try {
    closeSync(openSync(lock, 'wx', 0o600));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > LOCK_STALE_MS) rmSync(lock, { force: true });
    return false;
  }
}
