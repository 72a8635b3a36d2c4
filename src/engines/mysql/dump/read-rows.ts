import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ManifestTable } from '../../../repository/manifest/manifest.ts';
import { UserError } from '../../../runtime/errors.ts';
import type { DumpRequest, PackedFile } from '../../facets/dump.ts';
import type { OnBytes } from '../../shared/bytes-progress.ts';
import { dumpCutShort } from '../../shared/source-unreadable.ts';
import { type CatalogTable, nonGeneratedColumns, TEXT_TYPES } from '../catalog/tables.ts';
import { SqlError } from '../connection/session-errors.ts';
import type { Details } from '../details.ts';
import type { Part } from './parts.ts';
import { ReadFailure, type RowReader } from './row-readers.ts';
import { selectOf } from './row-select.ts';
import { ROWS_TERMINATOR, ROWS_TERMINATOR_LINES } from './row-text.ts';
import type { RowsRead } from './row-worker.ts';

export interface ReadRowsRequest {
  request: DumpRequest;
  database: string;
  /** Name of the database in the snapshot. */
  schema: string;
  tables: CutTable[];
  readers: RowReader[];
  onBytes: OnBytes;
}

/** Tables of so few bytes have no file: so many, and together of so many bytes, are read and packed at once. */
const SMALL_BYTES = 1024 * 1024;
const SMALL_AT_ONCE = 64;
/** Files that a reader has read and that are still being packed. */
const PACKING_AT_ONCE = 2;

export interface CutTable {
  table: CatalogTable;
  parts: Part[];
}

export interface DumpedTable {
  table: ManifestTable;
  data: Details['data'];
}

interface RowsFile {
  table: CatalogTable;
  part: Part;
  name: string;
  /** Bytes of the longest row. */
  longest: number;
  packed: Promise<PackedFile> | null;
}

/** Reports a table when all of its parts have ended. */
function countParts(tables: CutTable[], onEnd: (table: CatalogTable) => void) {
  const left = new Map(tables.map(({ table, parts }) => [table, parts.length]));
  return {
    end(table: CatalogTable): void {
      const parts = (left.get(table) ?? 0) - 1;
      left.set(table, parts);
      if (parts === 0) onEnd(table);
    },
  };
}

/** The largest tables first, each part after part, and small ones together; a large file is packed while it is written. */
export async function readRows({ request, database, schema, tables, readers, onBytes }: ReadRowsRequest) {
  const all = tables.map(({ table, parts }, index) => ({
    table,
    files: parts.map((part, at): RowsFile => ({ table, part, name: fileName(index, at), longest: 0, packed: null })),
  }));
  const queue = all.toSorted((a, b) => b.table.bytes - a.table.bytes).flatMap(({ files }) => files);
  const unpacked = countParts(tables, (table) => onBytes(table.name, 0, true));
  let failed = false;
  const read = (reader: RowReader, files: RowsFile[], inMemory: boolean): Promise<RowsRead[]> => {
    const queries = files.map(({ table, part, name }) => {
      return { select: selectOf(database, table, part), file: join(request.directory, name), inMemory };
    });
    return reader.read(queries).catch((error) => {
      failed = true;
      const [file, cause] = error instanceof ReadFailure ? [files[error.at], error.cause] : [files[0], error];
      throw file ? cannotRead(`${schema}.${file.table.name}`, cause) : cause;
    });
  };
  /**
   * Handles a rejection at once: the file is awaited later with the others, and an error of the reading is the one to
   * report.
   */
  const pack = (file: RowsFile, source: { grown?: Promise<unknown>; content?: Uint8Array<ArrayBuffer> } = {}) => {
    const onOwn = (bytes: number): void => onBytes(file.table.name, bytes);
    const packed = request.write(file.name, { terminator: ROWS_TERMINATOR, onBytes: onOwn, ...source });
    packed.then(
      () => unpacked.end(file.table),
      () => {},
    );
    file.packed = packed;
    return packed;
  };
  const readLarge = async (reader: RowReader, file: RowsFile): Promise<Promise<PackedFile>[]> => {
    await writeFile(join(request.directory, file.name), '', { mode: 0o600 });
    const reading = read(reader, [file], false);
    const growing = pack(file, { grown: reading });
    file.longest = (await reading)[0]?.longest ?? 0;
    return [growing];
  };
  const readSmall = async (reader: RowReader, files: RowsFile[]): Promise<Promise<PackedFile>[]> => {
    const rows = await read(reader, files, true);
    return rows.map(({ longest, content }, at) => {
      const file = files[at];
      if (!file) throw new Error('the reader has read more than it was asked for');
      file.longest = longest;
      return pack(file, content ? { content } : {});
    });
  };
  const work = async (reader: RowReader): Promise<void> => {
    const waiting: Promise<unknown>[] = [];
    for (let some = takeSome(queue); some.length > 0 && !failed; some = takeSome(queue)) {
      const [first] = some;
      const isLarge = first !== undefined && first.table.bytes > SMALL_BYTES;
      const packed = Promise.all(await (isLarge ? readLarge(reader, first) : readSmall(reader, some)));
      packed.catch(() => {});
      waiting.push(packed);
      // Of a large file little is unpacked when its last rows are read.
      while (waiting.length > (isLarge ? 1 : PACKING_AT_ONCE)) await waiting.shift();
    }
  };
  const outcomes = await Promise.allSettled(readers.map(work));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  return Promise.all(
    all.map(async ({ table, files }) => {
      const packed = await Promise.all(files.map((file) => file.packed ?? notRead(file)));
      return assemble({ schema, table, longest: Math.max(...files.map((file) => file.longest)), packed });
    }),
  );
}

