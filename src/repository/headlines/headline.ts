import * as v from 'valibot';
import { ENGINE_IDS } from '../../engines/list.ts';
import { excludedRowsOf, excludedRowsSchema } from '../../results/excluded-rows.ts';
import { definitionsOnlyOf, definitionsOnlySchema } from '../../results/manifest/definitions-only.ts';
import { dumpOriginSchema } from '../../results/manifest/dump-origin.ts';
import { gitStateSchema } from '../../results/manifest/git-state.ts';
import { hiddenObjectsOf, hiddenSchema } from '../../results/manifest/hidden-objects.ts';
import { leftOutSchemasOf } from '../../results/manifest/left-out-schemas.ts';
import { appliedOf, appliedSchema } from '../../results/manifest/migration-results.ts';
import { readDetail } from '../../results/manifest/read-detail.ts';
import { storedCoverage } from '../../results/manifest/stored-coverage.ts';
import { annotationEntries } from '../manifest/annotations.ts';
import { contentBytes, type Manifest } from '../manifest/manifest.ts';
import { verifyManifest } from '../manifest/signature.ts';
import { count, list, name, snapshotId, time } from '../manifest/values.ts';

export const headlineSchema = v.object({
  target: name,
  id: snapshotId,
  created_at: time,
  sanitized: v.boolean(),
  sanitized_of: v.exactOptional(snapshotId),
  sanitized_at: v.exactOptional(time),
  engine: v.picklist(ENGINE_IDS),
  server_version: name,
  /** The vendor's program that wrote the dump, with `program: true`: `mariadb-dump 10.11.14`. */
  program: v.exactOptional(v.string()),
  schemas: list(v.string()),
  left_out_schemas: v.exactOptional(list(v.object({ schema: v.string(), tables: count, bytes: v.optional(count) }))),
  hidden: v.exactOptional(list(hiddenSchema(v.string()))),
  definitions_only: v.exactOptional(definitionsOnlySchema(v.string())),
  excluded_rows: v.exactOptional(excludedRowsSchema(v.string())),
  tables: count,
  // Sums, which may exceed the bound of a manifest's numbers.
  rows: v.pipe(v.number(), v.minValue(0), v.finite()),
  size_bytes: v.pipe(v.number(), v.minValue(0), v.finite()),
  stored_bytes: count,
  git: v.exactOptional(gitStateSchema),
  migrations: v.exactOptional(appliedSchema),
  dump: v.exactOptional(dumpOriginSchema),
  coverage: v.exactOptional(storedCoverage),
  note: v.nullable(v.string()),
  ...annotationEntries,
  /** Absent without a signature. `unchecked`: from the list of a hub. */
  signature: v.exactOptional(v.object({ state: v.picklist(['valid', 'invalid', 'unchecked']), key: v.string() })),
});

export type Headline = v.InferOutput<typeof headlineSchema>;

declare const verified: unique symbol;

/** A headline of a manifest that this machine read: only `headlineOf` and the cache of its results make one. */
export type VerifiedHeadline = Headline & { readonly [verified]: true };

const recordedProgram = v.object({ name: v.string(), version: v.string() });

/** A headline from a list of the hub, whose signature was not verified here. */
export function unverified({ signature, ...headline }: Headline): Headline {
  return { ...headline, ...(signature && { signature: { ...signature, state: 'unchecked' } }) };
}

function programOf(manifest: Manifest): string | null {
  const program = readDetail(manifest, 'program', recordedProgram);
  return program && `${program.name} ${program.version}`;
}

export function headlineOf(manifest: Manifest): VerifiedHeadline {
  const { sanitized_of, sanitized_at, git, dump, coverage, tags, pinned } = manifest;
  const migrations = appliedOf(manifest.migrations);
  const signature = verifyManifest(manifest);
  const { target, id, created_at, sanitized, engine, server_version, schemas, tables, note } = manifest;
  const program = programOf(manifest);
  const leftOut = leftOutSchemasOf(manifest) ?? [];
  const hidden = hiddenObjectsOf(manifest);
  const definitionsOnly = definitionsOnlyOf(manifest);
  const excludedRows = excludedRowsOf(manifest);
  const headline: Headline = {
    ...{ target, id, created_at, sanitized, engine, server_version, schemas },
    ...(sanitized_of !== undefined && { sanitized_of }),
    ...(sanitized_at !== undefined && { sanitized_at }),
    ...(program !== null && { program }),
    ...(leftOut.length > 0 && { left_out_schemas: leftOut }),
    ...(hidden.length > 0 && { hidden }),
    ...(definitionsOnly.length > 0 && { definitions_only: definitionsOnly }),
    ...(excludedRows !== null && { excluded_rows: excludedRows }),
    tables: tables.length,
    rows: tables.reduce((sum, table) => sum + table.rows, 0),
    size_bytes: contentBytes(manifest),
    stored_bytes: manifest.added_bytes,
    ...(git !== undefined && { git }),
    ...(migrations.length > 0 && { migrations }),
    ...(dump !== undefined && { dump }),
    ...(coverage !== undefined && { coverage }),
    note,
    ...(tags !== undefined && { tags }),
    ...(pinned !== undefined && { pinned }),
    ...(signature.state !== 'none' && { signature }),
  };
  return headline as VerifiedHeadline;
}
