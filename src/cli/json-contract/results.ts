import * as v from 'valibot';
import type { AuditEvent, ServiceToken } from '../../cloud/contract/schemas.ts';
import type { Problem } from '../../config/configuration.ts';
import type { InitResult } from '../../config/init/init.ts';
import type { ApplyPlan } from '../../operations/cloud/hub-settings.ts';
import type { HubContent } from '../../operations/cloud/show.ts';
import type { CheckReport } from '../../operations/configuration/check.ts';
import type { ImportReport } from '../../operations/configuration/import.ts';
import type { EncryptResult } from '../../operations/configuration/secrets.ts';
import type { ShownConfiguration } from '../../operations/configuration/show.ts';
import type { Tour } from '../../operations/demo.ts';
import type { SignedIn } from '../../operations/sign-in/sign-in-status.ts';
import type { SignedOut } from '../../operations/sign-in/sign-out.ts';
import type { OwnKey } from '../../operations/trust.ts';
import type { AgentResult } from '../../results/agent-results.ts';
import type {
  DiffResult,
  DropCopiesPlan,
  DropCopiesResult,
  ExportResult,
  ImportResult,
  PrunePlan,
  RemovePlan,
  ResetPlan,
  ResetResult,
  TransferResult,
  UndoPlan,
} from '../../results/results.ts';
import type { Suggestion } from '../../results/sanitize-results.ts';
import type { SubsetExplanation } from '../../results/subset-results.ts';
import { EXIT } from '../../runtime/errors.ts';
import { matches } from './matches.ts';
import {
  databaseCopies,
  databaseCopy,
  destination,
  explainedValue,
  finding,
  flag,
  loadPlan,
  loadResult,
  location,
  notices,
  number,
  open,
  orNull,
  sanitizePlan,
  sanitizeResult,
  snapshot,
  subsetPlan,
  subsetResult,
  target,
  targetInfo,
  text,
  texts,
  verifyResult,
} from './parts.ts';

type Shape = v.ObjectSchema<v.ObjectEntries, undefined>;

const planned = <Plan extends v.GenericSchema>(plan: Plan) => v.object({ dry_run: v.literal(true), plan });

const { original: _, snapshot: __, ...sanitized } = sanitizeResult.entries;
const { index: ___, where: ____, ...imported } = snapshot.entries;

const undoPlan = matches<UndoPlan>()(
  v.object({
    target: text,
    destination,
    undo_database: text,
    replaced_at: text,
    size_bytes: number,
    copies: v.exactOptional(databaseCopies),
    unverified_sources: texts,
  }),
);

const resetPlan = matches<ResetPlan>()(
  v.object({
    target: text,
    destination,
    base: databaseCopy,
    from: v.picklist(['base', 'spare']),
    undo: flag,
    spare: flag,
    needs_bytes: orNull(number),
    unverified_sources: texts,
    steps: texts,
    warnings: notices,
  }),
);

const resetResult = matches<ResetResult>()(
  v.object({
    target: text,
    destination: text,
    snapshot: orNull(text),
    loaded_at: text,
    from: v.picklist(['base', 'spare']),
    size_bytes: orNull(number),
    swap_ms: orNull(number),
    undo_database: orNull(text),
    spare_database: orNull(text),
  }),
);

const dropCopiesPlan = matches<DropCopiesPlan>()(
  v.object({ target: text, destination, copies: v.array(databaseCopy) }),
);

const removePlan = matches<RemovePlan>()(
  v.object({ target: text, snapshot, from: v.array(location), frees_bytes: number }),
);

const prunePlan = matches<PrunePlan>()(
  v.object({
    targets: v.array(
      v.object({
        target: text,
        keep: v.array(snapshot),
        remove: v.array(snapshot),
        from: v.array(location),
        frees_bytes: number,
      }),
    ),
    frees_bytes: number,
  }),
);

const transfer = matches<TransferResult>()(
  v.object({ target: text, snapshot, storage: orNull(text), objects: number, bytes: number }),
);

const applyPlan = matches<ApplyPlan>()(
  v.object({
    hub: text,
    file: text,
    resources: v.array(
      v.object({
        kind: v.picklist(['storage_profile', 'target']),
        name: text,
        action: v.picklist(['create', 'change', 'unchanged']),
        changes: v.array(v.object({ key: text, before: v.unknown(), after: v.unknown(), overwrites: flag })),
        removes: v.exactOptional(v.array(v.object({ id: text, created_at: text, sanitized: flag }))),
      }),
    ),
  }),
);

