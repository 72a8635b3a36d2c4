import * as v from 'valibot';
import type { AuditEvent, ServiceToken } from '../../cloud/contract/schemas.ts';
import type { Problem } from '../../config/configuration.ts';
import type { InitResult } from '../../config/init/init.ts';
import { EFFECTS } from '../../config/trust/effect.ts';
import type { HubContent } from '../../operations/cloud/show.ts';
import type { CheckReport } from '../../operations/configuration/check.ts';
import type { ImportReport } from '../../operations/configuration/import.ts';
import type { EncryptResult } from '../../operations/configuration/secrets.ts';
import type { ShownConfiguration } from '../../operations/configuration/show.ts';
import type { ForgottenSource } from '../../operations/identities.ts';
import type { OwnKey } from '../../operations/key.ts';
import type { SignedOut } from '../../operations/sign-in/sign-out.ts';
import type { ClearStorage } from '../../operations/snapshots/encrypted-storage.ts';
import type { TrustedFile } from '../../operations/trust.ts';
import type { BranchList } from '../../results/branch-results.ts';
import {
  HISTORY_METHODS,
  HISTORY_OPERATIONS,
  HISTORY_OUTCOMES,
  type HistoryList,
} from '../../results/history-results.ts';
import type { DiffResult } from '../../results/results.ts';
import type { RowsResult } from '../../results/rows-results.ts';
import type { TableDiff } from '../../results/table-diff.ts';
import { matches } from './matches.ts';
import { explainedValue, flag, number, open, orNull, snapshot, target, targetInfo, text, texts } from './parts.ts';
import { type Shape, signedIn, targetBranch } from './results.ts';

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
    subject: v.optional(orNull(text)),
    issuer: v.optional(orNull(text)),
  }),
);

const rowColumn = v.object({ name: text, personal: orNull(text), masked: flag });

const described = v.object({ ...target.entries, info: targetInfo });

/** Documents of the reading commands. */
export const DOCUMENTS: Record<string, Shape[]> = {
  targets: [v.object({ mode, targets: v.array(target) }), v.object({ mode, targets: v.array(described) })],
  target: [
    v.object({ target: text, snapshots: v.array(snapshot) }),
    v.object({ target: text, snapshots: v.array(snapshot), info: described }),
  ],
  'branch list': [
    matches<BranchList>()(
      v.object({ branches: v.array(targetBranch), errors: v.array(v.object({ target: text, message: text })) }),
    ),
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
        migrations: v.exactOptional(v.array(v.object({ tool: text, table: text, only_from: texts, only_to: texts }))),
      }),
    ),
    matches<TableDiff>()(
      v.object({
        target: text,
        table: text,
        from: snapshot,
        to: snapshot,
        definition: orNull(v.array(v.object({ change: v.picklist(['added', 'removed', 'same']), text }))),
        rows: orNull(
          v.object({
            columns: v.array(rowColumn),
            added: number,
            removed: number,
            changed: orNull(number),
            samples: v.array(
              v.object({
                change: v.picklist(['added', 'removed', 'before', 'after']),
                values: v.array(orNull(text)),
              }),
            ),
          }),
        ),
        rows_not_compared: orNull(v.picklist(['columns_differ', 'too_large', 'one_side'])),
      }),
    ),
  ],
  rows: [
    matches<RowsResult>()(
      v.object({
        target: text,
        snapshot,
        table: text,
        columns: v.array(rowColumn),
        rows: v.array(v.array(orNull(text))),
        cut: v.array(v.object({ row: number, column: number, bytes: number })),
        total: number,
      }),
    ),
  ],
  history: [
    matches<HistoryList>()(
      v.object({
        entries: v.array(
          v.object({
            at: text,
            operation: v.picklist(HISTORY_OPERATIONS),
            target: text,
            outcome: v.picklist(HISTORY_OUTCOMES),
            error: orNull(text),
            duration_ms: number,
            snapshot: orNull(text),
            sanitized: orNull(flag),
            from: orNull(text),
            to: orNull(text),
            branches: texts,
            method: orNull(v.picklist(HISTORY_METHODS)),
            size_bytes: orNull(number),
            swap_ms: orNull(number),
          }),
        ),
        damaged_lines: number,
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
  key: [matches<OwnKey>()(v.object({ public_key: text, file: text }))],
  trust: [
    matches<TrustedFile>()(
      v.object({
        file: text,
        digest: text,
        effects: v.array(
          v.object({
            effect: v.picklist(EFFECTS),
            object: text,
            detail: v.exactOptional(text),
            sealed: v.exactOptional(v.literal(true)),
          }),
        ),
      }),
    ),
    matches<ForgottenSource>()(v.object({ former_source: text })),
    matches<ClearStorage>()(v.object({ clear_storage: text })),
  ],
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
export const OTHER_DOCUMENTS = ['config schema', 'schema events', 'hub serve', 'mcp', '__complete'];
