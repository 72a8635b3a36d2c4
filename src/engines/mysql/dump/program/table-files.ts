import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { DumpRequest, PackedFile } from '../../../facets/dump.ts';
import type { OnBytes } from '../../../shared/bytes-progress.ts';
import type { InsertScanner } from './insert-scanner.ts';
import { END_OF_ROWS } from './rows-file.ts';

export interface ProgramTable {
  table: string;
  /** Columns of the rows: mysqldump leaves generated ones out. Empty without rows. */
  columns: string[];
  rows: number;
  longest: number;
  bytes: number;
  packing: Promise<PackedFile>;
}

/** One file a table, packed while it is written. */
export class TableFiles {
  readonly written: ProgramTable[] = [];
  readonly #request: DumpRequest;
  readonly #onBytes: OnBytes;
  #current: { handle: FileHandle; entry: ProgramTable; grown: () => void } | null = null;

  constructor(request: DumpRequest, onBytes: OnBytes) {
    this.#request = request;
    this.#onBytes = onBytes;
  }

  async begin(table: string): Promise<void> {
    await this.end();
    const name = `${String(this.written.length + 1).padStart(4, '0')}.sql`;
    const handle = await open(join(this.#request.directory, name), 'wx', 0o600);
    const onBytes = (bytes: number): void => this.#onBytes(table, bytes);
    const { promise: grown, resolve } = Promise.withResolvers<void>();
    const packing = this.#request.write(name, { terminator: END_OF_ROWS, grown, onBytes });
    // Awaited later; an error of the program has precedence.
    packing.then(
      () => this.#onBytes(table, 0, true),
      () => {},
    );
    const entry = { table, columns: [], rows: 0, longest: 0, bytes: 0, packing };
    this.#current = { handle, entry, grown: resolve };
    this.written.push(entry);
  }

  async write(bytes: Uint8Array, insert: InsertScanner): Promise<void> {
    const entry = this.#current?.entry;
    if (insert.table !== entry?.table) throw new Error(`rows of ${insert.table} come with another table`);
    await this.#append(bytes);
    if (!insert.done || !entry) return;
    entry.columns = insert.columns;
    entry.rows += insert.rows;
    entry.longest = Math.max(entry.longest, insert.longest);
    await this.#append(Buffer.from('\n'));
  }

  async end(): Promise<void> {
    if (!this.#current) return;
    await this.#append(Buffer.from(END_OF_ROWS));
    await this.close();
    // At most two unpacked files are on disk.
    await this.written.at(-2)?.packing;
  }

  async close(): Promise<void> {
    await this.#current?.handle.close();
    this.#current?.grown();
    this.#current = null;
  }

  async #append(bytes: Uint8Array): Promise<void> {
    if (!this.#current) throw new Error('rows come before the first table');
    const { handle, entry } = this.#current;
    entry.bytes += bytes.length;
    for (let from = 0; from < bytes.length; ) from += (await handle.write(bytes, from)).bytesWritten;
  }
}
