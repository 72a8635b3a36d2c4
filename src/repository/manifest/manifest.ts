import * as v from 'valibot';
import { DETAILS_SCHEMAS } from '../../engines/details-schemas.ts';
import { ENGINE_IDS, profileOf } from '../../engines/list.ts';
import { dumpOriginSchema } from '../../results/manifest/dump-origin.ts';
import { gitStateSchema } from '../../results/manifest/git-state.ts';
import { migrationsSchema } from '../../results/manifest/migration-results.ts';
import { storedCoverage } from '../../results/manifest/stored-coverage.ts';
import { SAVES_BEFORE } from '../../results/saves/saves-before.ts';
import { UserError } from '../../runtime/errors.ts';
import { mapTexts } from '../../text/map-texts.ts';
import { MOST_TEXT_BYTES } from '../store/store.ts';
import { annotationEntries } from './annotations.ts';
import { escapeName, unescapeName } from './name-escapes.ts';
import { count, fileName, list, name, saveName, sha256, snapshotId, time } from './values.ts';

const manifestFileSchema = v.object({
  name: fileName,
  /** SHA-256 of the content in hexadecimal, the name of the object. */
  sha256,
  bytes: count,
  stored_bytes: count,
  /** SHA-256 of the compressed object of this build; equal content of another build may be compressed differently. */
  stored_sha256: v.exactOptional(sha256),
});

const manifestTableSchema = v.object({
  name,
  rows: count,
  file: manifestFileSchema,
  /** Further files of a split table, in the order of its rows. */
  parts: v.exactOptional(list(manifestFileSchema)),
});

/** Details that only the engine reads. Snapshots with unknown details are listed, and refused by the engine. */
const DETAILS = Object.fromEntries(ENGINE_IDS.map((id) => [id, v.partial(DETAILS_SCHEMAS[id](name))]));

/** The oldest format that says what the manifest says. */
export function formatFor({ engine, tables }: Pick<Manifest, 'engine' | 'tables'>): Manifest['format'] {
  return tables.some(({ parts }) => parts !== undefined) ? profileOf(engine).partsFormat : 1;
}

/**
 * A snapshot: one JSON file, written last and atomically, that references the objects. Sizes are bytes of content,
 * times ISO 8601 in UTC.
 */
const manifestSchema = v.object({
  format: v.picklist([1, 2]),
  id: snapshotId,
  target: v.pipe(name, v.nonEmpty('must not be empty')),
  created_at: time,
  engine: v.picklist(ENGINE_IDS),
  server_version: name,
  /** Version of the dump program: a restore needs this or a newer one. */
  tool_version: name,
  sanitized: v.boolean(),
  sanitized_of: v.exactOptional(snapshotId),
  sanitized_at: v.exactOptional(time),
  note: v.nullable(v.string()),
  /** A save of the destination under this name; absent of a snapshot of the source. */
  save: v.exactOptional(saveName),
  /** The operation before which the save was made by itself. */
  automatic: v.exactOptional(v.picklist(SAVES_BEFORE)),
  /** The branch that a save is of, the agent that made it (`null`: a person), and the snapshot that the data is from. */
  branch: v.exactOptional(
    v.object({ name: v.string(), owner: v.nullable(v.string()), snapshot: v.nullable(snapshotId) }),
  ),
  /** Older versions of this program ignore tags and pin. */
  ...annotationEntries,
  schemas: list(name),
  tables: list(manifestTableSchema),
  files: list(manifestFileSchema),
  /** Bytes that this build added to `objects/`. */
  added_bytes: count,
  details: v.record(v.string(), v.unknown()),
  /** State of git and migrations at the build, or the dump that was imported; older versions of this program ignore them. */
  git: v.exactOptional(gitStateSchema),
  migrations: v.exactOptional(migrationsSchema),
  dump: v.exactOptional(dumpOriginSchema),
  /** Entries of the ledger that were in force when the snapshot was sanitized. */
  classified: v.exactOptional(
    list(
      v.object({
        name: v.string(),
        state: v.picklist(['changed', 'kept', 'empty', 'excluded']),
        values: v.exactOptional(list(v.string())),
      }),
    ),
  ),
  /** Present in a sanitized snapshot. */
  coverage: v.exactOptional(storedCoverage),
  signature: v.exactOptional(
    v.object({
      key: v.string(),
      /** Without `git`, `migrations`, `dump`, `classified` and `coverage`, so that older versions, which drop them, can verify it. */
      value: v.string(),
      /** Signature of the whole manifest; absent without these. */
      whole: v.exactOptional(v.string()),
    }),
  ),
});

export type Manifest = v.InferOutput<typeof manifestSchema>;
export type ManifestTable = v.InferOutput<typeof manifestTableSchema>;
export type ManifestFile = v.InferOutput<typeof manifestFileSchema>;

/** A damaged or forged manifest. The message quotes nothing from it. */
export class ManifestInvalid extends Error {
  override name = 'ManifestInvalid';
}

/** The only way from text to a manifest. Throws ManifestInvalid, also for a save where a snapshot is expected. */
export function parseManifest(text: string, { save = false } = {}): Manifest {
  if (Buffer.byteLength(text) > MOST_TEXT_BYTES) throw new ManifestInvalid('it is too large');
  const parsed = v.safeParse(manifestSchema, parseJson(text), { abortEarly: true });
  if (!parsed.success) throw new ManifestInvalid(sentence(parsed.issues[0]));
  const { tables, schemas, ...rest } = parsed.output;
  if ((rest.save !== undefined) !== save) throw new ManifestInvalid(save ? 'it is not a save' : 'it is a save');
  const details = v.safeParse(DETAILS[rest.engine] ?? v.never(), rest.details, { abortEarly: true });
  if (!details.success) throw new ManifestInvalid(`details.${sentence(details.issues[0])}`);
  if (rest.format < formatFor(parsed.output)) throw new ManifestInvalid('tables: parts need format 2');
  if (!hasDistinctFiles(parsed.output)) throw new ManifestInvalid('files: two have the same name');
  const named = mapTexts({ schemas, details: details.output }, unescapeName);
  return { ...rest, ...named, tables: renamed(tables, unescapeName) };
}

/** Bytes up to which a manifest is indented: larger ones have too many tables to read, and shrink by a third. */
const READABLE_BYTES = 64 * 1024;

export function manifestText(manifest: Manifest): string {
  const { schemas, details, tables } = manifest;
  const escaped = { ...manifest, ...mapTexts({ schemas, details }, escapeName), tables: renamed(tables, escapeName) };
  const pretty = `${JSON.stringify(escaped, null, 2)}\n`;
  if (Buffer.byteLength(pretty) <= READABLE_BYTES) return pretty;
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
  return new UserError('manifest_too_large', 'The database has too many objects for one snapshot', {
    details: [`${tables.length} tables, ${files.length} other files: their manifest would exceed 64 MB`],
    hint: 'Leave schemas out with schema_config, or build several snapshots.',
  });
}

export function filesOfTable({ file, parts = [] }: ManifestTable): ManifestFile[] {
  return [file, ...parts];
}

/** Returns the size of a snapshot, with its definitions; of selected tables that of their rows. */
export function contentBytes({ tables, files }: Pick<Manifest, 'tables' | 'files'>, selected = tables): number {
  const others = selected.length === tables.length ? files : [];
  return (
    selected.reduce((sum, table) => sum + bytesOfTable(table), 0) + others.reduce((sum, { bytes }) => sum + bytes, 0)
  );
}

export function bytesOfTable(table: ManifestTable): number {
  return filesOfTable(table).reduce((sum, { bytes }) => sum + bytes, 0);
}
