import { profileOf } from '../../../engines/list.ts';
import type { RowChunks } from '../../../engines/shared/rows/compare-rows.ts';
import { createRowScanner, type ScannedRow } from '../../../engines/shared/rows/row-scanner.ts';
import type { Manifest, ManifestFile } from '../../../repository/manifest/manifest.ts';
import { release } from '../../../repository/objects/release.ts';
import { formatOf } from '../rows/rows.ts';
import type { snapshotReader } from '../snapshot-reader.ts';

/** Rows of a stored file as lines in the text of COPY, also those that mysqldump wrote as statements. */
export function storedLines(
  manifest: Manifest,
  read: ReturnType<typeof snapshotReader>,
): (file: ManifestFile) => RowChunks {
  return formatOf(manifest) === 'copied'
    ? (file) => withoutEnd(manifest, read, file)
    : (file) => fromStatements(read(file));
}

async function* withoutEnd(
  { engine }: Manifest,
  read: ReturnType<typeof snapshotReader>,
  file: ManifestFile,
): RowChunks {
  let left = file.bytes - profileOf(engine).rows.endBytes;
  for await (const chunk of read(file)) {
    const rows = chunk.subarray(0, Math.max(0, left));
    left -= rows.length;
    yield rows;
  }
}

async function* fromStatements(chunks: AsyncIterable<Uint8Array>): RowChunks {
  let lines: Buffer[] = [];
  const scanner = createRowScanner({
    ...{ format: 'inserted', mostBytes: Number.POSITIVE_INFINITY, emptyEnd: false },
    onRow: ({ values }) => lines.push(Buffer.from(`${values.map(fieldOf).join('\t')}\n`, 'latin1')) > 0,
  });
  for await (const chunk of chunks) {
    scanner.push(chunk);
    yield Buffer.concat(lines);
    lines = [];
  }
}

/** The lines with only the fields at these places, in this order. */
export async function* selectFields(chunks: RowChunks, places: number[]): RowChunks {
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1')).split('\n');
    release(chunk);
    rest = lines.pop() ?? '';
    const selected = lines.map((line) => {
      const fields = line.split('\t');
      return `${places.map((place) => fields[place] ?? '').join('\t')}\n`;
    });
    yield Buffer.from(selected.join(''), 'latin1');
  }
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n' };

function fieldOf(value: ScannedRow['values'][number]): string {
  if (value === null) return '\\N';
  return Buffer.from(value.bytes)
    .toString('latin1')
    .replaceAll(/[\\\t\n]/g, (letter) => ESCAPES[letter] ?? letter);
}

/** The values of lines, in Latin-1 text; of each at most so many bytes. */
export function scanLines(lines: string[], mostBytes: number): ScannedRow[] {
  const rows: ScannedRow[] = [];
  const scanner = createRowScanner({
    ...{ format: 'copied', mostBytes, emptyEnd: false },
    onRow: (row) => rows.push(row) > 0,
  });
  for (const line of lines) scanner.push(Buffer.from(`${line}\n`, 'latin1'));
  return rows;
}
