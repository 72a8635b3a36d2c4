import type { ManifestFile } from '../../../../repository/manifest/manifest.ts';
import type { RestoreRun } from '../../../facets/restore.ts';
import { DATA_TERMINATOR } from '../../dump/archive.ts';
import { createRowGuard, refused } from './row-guard.ts';

/** Yields the rows of a file in chunks, without its terminator: exactly as many bytes as the manifest says. */
export async function* storedRows(
  read: RestoreRun['read'],
  { table, file }: { table: string; file: ManifestFile },
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  const guard = createRowGuard(table);
  let left = file.bytes - DATA_TERMINATOR.length;
  let ending = Buffer.alloc(0);
  for await (const frame of read(file)) {
    const rows = frame.subarray(0, Math.max(0, left));
    left -= rows.length;
    guard.check(rows);
    ending = Buffer.concat([ending, frame.subarray(rows.length)]);
    if (ending.length > DATA_TERMINATOR.length) break;
    yield rows;
  }
  guard.end();
  if (left !== 0 || ending.toString('latin1') !== DATA_TERMINATOR) {
    throw refused(table, 'no end of COPY where the manifest puts it');
  }
}
