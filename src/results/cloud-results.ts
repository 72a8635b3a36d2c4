import * as v from 'valibot';
import { describe, flag, number, open, optional, orNull, text, texts } from './fields.ts';

/** A provider of the configuration, and who is signed in with it. */
export const signedIn = v.object({
  provider: text,
  provider_url: text,
  signed_in: flag,
  subject: orNull(text),
  name: describe(orNull(text), 'E-mail address or name.'),
  groups: texts,
  expires_at: describe(orNull(text), 'End of the session, unless it is refreshed.'),
  refreshable: flag,
  error: describe(orNull(text), 'Why it could not be refreshed.'),
});

export type SignedIn = v.InferOutput<typeof signedIn>;

export const signedOut = v.object({
  provider: text,
  revoked: describe(flag, 'The provider has revoked the session.'),
});

export type SignedOut = v.InferOutput<typeof signedOut>;

export const hubContent = v.object({
  hub: text,
  storage_profiles: describe(orNull(v.record(text, open)), '`null` for callers other than owners.'),
  targets: v.record(text, open),
  next_removals: describe(v.record(text, texts), 'By target, ids of the snapshots that the next publication removes.'),
});

export type HubContent = v.InferOutput<typeof hubContent>;

const keyChange = v.object({
  key: text,
  before: describe(v.unknown(), '`null` for a missing value; `(secret)` for a secret.'),
  after: v.unknown(),
  overwrites: describe(flag, 'It was changed on the hub since the last apply, and would be lost.'),
});

export type KeyChange = v.InferOutput<typeof keyChange>;

const resourceChange = v.object({
  kind: v.picklist(['storage_profile', 'target']),
  name: text,
  action: v.picklist(['create', 'change', 'unchanged']),
  changes: v.array(keyChange),
  removes: optional(
    describe(
      v.array(v.object({ id: text, created_at: text, sanitized: flag })),
      'Snapshots that a changed keep policy of a target removes at the next publication.',
    ),
  ),
});

export type ResourceChange = v.InferOutput<typeof resourceChange>;

/** Changes on the hub by applying a file. */
export const applyPlan = v.object({ hub: text, file: text, resources: v.array(resourceChange) });

export type ApplyPlan = v.InferOutput<typeof applyPlan>;

const targetSnapshots = v.array(v.object({ target: text, snapshot: text }));

/** The result of a comparison of the hub's database with its buckets. */
export const reconcileResult = v.object({
  targets: number,
  imported: describe(targetSnapshots, 'Snapshots that the database lacked.'),
  missing: describe(targetSnapshots, 'No longer offered: the bucket lacks the manifest or an object.'),
  restored: describe(targetSnapshots, 'Snapshots that the bucket lacked before, and has again.'),
  objects_added: describe(number, 'Objects that the database lacked; swept after a day without a snapshot.'),
  objects_missing: describe(number, 'Objects that the bucket lacks.'),
  problems: describe(texts, 'Manifests that cannot be imported, and buckets that cannot be read.'),
});

export type ReconcileResult = v.InferOutput<typeof reconcileResult>;

/** Why the targets of the hub are not those that it has now. */
export interface HubState {
  problem: 'unreachable' | 'refused';
  /** Time at which the shown targets were listed; `null` when none are known. */
  as_of: string | null;
}
