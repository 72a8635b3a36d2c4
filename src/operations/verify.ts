import { availableParallelism } from 'node:os';
import type { Context } from '../context.ts';
import type { VerifyResult } from '../results.ts';
import { filesOf } from '../snapshots/catalogue.ts';
import { reasonOf } from '../snapshots/damaged.ts';
import { createObjectPool } from '../snapshots/object-pool.ts';

import { findSnapshot, repositoryOf, type SnapshotRequest } from './snapshots.ts';

/** Re-reads every byte of a snapshot against its checksums. Damage is in the result, not thrown. */
export async function verify(context: Context, request: SnapshotRequest): Promise<VerifyResult> {
  const { report, signal } = context;
  const { manifest, row } = await findSnapshot(context, request);
  const repository = repositoryOf(context);
  const files = filesOf(manifest);
  const total = files.reduce((sum, file) => sum + file.bytes, 0);
  const names = new Map(manifest.tables.map((table) => [table.file.name, table.name]));
  report({
    event: 'step',
    step: 'verify',
    state: 'started',
    label: `Read ${files.length} files of snapshot ${manifest.id}`,
  });

  const pool = createObjectPool(Math.min(files.length, availableParallelism()));
  await using _closing = { [Symbol.asyncDispose]: () => pool.close() };
  signal.addEventListener('abort', () => void pool.close(), { once: true });
  const problems: string[] = [];
  let done = 0;
  await Promise.all(
    files.map(async (file) => {
      const current = names.get(file.name) ?? file.name;
      const onBytes = (bytes: number): void => {
        done += bytes;
        report({ event: 'progress', step: 'verify', done, total, unit: 'bytes', current });
      };
      const object = repository.object(file);
      await pool.check(object, onBytes).catch((error) => {
        problems.push(`${current}: ${reasonOf(error)} (${object.path})`);
      });
    }),
  );
  signal.throwIfAborted();
  const ok = problems.length === 0;
  report({
    event: 'step',
    step: 'verify',
    state: 'done',
    label: ok ? 'Every byte is as it was stored' : 'Damage found',
  });
  return {
    target: manifest.target,
    snapshot: row,
    ok,
    files: files.length,
    bytes: done,
    problems: problems.sort(),
  };
}
