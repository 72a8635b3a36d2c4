import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';

const SHARED_MEMORY = '/dev/shm';
/** Bytes that the servers of the tests may need at once. */
const NEEDED = 8 * 2 ** 30;

/** Vitest calls it before and after a run: all temporary files of tests are in one folder, which is removed. */
export default function useTemporaryFolder() {
  const before = process.env.TMPDIR;
  const folder = (before === undefined && inMemory()) || newFolder(tmpdir());
  process.env.TMPDIR = folder;
  return () => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
}

function newFolder(parent) {
  const folder = mkdtempSync(join(parent, 'tests-'));
  // Servers of root run as another user.
  chmodSync(folder, 0o1777);
  return folder;
}

/** Returns a folder in memory, where a server waits for no disk; `null` where there is none that can hold programs. */
function inMemory() {
  if (!existsSync(SHARED_MEMORY) || freemem() < NEEDED) return null;
  const { bavail, bsize } = statfsSync(SHARED_MEMORY);
  if (bavail * bsize < NEEDED) return null;
  const folder = newFolder(SHARED_MEMORY);
  const program = join(folder, 'program');
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
  try {
    execFileSync(program);
    return folder;
  } catch {
    rmSync(folder, { recursive: true });
    return null;
  }
}