const signedIn = matches<SignedIn>()(
  v.object({
    provider: text,
    provider_url: text,
    signed_in: flag,
    subject: orNull(text),
    name: orNull(text),
    groups: texts,
    expires_at: orNull(text),
    refreshable: flag,
    error: orNull(text),
  }),
);

/** The keys that `done` has besides `event`, `command` and `duration_ms`. */
export const RESULTS: Record<string, Shape[]> = {
  build: [v.object({ snapshot }), v.object({ snapshot, sanitized: snapshot, ...sanitized })],
  load: [planned(loadPlan), loadResult],
  sanitize: [
    planned(sanitizePlan),
    sanitizeResult,
    matches<Suggestion>()(v.object({ findings: v.array(finding), query: text })),
  ],
  undo: [planned(undoPlan), loadResult],
  reset: [
    planned(resetPlan),
    resetResult,
    planned(dropCopiesPlan),
    matches<DropCopiesResult>()(v.object({ target: text, destination: text, dropped: texts })),
  ],
  subset: [
    planned(subsetPlan),
    subsetResult,
    matches<SubsetExplanation>()(
      v.object({
        target: text,
        row: v.object({ table: text, key: text }),
        chain: orNull(v.array(v.object({ table: text, key: text, why: text }))),
      }),
    ),
  ],
  push: [transfer],
  pull: [transfer],
  export: [matches<ExportResult>()(v.object({ target: text, snapshot, file: text, bytes: number }))],
  import: [matches<ImportResult>()(v.object({ target: text, file: text, ...imported }))],
  verify: [verifyResult],
  agent: [
    matches<AgentResult>()(
      v.object({
        pool: text,
        builds: v.array(
          v.object({
            target: text,
            build: text,
            outcome: v.picklist(['done', 'failed']),
            exit: v.picklist(Object.values(EXIT)),
            snapshot: orNull(text),
            code: orNull(text),
          }),
        ),
      }),
    ),
  ],
  rm: [planned(removePlan), removePlan],
  prune: [planned(prunePlan), prunePlan],
  'auth login': [signedIn],
  'cloud apply': [v.object({ dry_run: flag, plan: applyPlan })],
  'hub reconcile': [
    v.object({
      targets: number,
      imported: v.array(v.object({ target: text, snapshot: text })),
      missing: v.array(v.object({ target: text, snapshot: text })),
      restored: v.array(v.object({ target: text, snapshot: text })),
      objects_added: number,
      objects_missing: number,
      problems: texts,
    }),
  ],
  demo: [
    v.object({}),
    matches<Tour>()(
      v.object({
        built: snapshot,
        again: snapshot,
        verified: verifyResult,
        loaded: loadResult,
        reloaded: loadResult,
        undone: loadResult,
        sanitized: sanitizeResult,
        subset: subsetResult,
      }),
    ),
  ],
};

const mode = v.picklist(['local', 'cloud']);
const problem = matches<Problem>()(
  v.object({
    severity: v.picklist(['error', 'warning']),
    code: text,
    key: text,
    message: text,
    hint: orNull(text),
    file: orNull(text),
    line: orNull(number),
    column: orNull(number),
  }),
);
const programs = v.array(v.object({ name: text, path: text, version: text }));
const reach = { url: orNull(text), ok: orNull(flag), error: orNull(text) };
const tableSide = orNull(v.object({ rows: number, bytes: orNull(number) }));

const check = matches<CheckReport>()(
  v.object({
    ok: flag,
    file: orNull(text),
    shadowed: orNull(text),
    mode,
    offline: flag,
    problems: v.array(problem),
    plain_secrets: texts,
    working_directory: orNull(v.object({ path: text, ok: orNull(flag), error: orNull(text) })),
    engines: v.array(v.object({ id: text, ok: flag, tools: programs })),
    docker: orNull(
      v.object({
        ok: flag,
        name: orNull(text),
        error: orNull(text),
        hint: orNull(text),
        images: v.array(
          v.object({ id: text, image: text, present: flag, ok: flag, tools: programs, error: orNull(text) }),
        ),
      }),
    ),
    sanitizing: v.array(v.object({ target: text, place: orNull(text), throw_away: flag, error: orNull(text) })),
    keychain: v.object({ ok: flag, reason: orNull(text) }),
    storage_profiles: v.array(
      v.object({ name: text, provider: orNull(text), bucket: orNull(text), complete: flag, ...reach }),
    ),
    cloud: orNull(v.object(reach)),
  }),
);

