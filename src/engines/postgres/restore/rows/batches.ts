import { bytesOfTable, filesOfTable, type ManifestTable } from '../../../../repository/manifest/manifest.ts';
import type { ArchiveDetails } from '../../dump/archive.ts';
import { copyStatement, dataOf, MOST_BYTES_OF_ALL, type RowsToLoad } from './copy-commands.ts';
import type { FillRun } from './filling.ts';

/** Tables up to so many bytes together share one connection: starting one costs as much as loading a small table. */
const BATCH_BYTES = 16 * 1024 * 1024;

const BATCH_TABLES = 200;

export function wholeTable(table: ManifestTable): RowsToLoad {
  return { table, files: filesOfTable(table), isWhole: true };
}

/**
 * A table of more than so many times what each session has to load is shared by several. They cannot freeze its rows and
 * wait for each other at its end: below that, other tables keep the other sessions as busy.
 */
const MOST_OF_A_SESSION = 1.2;

/** Bytes that a session loads into a table that it shares with others. */
const SHARE_BYTES = 32 * 1024 * 1024;

/** Large tables alone and first, small ones together; tables without rows need nothing. */
export function batches(
  tables: ManifestTable[],
  { details, cpus, beforeSwap }: Pick<FillRun, 'details' | 'cpus' | 'beforeSwap'>,
): RowsToLoad[][] {
  const bySize = tables.filter((table) => table.rows > 0).sort((a, b) => bytesOfTable(b) - bytesOfTable(a));
  const work = bySize.reduce((sum, table) => sum + bytesOfTable(table), 0) / cpus;
  const all: RowsToLoad[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  let argumentBytes = 0;
  for (const table of bySize) {
    const size = bytesOfTable(table);
    // A snapshot that is built of the result, as when sanitizing, has the same bytes only where the order is the same.
    const canInterleave = cpus > 1 && beforeSwap === undefined;
    if (canInterleave && size > SHARE_BYTES && size > work * MOST_OF_A_SESSION && canBeShared(table, details)) {
      all.push(...shares(table).map((rows) => [rows]));
      continue;
    }
    const last = all.at(-1);
    const command = Buffer.byteLength(copyStatement(wholeTable(table), details));
    bytes += size;
    argumentBytes += command;
    if (!last || bytes > BATCH_BYTES || last.length === BATCH_TABLES || argumentBytes > MOST_BYTES_OF_ALL) {
      all.push([wholeTable(table)]);
      bytes = size;
      argumentBytes = command;
    } else {
      last.push(wholeTable(table));
    }
  }
  return all;
}

/** Rows of an extension's script may be there, and rows that go through a root belong to several tables: neither is emptied. */
function canBeShared(table: ManifestTable, details: ArchiveDetails): boolean {
  const { of_extension, root } = dataOf(table, details);
  return table.parts !== undefined && !of_extension && !root;
}

/** Parts that follow each other. */
function shares(table: ManifestTable): RowsToLoad[] {
  const all: RowsToLoad[] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const file of filesOfTable(table)) {
    const last = all.at(-1);
    if (last && bytes + file.bytes <= SHARE_BYTES) {
      last.files.push(file);
      bytes += file.bytes;
    } else {
      all.push({ table, files: [file], isWhole: false });
      bytes = file.bytes;
    }
  }
  return all;
}
