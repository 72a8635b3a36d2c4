import { rename, rm, stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { writeArchive } from '../../../repository/archive-file.ts';
import { damaged } from '../../../repository/damaged.ts';
import { createObjectPool } from '../../../repository/objects/object-pool.ts';
import { filesOf } from '../../../repository/repository.ts';
import { missingHere } from '../../../repository/transfer.ts';
import type { ExportResult } from '../../../results/results.ts';
import type { Context } from '../../../runtime/context.ts';
import { withStep } from '../../../runtime/events.ts';
import { mapWithConcurrency } from '../../../runtime/map-with-concurrency.ts';
import { shell } from '../../../text/shell-word.ts';
import { assertNewFile } from '../../assert-new-file.ts';
import { assertPublishable, type Publication } from '../../sanitize/ledger/ledger-gate.ts';
import { assertShared } from '../../sign-in/sharing.ts';
import { localRepository } from '../local-repository.ts';
import { findSnapshot, type SnapshotRequest } from '../snapshots.ts';
import { pullFiles } from './pull.ts';

export interface ExportRequest extends SnapshotRequest {
  /** Absolute path of the file to write. */
  file: string;
}

/** Writes a snapshot to one file, to hand it over without a bucket. Steps: `pull`, `export`. */
export async function exportSnapshot(context: Context, { file, ...request }: ExportRequest): Promise<ExportResult> {
  const { report, signal } = context;
  await assertShared(context, request.target);
  await assertNewFile(file);
  const { manifest, row, remote } = await findSnapshot(context, request);
  await assertPublishable(context, { manifest, sanitized: row.sanitized, original: unlessAsked(row.id, request) });
  const repository = localRepository(context);
  if (remote && (await missingHere(repository, filesOf(manifest))).length > 0) {
    await pullFiles(context, { manifest, remote, keep: false });
  }
  // Keeps the objects from being swept meanwhile.
  await using _staging = await repository.stage();
  const total = filesOf(manifest).reduce((sum, each) => sum + each.stored_bytes, 0);
  const unfinished = join(dirname(file), `.${basename(file)}.${process.pid}.tmp`);
  let done = 0;
  const onBytes = (bytes: number): void => {
    done += bytes;
    report({ event: 'progress', step: 'export', done: Math.min(done, total), total, unit: 'bytes' });
  };
  await using pool = createObjectPool(availableParallelism(), { signal });
  const write = async (): Promise<void> => {
    // An import would report the damage, without a way to repair it.
    await mapWithConcurrency(filesOf(manifest), availableParallelism(), (file) =>
      pool.checkStored(repository.object(file), file.stored_sha256).catch((cause) => {
        signal.throwIfAborted();
        throw damaged({ manifest, file, cause });
      }),
    );
    await writeArchive(unfinished, { manifest, object: repository.object, signal, onBytes });
    await rename(unfinished, file);
  };
  try {
    await withStep(report, { step: 'export', label: `Write ${file}`, done: `Wrote ${file}` }, write);
  } catch (error) {
    await rm(unfinished, { force: true });
    signal.throwIfAborted();
    throw error;
  }
  return { target: request.target, snapshot: row, file, bytes: (await stat(file)).size };
}

/** Whoever passes `--original` knows that the file is one. */
function unlessAsked(id: string, { target, original }: SnapshotRequest): Publication['original'] {
  if (original) return undefined;
  const hint = `Sanitize it first: ${shell`tool sanitize ${target} ${id}`}. To export the original: --original`;
  return { why: 'is an original, and the file is for others', hint };
}