const serviceToken = matches<ServiceToken>()(
  v.object({
    id: text,
    name: text,
    role: v.picklist(['builder', 'reader', 'owner']),
    targets: texts,
    created_at: text,
    expires_at: text,
    revoked_at: orNull(text),
  }),
);

const auditEvent = matches<AuditEvent>()(
  v.object({
    at: text,
    actor: text,
    action: text,
    target: orNull(text),
    object: orNull(text),
    outcome: v.picklist(['done', 'refused']),
    address: orNull(text),
  }),
);

const described = v.object({ ...target.entries, info: targetInfo });

/** Documents of the reading commands. */
export const DOCUMENTS: Record<string, Shape[]> = {
  targets: [v.object({ mode, targets: v.array(target) }), v.object({ mode, targets: v.array(described) })],
  target: [
    v.object({ target: text, snapshots: v.array(snapshot) }),
    v.object({ target: text, snapshots: v.array(snapshot), info: described }),
  ],
  diff: [
    matches<DiffResult>()(
      v.object({
        target: text,
        from: snapshot,
        to: orNull(snapshot),
        destination: orNull(text),
        changes: v.array(
          v.object({
            table: text,
            change: v.picklist(['added', 'gone', 'changed']),
            from: tableSide,
            to: tableSide,
          }),
        ),
        unchanged: number,
      }),
    ),
  ],
  'config init': [
    matches<InitResult>()(
      v.object({
        file: text,
        working_directory: text,
        replaced: orNull(text),
        shadowed_by: orNull(text),
        secret_key_in: v.picklist(['file', 'keychain']),
        keychain_error: orNull(text),
      }),
    ),
  ],
  'config import': [
    matches<ImportReport>()(
      v.object({
        from: text,
        file: text,
        working_directory: text,
        replaced: orNull(text),
        shadowed_by: orNull(text),
        changed: v.array(v.object({ key: text, does: text })),
        left_out: v.array(
          v.object({
            key: text,
            reason: v.picklist(['cloud', 'working_directory', 'client_programs', 'unknown', 'empty']),
          }),
        ),
        variables: v.array(v.object({ from: text, to: text })),
        problems: v.array(problem),
      }),
    ),
  ],
  'config check': [check],
  'config show': [
    matches<ShownConfiguration>()(
      v.object({
        file: orNull(text),
        shadowed: orNull(text),
        mode,
        values: v.array(explainedValue),
        problems: v.array(problem),
      }),
    ),
  ],
  'config encrypt': [
    matches<EncryptResult>()(
      v.object({
        file: text,
        encrypted: texts,
        skipped: v.array(v.object({ key: text, reason: v.picklist(['encrypted', 'template', 'no_password']) })),
      }),
    ),
  ],
  'config decrypt': [v.object({ key: text, value: text })],
  trust: [matches<OwnKey>()(v.object({ public_key: text, file: text }))],
  'auth status': [v.object({ providers: v.array(signedIn), authtoken: flag })],
  'auth logout': [v.object({ signed_out: v.array(matches<SignedOut>()(v.object({ provider: text, revoked: flag }))) })],
  'auth token': [v.object({ file: text, encrypted: texts })],
  'cloud show': [
    matches<HubContent>()(
      v.object({
        hub: text,
        storage_profiles: orNull(v.record(text, open)),
        targets: v.record(text, open),
        next_removals: v.record(text, texts),
      }),
    ),
  ],
  'cloud audit': [v.object({ events: v.array(auditEvent) })],
  'cloud token create': [v.object({ ...serviceToken.entries, authtoken: text })],
  'cloud token list': [v.object({ tokens: v.array(serviceToken) })],
  'cloud token revoke': [serviceToken],
  'hub migrate': [v.object({ migrations: texts, rewrapped: number })],
  completion: [v.object({ shell: text, script: text })],
};

/** Commands whose output is not a document of this contract: JSON Schemas, a server's log, and the completion's own. */
export const OTHER_DOCUMENTS = ['config schema', 'schema events', 'hub serve', '__complete'];
