import type { ManifestFile } from '../../../../repository/manifest/manifest.ts';
import { UserError } from '../../../../runtime/errors.ts';
import type { RestoreRun } from '../../../facets/restore.ts';
import { DATA_TERMINATOR } from '../../dump/archive.ts';

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

/** Takes the rows of a table as they pass, in chunks that end anywhere. */
export interface RowGuard {
  /** Throws when the rows could end a COPY. */
  check(rows: Uint8Array): void;
  /** Throws when the last row has no end. */
  end(): void;
}

/** A line that begins like the end-of-copy mark. COPY itself writes every backslash of a value twice. */
const MARK = '\n\\.';

/**
 * Refuses rows that would end their COPY early: psql and the server take a line `\.` for its end, and what follows for
 * the rows of another table. psql also reads a line that holds a NUL as several.
 */
export function createRowGuard(table: string): RowGuard {
  let border = Buffer.from('\n');
  return {
    check(rows) {
      const bytes = Buffer.from(rows.buffer, rows.byteOffset, rows.byteLength);
      const across = Buffer.concat([border, bytes.subarray(0, MARK.length - 1)]);
      if (across.includes(MARK) || bytes.includes(MARK)) throw refused(table, 'a line \\. before their end');
      if (bytes.includes(0)) throw refused(table, 'a NUL byte');
      border = Buffer.concat([border, bytes.subarray(1 - MARK.length)]).subarray(1 - MARK.length);
    },
    end() {
      if (border.at(-1) !== 0x0a) throw refused(table, 'a last row without a line feed');
    },
  };
}

/** Rows that PostgreSQL never writes: they were forged or damaged. */
function refused(table: string, what: string): UserError {
  return new UserError('content_refused', `The rows of ${table} are refused: they contain ${what}`, {
    hint: 'COPY never writes such rows, so they were forged or damaged. Do not trust their source; the destination is as it was before.',
  });
}
