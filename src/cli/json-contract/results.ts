import * as v from 'valibot';
import type { ApplyPlan } from '../../operations/cloud/hub-settings.ts';
import type { Tour } from '../../operations/demo.ts';
import type { SignedIn } from '../../operations/sign-in/sign-in-status.ts';
import type { AgentResult } from '../../results/agent-results.ts';
import type {
  BranchCheckoutPlan,
  BranchCheckoutResult,
  BranchCreatePlan,
  BranchCreateResult,
  BranchDropPlan,
  BranchDropResult,
  BranchHookPlan,
  BranchHookResult,
  BranchPrunePlan,
  BranchPruneResult,
  BranchResetPlan,
  BranchResetResult,
  BranchRow,
  BranchSwitchPlan,
  BranchSwitchResult,
  TargetBranch,
} from '../../results/branch-results.ts';
import type { DropCopiesPlan, DropCopiesResult, ResetPlan, ResetResult, UndoPlan } from '../../results/load-results.ts';
import type { ExportResult, ImportResult, PrunePlan, RemovePlan, TransferResult } from '../../results/results.ts';
import type { Suggestion } from '../../results/sanitize-results.ts';
import type { SubsetExplanation, SubsetGraphResult } from '../../results/subset-results.ts';
import { EXIT } from '../../runtime/errors.ts';
import { destination, loadPlan, loadResult, maybeRestoredBy } from './load-parts.ts';
import { matches } from './matches.ts';
import {
  databaseCopies,
  databaseCopy,
  destinationCopies,
  flag,
  location,
  notices,
  number,
  orNull,
  snapshot,
  text,
  texts,
  verifyResult,
} from './parts.ts';
import { finding, sanitizePlan, sanitizeResult } from './sanitize-parts.ts';
import { subsetPlan, subsetResult } from './subset-parts.ts';

export type Shape = v.ObjectSchema<v.ObjectEntries, undefined>;

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

const annotated = v.object({ target: text, snapshot });

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
        copies: v.exactOptional(destinationCopies),
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

export const signedIn = matches<SignedIn>()(
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

const branchRow = {
  name: text,
  database: text,
  url: text,
  current: flag,
  created_at: text,
  reset_at: orNull(text),
  last_used_at: orNull(text),
  clients: number,
  size_bytes: orNull(number),
  own_bytes: orNull(number),
  snapshot: orNull(text),
  repository: orNull(text),
  git_branch: orNull(text),
  owner: orNull(text),
};

const branch = matches<BranchRow>()(v.object(branchRow));

export const targetBranch = matches<TargetBranch>()(v.object({ target: text, ...branchRow }));

const ofTarget = { target: text, destination, unverified_sources: texts };

const hookAction = v.picklist(['create', 'add', 'replace', 'remove', 'delete', 'none']);

const branchDatabase = v.object({ name: text, database: text });

const branchDrop = { ...ofTarget, branches: v.array(branch), frees_bytes: orNull(number) };

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
  'branch create': [
    planned(
      matches<BranchCreatePlan>()(
        v.object({
          ...ofTarget,
          base: orNull(databaseCopy),
          load: orNull(snapshot),
          ...maybeRestoredBy,
          branches: v.array(branchDatabase),
          existing: v.array(branchDatabase),
          needs_bytes: orNull(number),
          git_branch: orNull(text),
          steps: texts,
          warnings: notices,
        }),
      ),
    ),
    matches<BranchCreateResult>()(
      v.object({
        target: text,
        snapshot: orNull(text),
        branches: v.array(v.object({ name: text, database: text, url: text, created: flag })),
        environment: v.exactOptional(v.record(text, text)),
      }),
    ),
  ],
  'branch reset': [
    planned(
      matches<BranchResetPlan>()(
        v.object({
          ...ofTarget,
          base: databaseCopy,
          branches: v.array(branch),
          needs_bytes: orNull(number),
          steps: texts,
        }),
      ),
    ),
    matches<BranchResetResult>()(
      v.object({
        target: text,
        snapshot: orNull(text),
        branches: v.array(v.object({ name: text, database: text, swap_ms: orNull(number) })),
        undo_database: orNull(text),
      }),
    ),
  ],
  'branch drop': [
    planned(matches<BranchDropPlan>()(v.object(branchDrop))),
    matches<BranchDropResult>()(v.object({ target: text, dropped: v.array(branchDatabase) })),
  ],
  'branch prune': [
    planned(
      matches<BranchPrunePlan>()(
        v.object({
          targets: v.array(
            v.object({
              ...branchDrop,
              why: v.record(text, text),
              kept: v.array(v.object({ name: text, why: text })),
            }),
          ),
          frees_bytes: orNull(number),
        }),
      ),
    ),
    matches<BranchPruneResult>()(
      v.object({ dropped: v.array(v.object({ target: text, name: text, database: text })) }),
    ),
  ],
  'branch checkout': [
    planned(
      matches<BranchCheckoutPlan>()(
        v.object({
          ...ofTarget,
          git_branch: orNull(text),
          action: v.picklist(['none', 'restore', 'switch']),
          why: orNull(text),
          previous: orNull(text),
          creates: flag,
          steps: texts,
          warnings: notices,
        }),
      ),
    ),
    matches<BranchCheckoutResult>()(
      v.object({
        target: text,
        git_branch: orNull(text),
        action: v.picklist(['none', 'restore', 'switch']),
        why: orNull(text),
        destination: text,
        created: flag,
      }),
    ),
  ],
  'branch hook': [
    planned(
      matches<BranchHookPlan>()(
        v.object({
          target: text,
          file: text,
          action: hookAction,
          text,
          destination: orNull(destination),
          unverified_sources: texts,
          warnings: notices,
        }),
      ),
    ),
    matches<BranchHookResult>()(v.object({ target: text, file: text, action: hookAction })),
  ],
  'branch switch': [
    planned(matches<BranchSwitchPlan>()(v.object({ ...ofTarget, branch, previous: orNull(text), steps: texts }))),
    matches<BranchSwitchResult>()(
      v.object({
        target: text,
        destination: text,
        branch: text,
        previous: orNull(text),
        swap_ms: orNull(number),
        undo_database: orNull(text),
      }),
    ),
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
    matches<SubsetGraphResult>()(
      v.object({
        target: text,
        file: text,
        format: v.literal('mermaid'),
        tables: number,
        references: number,
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
  pin: [annotated],
  unpin: [annotated],
  tag: [annotated],
  note: [annotated],
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
