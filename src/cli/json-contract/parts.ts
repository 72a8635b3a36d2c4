import * as v from 'valibot';
import { ENGINE_IDS } from '../../engines/list.ts';
import type { DatabaseCopies, DatabaseCopy, DestinationCopies } from '../../results/database-copies.ts';
import type { DefinitionOnly } from '../../results/definitions-only.ts';
import type { GitState } from '../../results/git-state.ts';
import type { HiddenObjects } from '../../results/hidden-objects.ts';
import type { LeftOutSchema } from '../../results/left-out-schemas.ts';
import type { AppliedMigrations } from '../../results/migration-results.ts';
import type { ExplainedValue, SnapshotRow, TargetInfo, TargetRow, VerifyResult } from '../../results/results.ts';
import { matches } from './matches.ts';

// Shapes that several results contain. The types of src/results hold the meaning of each key; the compiler compares.

export const text = v.string();

export const number = v.number();

export const flag = v.boolean();

export const texts = v.array(text);

export const orNull = <Schema extends v.GenericSchema>(schema: Schema) => v.nullable(schema);

/** An object whose keys are not part of this contract. */
export const open = v.record(text, v.unknown()) as unknown as v.GenericSchema<object>;

const engine = v.picklist(ENGINE_IDS);

const notice = v.object({ code: text, message: text });

export const notices = v.array(notice);

const leftOutSchema = matches<LeftOutSchema>()(v.object({ schema: text, tables: number }));

const hiddenObjects = matches<HiddenObjects>()(
  v.object({ kind: text, names: texts, tables: v.exactOptional(texts), right: v.exactOptional(text) }),
);

const definitionOnly = matches<DefinitionOnly>()(v.object({ table: text, engine: text, remote: flag }));

const gitState = matches<GitState>()(
  v.object({ repository: orNull(text), branch: orNull(text), commit: orNull(text), clean: orNull(flag) }),
);

const appliedMigrations = matches<AppliedMigrations>()(
  v.object({ tool: text, table: text, count: number, sha256: text, newest: text }),
);

export const location = v.picklist(['local', 'remote']);

export const snapshot = matches<SnapshotRow>()(
  v.object({
    index: number,
    id: text,
    created_at: text,
    sanitized: flag,
    sanitized_of: v.exactOptional(text),
    sanitized_at: v.exactOptional(text),
    engine,
    server_version: text,
    program: v.exactOptional(text),
    schemas: texts,
    left_out_schemas: v.exactOptional(v.array(leftOutSchema)),
    hidden: v.exactOptional(v.array(hiddenObjects)),
    definitions_only: v.exactOptional(v.array(definitionOnly)),
    tables: number,
    rows: number,
    size_bytes: number,
    stored_bytes: number,
    where: v.array(location),
    git: v.exactOptional(gitState),
    migrations: v.exactOptional(v.array(appliedMigrations)),
    note: orNull(text),
    tags: v.exactOptional(texts),
    pinned: v.exactOptional(v.literal(true)),
    origin: v.exactOptional(text),
    signature: v.object({
      state: v.picklist(['none', 'invalid', 'unchecked', 'valid', 'trusted', 'untrusted']),
      key: orNull(text),
    }),
  }),
);

export const databaseCopy = matches<DatabaseCopy>()(
  v.object({
    database: text,
    snapshot: orNull(text),
    loaded_at: text,
    partial: flag,
    size_bytes: orNull(number),
    outdated: orNull(text),
  }),
);

export const databaseCopies = matches<DatabaseCopies>()(
  v.object({ base: orNull(databaseCopy), spare: orNull(databaseCopy) }),
);

export const destinationCopies = matches<DestinationCopies>()(
  v.object({
    base: orNull(databaseCopy),
    spare: orNull(databaseCopy),
    branches: orNull(v.object({ count: number, size_bytes: orNull(number), own_bytes: orNull(number) })),
  }),
);

export const target = matches<TargetRow>()(
  v.object({
    name: text,
    title: text,
    type: v.picklist(['local', 'cloud', 'share']),
    engine: orNull(engine),
    src_url: orNull(text),
    dst_url: orNull(text),
    storage_profile: orNull(text),
    status: v.picklist(['ok', 'missing', 'denied', 'unreachable', 'unchecked']),
    latency_ms: orNull(number),
    server_version: orNull(text),
    size_bytes: orNull(number),
    snapshots: number,
    last_snapshot_at: orNull(text),
    error: orNull(text),
    error_code: orNull(text),
    permissions: v.exactOptional(texts),
    sso_groups: v.exactOptional(texts),
    late: v.exactOptional(flag),
    copies: v.exactOptional(destinationCopies),
  }),
);

export const targetInfo = matches<TargetInfo>()(
  v.object({
    source: orNull(text),
    destination: orNull(text),
    destination_set_by: orNull(text),
    schema_config: orNull(open),
    storage_profile: orNull(text),
    sanitize_query: orNull(text),
    sanitize_destination: orNull(text),
    sanitize_storage_profile: orNull(text),
    subset_source: orNull(text),
    subset_destination: orNull(text),
    subset_tables: texts,
    shared_storage_profile: orNull(text),
    sso_groups: texts,
    allow_destination_of: texts,
    cpus: number,
  }),
);

export const verifyResult = matches<VerifyResult>()(
  v.object({
    target: text,
    snapshot,
    ok: flag,
    files: number,
    bytes: number,
    problems: texts,
    repaired: texts,
    lost: v.array(v.object({ target: text, id: text, created_at: text })),
  }),
);

const origin = v.object({
  kind: v.picklist(['file', 'variable', 'default']),
  file: orNull(text),
  line: orNull(number),
  variable: orNull(text),
});

export const explainedValue = matches<ExplainedValue>()(
  v.object({ key: text, path: v.array(v.union([text, number])), value: v.unknown(), origin }),
);
