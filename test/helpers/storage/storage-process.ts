import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StorageProfile } from '../../../src/repository/s3/providers.ts';
import type { Machine } from './machine.ts';

const program = fileURLToPath(new URL('../../operations/snapshots/fixtures/storage-process.ts', import.meta.url));

export interface StorageProcess {
  child: ChildProcess;
  /** Its exit code, or the signal that ended it, and what it said. */
  ended: Promise<{ end: number | string | null; output: string }>;
}

export interface StorageOperation {
  operation: 'push' | 'pull' | 'remove';
  snapshot: string;
  /** How far the clock of the machine is ahead. */
  days?: number;
}

/** Starts an operation on a storage profile in a process of its own, as the given machine. */
export async function startOperation(
  { directory, profile, context }: Machine<StorageProfile>,
  { operation, snapshot, days = 0 }: StorageOperation,
): Promise<StorageProcess> {
  const config = join(directory, 'tool.yml');
  const { targets, secret_key } = context.configuration.settings;
  const settings = {
    secret_key,
    working_directory: directory,
    storage_profiles: { team: profile },
    targets,
  };
  await writeFile(config, JSON.stringify(settings), { mode: 0o600 });
  const words = [program, config, String(days), operation, 'app', snapshot];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const ended = new Promise<{ end: number | string | null; output: string }>((resolve) => {
    child.once('close', (code, signal) => resolve({ end: code ?? signal, output }));
  });
  return { child, ended };
}