function notRead({ name }: RowsFile): never {
  throw new Error(`${name} was not read`);
}

/** The next large file, or a number of small ones. */
function takeSome(queue: RowsFile[]): RowsFile[] {
  const taken = queue.splice(0, 1);
  let bytes = taken[0]?.table.bytes ?? 0;
  for (let next = queue[0]; next && taken.length < SMALL_AT_ONCE; [next] = queue) {
    bytes += next.table.bytes;
    if (bytes > SMALL_BYTES) break;
    taken.push(...queue.splice(0, 1));
  }
  return taken;
}

/** The files of a snapshot are sorted as its tables are. */
function fileName(table: number, part: number): string {
  const number = String(table + 1).padStart(4, '0');
  return part === 0 ? `${number}.rows` : `${number}-${String(part + 1).padStart(4, '0')}.rows`;
}

interface PackedTable {
  schema: string;
  table: CatalogTable;
  /** Bytes of the longest row. */
  longest: number;
  packed: PackedFile[];
}

function assemble({ schema, table, longest, packed }: PackedTable): DumpedTable {
  const name = `${schema}.${table.name}`;
  if (!packed.every(({ terminated }) => terminated)) throw dumpCutShort(name);
  const [file, ...parts] = packed.map((each) => each.file);
  if (!file) throw new Error(`${name} has no file`);
  const rows = packed.reduce((sum, { lines }) => sum + lines - ROWS_TERMINATOR_LINES, 0);
  const columns = nonGeneratedColumns(table);
  return {
    table: { name, rows, file, ...(parts.length > 0 && { parts }) },
    data: {
      [file.name]: {
        table: table.name,
        columns: columns.map((column) => column.name),
        texts: columns.filter(({ type }) => TEXT_TYPES.has(type)).map((column) => column.name),
        longest_row: longest,
      },
    },
  };
}

/** `ER_TABLE_DEF_CHANGED`: the table is not the one that the transaction could see. */
const DEFINITION_CHANGED = 1412;

function cannotRead(table: string, cause: unknown): unknown {
  if (!(cause instanceof SqlError)) return cause;
  return new UserError('dump_failed', `${table} cannot be read`, {
    details: [cause.message],
    hint:
      cause.errno === DEFINITION_CHANGED
        ? 'The table was changed while it was read. Nothing was stored; build again.'
        : "Nothing was stored. Most often the user may not read the table. If the driver cannot read it, the server's own mysqldump may: set program: true at the target.",
    cause,
  });
}
