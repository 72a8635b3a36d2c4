import * as v from 'valibot';
import { ENGINE_IDS } from '../engines/list.ts';
import { EXIT, UserError } from '../errors.ts';
import { mapTexts } from '../map-texts.ts';
import { mysqlDetails } from './details/mysql-details.ts';
import { postgresDetails } from './details/postgres-details.ts';
import { escapeName, unescapeName } from './name-escapes.ts';
import { MOST_TEXT_BYTES } from './store.ts';
import { count, fileName, list, name, sha256, snapshotId, time } from './values.ts';

/** A file of the dump, and the object that holds it. */
const manifestFileSchema = v.object({
  /** The file's name within the dump: `toc.dat`, `3456.dat`. */
  name: fileName,
  /** SHA-256 of the content, in hexadecimal: also the object's name. */
  sha256,
  /** Bytes of content. */
  bytes: count,
  /** Bytes of the compressed object. */
  stored_bytes: count,
  /** SHA-256 of the compressed object as this build made it; an equal one of another build may be compressed otherwise. */
  stored_sha256: v.exactOptional(sha256),
});

const manifestTableSchema = v.object({
  /** `schema.table`, as the configuration writes it. */
  name,
  rows: count,
  file: manifestFileSchema,
  /** Further files of a table that was cut, in the order of its rows. */
  parts: v.exactOptional(list(manifestFileSchema)),
});

/** What only an engine understands. A snapshot is listed without it, and refused by the engine that needs it. */
const DETAILS = {
  postgres: v.partial(postgresDetails(name)),
  mysql: v.partial(mysqlDetails(name)),
};

/**
 * What a snapshot is: one JSON file, written last and atomically, naming the objects that hold the bytes.
 * The same file lies in a folder and in a bucket. Sizes are bytes of content, times ISO 8601 in UTC.
 */
const manifestSchema = v.object({
  format: v.literal(1),
  id: snapshotId,
  target: v.pipe(name, v.nonEmpty('must not be empty')),
  created_at: time,
  engine: v.picklist(ENGINE_IDS),
  /** As the server says it: `15.18`. */
  server_version: name,
  /** Version of the program that wrote the dump: a restore needs the same or a newer one. */
  tool_version: name,
  sanitized: v.boolean(),
  /** Of a sanitized snapshot: the id of its original, and when it was made of it. */
  sanitized_of: v.exactOptional(snapshotId),
  sanitized_at: v.exactOptional(time),
  note: v.nullable(v.string()),
  /** Schemas that are in the snapshot. */
  schemas: list(name),
  tables: list(manifestTableSchema),
  /** Everything else that makes the dump whole, such as the archive's table of contents. */
  files: list(manifestFileSchema),
  /** Bytes that this build added to `objects/`; what was shared with other snapshots is not in it. */
  added_bytes: count,
  details: v.record(v.string(), v.unknown()),
  /** By the machine that built it: see `signature.ts`. Missing in older snapshots. */
  signature: v.exactOptional(v.object({ key: v.string(), value: v.string() })),
});

export type Manifest = v.InferOutput<typeof manifestSchema>;
export type ManifestTable = v.InferOutput<typeof manifestTableSchema>;
export type ManifestFile = v.InferOutput<typeof manifestFileSchema>;

/** The manifest is damaged, or somebody has made it up. The message holds nothing of what it says. */
export class ManifestInvalid extends Error {
  override name = 'ManifestInvalid';
}

/** The only way from a text to a manifest, wherever it comes from. Throws a ManifestInvalid. */
export function parseManifest(text: string): Manifest {
  if (Buffer.byteLength(text) > MOST_TEXT_BYTES) throw new ManifestInvalid('it is too large');
  const parsed = v.safeParse(manifestSchema, parseJson(text), { abortEarly: true });
  if (!parsed.success) throw new ManifestInvalid(sentence(parsed.issues[0]));
  const { tables, schemas, ...rest } = parsed.output;
  const details = v.safeParse(DETAILS[rest.engine], rest.details, { abortEarly: true });
  if (!details.success) throw new ManifestInvalid(`details.${sentence(details.issues[0])}`);
  if (!hasDistinctFiles(parsed.output)) throw new ManifestInvalid('files: two have the same name');
  const named = mapTexts({ schemas, details: details.output }, unescapeName);
  return { ...rest, ...named, tables: renamed(tables, unescapeName) };
}

/** What `parseManifest` makes the same manifest of. */
export function manifestText(manifest: Manifest): string {
  const { schemas, details, tables } = manifest;
  const escaped = { ...manifest, ...mapTexts({ schemas, details }, escapeName), tables: renamed(tables, escapeName) };
  const pretty = `${JSON.stringify(escaped, null, 2)}\n`;
  if (Buffer.byteLength(pretty) <= MOST_TEXT_BYTES) return pretty;
  const dense = `${JSON.stringify(escaped)}\n`;
  if (Buffer.byteLength(dense) <= MOST_TEXT_BYTES) return dense;
  throw tooLarge(manifest);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text.
    throw new ManifestInvalid('it is not valid JSON');
  }
}

/** Where, and what must be there instead. */
function sentence(issue: v.BaseIssue<unknown>): string {
  const keys = (issue.path ?? []).map(({ key }) => (typeof key === 'number' ? key : plainKey(String(key))));
  const reason = issue.kind === 'schema' ? `must be ${issue.expected ?? 'something else'}` : issue.message;
  return keys.length > 0 ? `${keys.join('.')} ${reason}` : reason;
}

function plainKey(key: string): string {
  return /^[\w-]{1,64}$/.test(key) ? key : '(a key)';
}

function renamed(tables: ManifestTable[], change: (text: string) => string): ManifestTable[] {
  return tables.map((table) => ({ ...table, name: change(table.name) }));
}

function hasDistinctFiles({ tables, files }: Pick<Manifest, 'tables' | 'files'>): boolean {
  const names = [...tables.flatMap(filesOfTable), ...files].map((file) => file.name);
  return new Set(names).size === names.length;
}

function tooLarge({ tables, files }: Manifest): UserError {
  return new UserError('The database has too many objects for one snapshot', {
    code: 'manifest_too_large',
    exit: EXIT.failed,
    details: [`${tables.length} tables, ${files.length} other files: their manifest would exceed 64 MB`],
    hint: 'Leave schemas out with schema_config, or take several snapshots.',
  });
}

/** Every file with rows of the table, in their order. */
export function filesOfTable({ file, parts = [] }: ManifestTable): ManifestFile[] {
  return [file, ...parts];
}

/** Bytes of the table's content. */
export function bytesOfTable(table: ManifestTable): number {
  return filesOfTable(table).reduce((sum, { bytes }) => sum + bytes, 0);
}
