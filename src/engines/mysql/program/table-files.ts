import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { DumpRequest, PackedFile } from '../../facets/dump.ts';
import type { InsertScanner } from './insert-scanner.ts';
import { END_OF_ROWS } from './rows-file.ts';

export interface DumpedTable {
  table: string;
  rows: number;
  longest: number;
  bytes: number;
  packing: Promise<PackedFile>;
}

interface TableFiles {
  written: DumpedTable[];
  begin(table: string): Promise<void>;
  write(bytes: Uint8Array, insert: InsertScanner): Promise<void>;
  end(): Promise<void>;
  close(): Promise<void>;
}

/** One file a table, packed while it is written. */
export function createTableFiles(request: DumpRequest, onBytes: (table: string, bytes: number) => void): TableFiles {
  const written: DumpedTable[] = [];
  let current: { handle: FileHandle; entry: DumpedTable; grown: () => void } | null = null;

  async function append(bytes: Uint8Array): Promise<void> {
    if (!current) throw new Error('rows come before the first table');
    current.entry.bytes += bytes.length;
    for (let from = 0; from < bytes.length; ) {
      const { bytesWritten } = await current.handle.write(bytes, from);
      from += bytesWritten;
    }
  }

  const files: TableFiles = {
    written,
    async begin(table) {
      await files.end();
      const name = `${String(written.length + 1).padStart(4, '0')}.sql`;
      const handle = await open(join(request.directory, name), 'wx', 0o600);
      const { promise: grown, resolve } = Promise.withResolvers<void>();
      const packing = request.write(name, {
        terminator: END_OF_ROWS,
        grown,
        onBytes: (bytes) => onBytes(table, bytes),
      });
      // Awaited later; an error of the program has precedence.
      packing.catch(() => {});
      const entry = { table, rows: 0, longest: 0, bytes: 0, packing };
      current = { handle, entry, grown: resolve };
      written.push(entry);
    },
    async write(bytes, insert) {
      if (insert.table !== current?.entry.table) throw new Error(`rows of ${insert.table} come with another table`);
      await append(bytes);
      if (!insert.done) return;
      current.entry.rows += insert.rows;
      current.entry.longest = Math.max(current.entry.longest, insert.longest);
      await append(Buffer.from('\n'));
    },
    async end() {
      if (!current) return;
      await append(Buffer.from(END_OF_ROWS));
      await files.close();
      // At most two unpacked files are on disk.
      await written.at(-2)?.packing;
    },
    async close() {
      await current?.handle.close();
      current?.grown();
      current = null;
    },
  };
  return files;
}
