import { createHash } from 'node:crypto';

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
  /** Access method of a table; empty for all other kinds. */
  accessMethod: string;
  /** The numbers of the entries that it depends on. */
  needs: number[];
}

/** An entry as pg_restore lists it. Of an unknown format, kind, tag, schema and definition are empty. */
export interface ArchiveEntry extends ContentsEntry {
  /** The line as `pg_restore --list` writes it, to be given back to `--use-list`. */
  line: string;
  /** Rest of the line after the identifiers: kind, schema, name and owner, which may contain spaces. */
  text: string;
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
  const pieces: Buffer[] = [];
  let copied = 0;
  const understood = walkContents(toc, ({ definition, start, end, owner: _, file: __, ...entry }) => {
    if (definition === null) return;
    const changed = change({ ...entry, definition });
    if (changed === definition) return;
    pieces.push(toc.subarray(copied, start), writtenText(changed));
    copied = end;
  });
  return understood ? Buffer.concat([...pieces, toc.subarray(copied)]) : null;
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

/** All entries, as pg_restore would list them; `null` when the format of the file is unknown. */
export function listContents(toc: Buffer): ArchiveEntry[] | null {
  const entries: ArchiveEntry[] = [];
  const understood = walkContents(toc, ({ definition, owner, start: _, end: __, file: ___, ...entry }) => {
    const { dumpId, class: catalog, oid, kind, schema, tag } = entry;
    const text = [kind, schema || '-', tag, owner].map((word) => word.replaceAll(/[\r\n]/g, ' ')).join(' ');
    entries.push({ ...entry, definition: definition ?? '', text, line: `${dumpId}; ${catalog} ${oid} ${text}` });
  });
  return understood ? entries : null;
}

/** The versions that an archive names before its entries. */
interface ArchiveHead {
  serverVersion: string | null;
}

/** `null` where the format is not one that is understood. */
export function readArchiveHead(archive: Buffer): ArchiveHead | null {
  try {
    return createReader(archive)?.head ?? null;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** The names of the files that an archive in a folder consists of; `null` when its format is unknown. */
export function filesOfContents(toc: Buffer): string[] | null {
  const files: string[] = [];
  const understood = walkContents(toc, ({ file }) => {
    if (file) files.push(file);
  });
  return understood ? files : null;
}

interface WalkedEntry extends Omit<ContentsEntry, 'definition'> {
  /** `null` of rows, large objects and the like. */
  definition: string | null;
  /** Offset of the definition in the file. */
  start: number;
  end: number;
  owner: string;
  /** The file with its rows; `null` or empty without any. */
  file: string | null;
}

/** Passes on each entry; `false` where the format is not the one that is understood. */
function walkContents(toc: Buffer, take: (entry: WalkedEntry) => void): boolean {
  const reader = createReader(toc);
  if (!reader) return false;
  try {
    for (let left = reader.integer(); left > 0; left -= 1) {
      const dumpId = reader.integer();
      reader.integer();
      const catalog = reader.number();
      const oid = reader.number();
      const tag = reader.text() ?? '';
      const kind = reader.text() ?? '';
      reader.integer();
      const start = reader.at();
      const definition = reader.text();
      const end = reader.at();
      take({ dumpId, class: catalog, oid, kind, tag, definition, start, end, ...reader.entryTail() });
    }
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
  return reader.at() === toc.length;
}

/** pg_restore would take `12x` for 12: whoever reads a number otherwise has read other contents. */
function numberOf(text: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw new RangeError(`not a number: ${text}`);
}

const INTEGER_BYTES = 4;
const MOST_INTEGER = 0x7f_ff_ff_ff;

function writtenText(content: string): Buffer {
  const bytes = Buffer.from(content);
  const length = Buffer.alloc(1 + INTEGER_BYTES);
  length.writeUInt32LE(bytes.length, 1);
  return Buffer.concat([length, bytes]);
}

interface Reader {
  head: ArchiveHead;
  at(): number;
  integer(): number;
  text(): string | null;
  /** Written as text; 0 where it is absent. */
  number(): number;
  /** Everything of an entry that follows its definition. */
  entryTail(): Pick<WalkedEntry, 'schema' | 'accessMethod' | 'owner' | 'needs' | 'file'>;
}

/** Behind the head; RangeError at the end of the file. */
function createReader(toc: Buffer): Reader | null {
  const [major = 0, minor = 0, , integerBytes = 0] = toc.subarray(MAGIC.length);
  const known = major === 1 && minor >= OLDEST && minor <= NEWEST && integerBytes === INTEGER_BYTES;
  if (toc.subarray(0, MAGIC.length).toString('latin1') !== MAGIC || !known) return null;
  let at = MAGIC.length + 6;

  function integer(): number {
    const sign = toc.readUInt8(at) === 0 ? 1 : -1;
    const value = toc.readUInt32LE(at + 1);
    // pg_restore takes it for a negative one, and with a sign for a positive one.
    if (value > MOST_INTEGER) throw new RangeError('an integer beyond 31 bits');
    at += 1 + INTEGER_BYTES;
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
    head: { serverVersion: null },
    at: () => at,
    integer,
    text,
    number: () => numberOf(text() ?? '0'),
    entryTail() {
      // DROP, COPY, schema, tablespace, access method.
      const [, , schema, , accessMethod] = [text(), text(), text(), text(), text()];
      if (minor >= KIND_OF_RELATION) integer();
      const owner = text();
      // `WITH OIDS`; then the entries that it depends on up to an absent one, and its file.
      text();
      const needs: number[] = [];
      for (let need = text(); need !== null; need = text()) needs.push(numberOf(need));
      return { schema: schema ?? '', accessMethod: accessMethod ?? '', owner: owner ?? '', needs, file: text() };
    },
  };
  if (minor >= COMPRESSION_OF_ONE_BYTE) at += 1;
  else integer();
  for (let index = 0; index < DATE_INTEGERS; index += 1) integer();
  // The database.
  text();
  reader.head = { serverVersion: text() };
  // The version of pg_dump.
  text();
  return reader;
}

/**
 * SHA-256 of the definitions in a table of contents, equal for equal schema objects whatever their oids, their order,
 * and the values of sequences; `null` where the format is not the one that is understood.
 */
export function digestDefinitions(toc: Buffer): string | null {
  const entries = readContents(toc);
  if (!entries) return null;
  const lines = [...entries.values()]
    .filter(isDefinition)
    .map(({ kind, schema, tag, definition, accessMethod }) =>
      JSON.stringify([kind, schema, tag, definition, accessMethod]),
    )
    .sort();
  const hash = createHash('sha256');
  for (const line of lines) hash.update(line).update('\n');
  return hash.digest('hex');
}

/** Values of sequences and large objects are content. */
const CONTENT = /^(SEQUENCE SET|TABLE DATA|BLOBS?|BLOB METADATA)$/;

/** The database itself, with its name, which no load creates: a save has that of the destination. */
const DATABASE = /^DATABASE\b/;

/** pg_dump's whole text for a schema that every database has: whether it is there depends on the schema's owner. */
const OF_EVERY_DATABASE = '-- *not* creating schema';

/** Reports whether a load creates an object of the entry. */
export function isDefinition({ kind, tag, definition }: ContentsEntry): boolean {
  if (CONTENT.test(kind) || DATABASE.test(kind) || definition.startsWith(OF_EVERY_DATABASE)) return false;
  return !(/^(COMMENT|ACL|SECURITY LABEL)$/.test(kind) && DATABASE.test(tag));
}
