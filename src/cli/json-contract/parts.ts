import * as v from 'valibot';
import { ENGINE_IDS } from '../../engines/list.ts';
import type { DefinitionOnly } from '../../results/definitions-only.ts';
import type { HiddenObjects } from '../../results/hidden-objects.ts';
import type { LeftOutSchema } from '../../results/left-out-schemas.ts';
import type {
  DatabaseCopies,
  DatabaseCopy,
  DestinationState,
  ExplainedValue,
  LoadPlan,
  LoadResult,
  SnapshotRow,
  TargetInfo,
  TargetRow,
  VerifyResult,
} from '../../results/results.ts';
import type { Coverage, SanitizeFinding, SanitizePlan, SanitizeResult } from '../../results/sanitize-results.ts';
import type { TableSelection } from '../../results/selected-tables.ts';
import type { ProofRow, SubsetPlanResult, SubsetResult, SubsetTableRow } from '../../results/subset-results.ts';
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
    note: orNull(text),
    origin: v.exactOptional(text),
    signature: v.object({
      state: v.picklist(['none', 'invalid', 'unchecked', 'valid', 'trusted', 'untrusted']),
      key: orNull(text),
    }),
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

export const destination = matches<DestinationState>()(
  v.object({
    url: text,
    host: text,
    local: flag,
    database: text,
    exists: flag,
    size_bytes: orNull(number),
    connections: number,
    server_version: text,
  }),
);

const selection = matches<TableSelection>()(
  v.object({
    chosen: texts,
    needed: v.array(v.object({ table: text, needed_by: text, why: v.picklist(['reference', 'part']) })),
    empty: texts,
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

export const loadPlan = matches<LoadPlan>()(
  v.object({
    target: text,
    snapshot: orNull(snapshot),
    file: orNull(text),
    sanitized: orNull(flag),
    sanitized_reason: text,
    destination,
    chosen_by: text,
    strategy: v.picklist(['swap', 'in_place', 'script']),
    strategy_reason: text,
    undo: flag,
    keep_base: v.exactOptional(v.object({ spare: flag })),
    copies: v.exactOptional(databaseCopies),
    reset_instead: v.exactOptional(v.literal(true)),
    keep_going: v.exactOptional(v.picklist(['inspect', 'swap'])),
    schemas: texts,
    tables: number,
    rows: number,
    size_bytes: number,
    selection: orNull(selection),
    jobs: number,
    unverified_sources: texts,
    steps: texts,
    warnings: notices,
  }),
);

export const loadResult = matches<LoadResult>()(
  v.object({
    snapshot: orNull(snapshot),
    destination: text,
    tables: number,
    rows: number,
    size_bytes: number,
    selection: orNull(selection),
    swap_ms: orNull(number),
    undo_database: orNull(text),
    missing: v.exactOptional(
      v.object({ objects: number, tables: number, rows: number, differences: texts, errors: texts }),
    ),
    base_database: v.exactOptional(text),
    spare_database: v.exactOptional(text),
  }),
);

export const finding = matches<SanitizeFinding>()(
  v.object({
    column: text,
    kind: text,
    meaning: text,
    by: v.picklist(['name', 'values']),
    state: v.picklist(['unchanged', 'partly']),
    generated: flag,
    values: number,
    samples: texts,
    samples_after: texts,
  }),
);

const coverage = matches<Coverage>()(
  v.object({
    tables: v.array(
      v.object({
        name: text,
        state: v.picklist(['changed', 'untouched', 'emptied', 'dropped', 'added']),
        rows_before: orNull(number),
        rows_after: orNull(number),
      }),
    ),
    findings: v.array(finding),
    acknowledged: v.array(v.object({ column: text, kind: text, reason: text })),
    changed: v.array(v.object({ column: text, kind: text, meaning: text, samples: texts, samples_after: texts })),
  }),
);

export const sanitizePlan = matches<SanitizePlan>()(
  v.object({
    target: text,
    snapshot: orNull(snapshot),
    query: v.object({
      chosen_by: text,
      file: orNull(text),
      base64: flag,
      statements: v.array(v.object({ number, line: number, text })),
    }),
    destination: orNull(destination),
    where: text,
    strict: flag,
    undo: flag,
    unverified_sources: texts,
    steps: texts,
    warnings: notices,
  }),
);

export const sanitizeResult = matches<SanitizeResult>()(
  v.object({
    snapshot,
    original: snapshot,
    destination: orNull(text),
    statements: number,
    coverage,
    swap_ms: orNull(number),
    undo_database: orNull(text),
  }),
);

const subsetTable = matches<SubsetTableRow>()(
  v.object({
    table: text,
    rule: v.picklist(['target', 'child', 'parent', 'copy', 'excluded', 'empty']),
    rows_now: number,
    rows_expected: orNull(number),
    bytes_now: number,
    bytes_expected: orNull(number),
    path: texts,
    nulled: texts,
  }),
);

export const subsetPlan = matches<SubsetPlanResult>()(
  v.object({
    target: text,
    source: text,
    sanitized: orNull(flag),
    sanitized_reason: text,
    destination,
    seed: number,
    undo: flag,
    tables: v.array(subsetTable),
    unverified_sources: texts,
    circles: v.array(texts),
    warnings: notices,
  }),
);

const proof = matches<ProofRow>()(
  v.object({
    reference: text,
    from: text,
    columns: texts,
    to: text,
    ref_columns: texts,
    added: flag,
    orphans: number,
    orphans_in_source: number,
  }),
);

export const subsetResult = matches<SubsetResult>()(
  v.object({
    target: text,
    destination: text,
    seed: number,
    tables: v.array(v.object({ table: text, rows: number })),
    rows: number,
    proof: v.array(proof),
    swap_ms: orNull(number),
    undo_database: orNull(text),
    snapshot: orNull(snapshot),
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

/** Shapes with a definition of their own in the JSON Schema. */
export const NAMED = {
  snapshot,
  destination,
  target,
  target_info: targetInfo,
  coverage,
  load_result: loadResult,
};
