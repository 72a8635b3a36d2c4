/** The file of an archive in pg_dump's directory format that lists its entries. */
export const CONTENTS = 'toc.dat';

/**
 * The table of contents of an archive in pg_dump's directory format, `toc.dat`, as `WriteHead` and `WriteToc` of
 * pg_backup_archiver.c write it since PostgreSQL 12 (versions 1.14 to 1.16).
 */
export interface ContentsEntry {
  dumpId: number;
  /** Oid of the system catalog, and of the row in it; 0 where there is none. */
  class: number;
  oid: number;
  /** `TABLE`, `COMMENT`, `EVENT TRIGGER`. */
  kind: string;
  /** Its name; with that of its table before it where it belongs to one: `orders checked`. */
  tag: string;
  /** Empty where it is in no schema. */
  schema: string;
  definition: string;
  /** Of a table; empty for all else. */
  accessMethod: string;
}

const MAGIC = 'PGDMP';
const OLDEST = 14;
const COMPRESSION_OF_ONE_BYTE = 15;
const KIND_OF_RELATION = 16;
const NEWEST = 16;
/** Seconds, minutes, hours, day, month, year, summer time. */
const DATE_INTEGERS = 7;

/** The contents with other definitions; `null` where the format is not the one that is understood. */
export function rewriteContents(toc: Buffer, change: (entry: ContentsEntry) => string): Buffer | null {
  const reader = createReader(toc);
  if (!reader) return null;
  const pieces: Buffer[] = [];
  let copied = 0;
  try {
    for (let left = reader.integer(); left > 0; left -= 1) {
      const dumpId = reader.integer();
      reader.integer();
      const catalog = Number(reader.text() ?? 0);
      const oid = Number(reader.text() ?? 0);
      const tag = reader.text() ?? '';
      const kind = reader.text() ?? '';
      reader.integer();
      const start = reader.at();
      const definition = reader.text();
      const end = reader.at();
      const { schema, accessMethod } = reader.entryTail();
      if (definition === null) continue;
      const changed = change({ dumpId, class: catalog, oid, kind, tag, schema, definition, accessMethod });
      if (changed === definition) continue;
      pieces.push(toc.subarray(copied, start), reader.written(changed));
      copied = end;
    }
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
  if (reader.at() !== toc.length) return null;
  return Buffer.concat([...pieces, toc.subarray(copied)]);
}

/** The entries with a definition by their numbers; `null` where the format is not the one that is understood. */
export function readContents(toc: Buffer): Map<number, ContentsEntry> | null {
  const entries = new Map<number, ContentsEntry>();
  const understood = rewriteContents(toc, (entry) => {
    entries.set(entry.dumpId, entry);
    return entry.definition;
  });
  return understood && entries;
}

interface Reader {
  at(): number;
  integer(): number;
  text(): string | null;
  /** Everything of an entry that follows its definition. */
  entryTail(): Pick<ContentsEntry, 'schema' | 'accessMethod'>;
  written(text: string): Buffer;
}

/** Behind the head; RangeError at the end of the file. */
function createReader(toc: Buffer): Reader | null {
  const [major = 0, minor = 0, , integerBytes = 0] = toc.subarray(MAGIC.length);
  const known = major === 1 && minor >= OLDEST && minor <= NEWEST && integerBytes === 4;
  if (toc.subarray(0, MAGIC.length).toString('latin1') !== MAGIC || !known) return null;
  let at = MAGIC.length + 6;

  function integer(): number {
    const sign = toc.readUInt8(at) === 0 ? 1 : -1;
    const value = toc.readUInt32LE(at + 1);
    at += 1 + integerBytes;
    return sign * value;
  }

  function text(): string | null {
    const length = integer();
    if (length < 0) return null;
    if (at + length > toc.length) throw new RangeError('a text goes beyond the end of the contents');
    at += length;
    return toc.toString('utf8', at - length, at);
  }

  const reader: Reader = {
    at: () => at,
    integer,
    text,
    entryTail() {
      // DROP, COPY, schema, tablespace, access method.
      const [, , schema, , accessMethod] = [text(), text(), text(), text(), text()];
      if (minor >= KIND_OF_RELATION) integer();
      // Owner, `WITH OIDS`; then the entries that it depends on up to an absent one, and its file.
      text();
      text();
      while (text() !== null);
      text();
      return { schema: schema ?? '', accessMethod: accessMethod ?? '' };
    },
    written(content) {
      const bytes = Buffer.from(content);
      const length = Buffer.alloc(1 + integerBytes);
      length.writeUInt32LE(bytes.length, 1);
      return Buffer.concat([length, bytes]);
    },
  };
  if (minor >= COMPRESSION_OF_ONE_BYTE) at += 1;
  else integer();
  for (let index = 0; index < DATE_INTEGERS; index += 1) integer();
  // Database, and the versions of server and program.
  for (let index = 0; index < 3; index += 1) text();
  return reader;
}
