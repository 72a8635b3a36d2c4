import { appendFileSync, closeSync, mkdirSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

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
    appendFileSync(path, `${line}\n`, { mode: 0o600 });
  };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
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
      if (statSync(newer, { throwIfNoEntry: false })) renameSync(newer, `${path}.${number}`);
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
