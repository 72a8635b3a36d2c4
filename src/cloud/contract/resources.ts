import * as v from 'valibot';
import { key } from '../../config/schema/key.ts';
import { sanitizeSchema } from '../../config/schema/sanitize.ts';
import { snapshotSchema } from '../../config/schema/snapshot.ts';
import { bucketSchema, storageProfileSchema } from '../../config/schema/storage-profile.ts';
import { STORAGE_PROVIDER_IDS } from '../../config/schema/storage-providers.ts';
import { targetSchema } from '../../config/schema/target.ts';
import { count, snapshotId } from '../../repository/manifest/values.ts';
import { poolName, scheduleSchema, webhookSchema } from './builds.ts';
import { answeredKeep, keepSchema } from './keep-policy.ts';
import { PERMISSIONS, page } from './schemas.ts';
import { groups, id, time, trustedKeys } from './values.ts';

const { share: _share, snapshot: _snapshot, subset, sanitize: _sanitize, ...targetKeys } = targetSchema.entries;

/**
 * `targets.NAME` of the configuration. A query is sent as text: the hub has no files. Commands of a load are those of a
 * file that its user trusts, and so are logins by SSH.
 */
export const targetSettingsSchema = v.strictObject({
  ...targetKeys,
  snapshot: v.exactOptional(v.omit(snapshotSchema, ['after_load', 'src_tunnel', 'dst_tunnel'])),
  subset,
  sanitize: v.exactOptional(v.omit(sanitizeSchema, ['query_file'])),
});

export type TargetSettings = v.InferOutput<typeof targetSettingsSchema>;

/** Maximum age of the newest snapshot, or of the last proved restore, before the target is late. */
export const expectedEvery = v.pipe(
  v.string(),
  v.regex(/^[1-9]\d{0,3}[hdw]$/, 'must be a number of hours, days or weeks: 24h, 1d, 2w'),
);

export const targetBodySchema = v.strictObject({
  settings: targetSettingsSchema,
  original_groups: v.exactOptional(groups, []),
  builder_groups: v.exactOptional(groups, []),
  /**
   * Keys, one of which signs each sanitized snapshot; `null`: those of the hub. Absent: those that the target has, so that
   * an older client does not remove them.
   */
  trusted_keys: v.exactOptional(v.nullable(trustedKeys)),
  expected_every: v.exactOptional(v.nullable(expectedEvery), null),
  /** Absent: the one that the target has, so that an older client does not remove it. */
  restore_expected_every: v.exactOptional(v.nullable(expectedEvery)),
  schedule: v.exactOptional(v.nullable(scheduleSchema), null),
  pool: v.exactOptional(v.nullable(poolName), null),
  webhook: v.exactOptional(v.nullable(webhookSchema), null),
  keep: v.exactOptional(v.nullable(keepSchema), null),
  /** The hub remembers this content, which the next `cloud apply` compares with. */
  applied: v.exactOptional(v.boolean(), false),
});

export type TargetBody = v.InferOutput<typeof targetBodySchema>;

/** Digests to compare sealed values with given ones, without disclosing them. */
const fingerprints = v.record(v.string(), v.object({ salt: v.string(), digest: v.string() }));

export type Fingerprints = v.InferOutput<typeof fingerprints>;

/** Settings in answers of the hub: URLs are without passwords, for readers `null`. */
const answeredSettings = v.record(v.string(), v.unknown());

/** The last proved restore. The snapshot is `null` for callers who do not read it. */
const lastRestore = v.object({ at: time, snapshot: v.nullable(snapshotId) });

const targetItem = v.object({
  id,
  name: v.string(),
  settings: answeredSettings,
  permissions: v.array(v.picklist(PERMISSIONS)),
  snapshots: count,
  last_snapshot_at: v.nullable(time),
  /** The newest snapshot is older than `expected_every`. Absent in answers of an older hub. */
  late: v.optional(v.boolean()),
  /** Absent in answers of an older hub. */
  last_restore: v.optional(v.nullable(lastRestore)),
  /** The last proved restore is older than `restore_expected_every`. Absent in answers of an older hub. */
  restore_late: v.optional(v.boolean()),
  /**
   * Names of the storage profiles of its snapshots; `null`: there is none, or the caller neither reads nor pushes such
   * snapshots. Absent in answers of an older hub.
   */
  storage_profiles: v.optional(v.object({ originals: v.nullable(v.string()), sanitized: v.nullable(v.string()) })),
  revision: count,
});

export const targetPageSchema = page(targetItem);

export type CloudTarget = v.InferOutput<typeof targetItem>;

/** Additional fields for callers who may change a target. */
export const targetAnswerSchema = v.object({
  ...targetItem.entries,
  original_groups: v.array(v.string()),
  builder_groups: v.array(v.string()),
  /** Absent in answers of an older hub. */
  trusted_keys: v.optional(v.nullable(v.array(v.string()))),
  expected_every: v.optional(v.nullable(v.string())),
  restore_expected_every: v.optional(v.nullable(v.string())),
  schedule: v.optional(v.nullable(v.object({ cron: v.string(), timezone: v.string() }))),
  pool: v.optional(v.nullable(v.string())),
  /** Without its path and its secret. */
  webhook: v.optional(v.nullable(v.object({ url: v.string() }))),
  keep: v.optional(v.nullable(answeredKeep)),
  /** Snapshots that `keep` removes at the next publication. */
  next_removals: v.optional(v.array(v.string())),
  secrets: fingerprints,
  applied: v.nullable(answeredSettings),
});

/** Full URLs by key: `snapshot.src_url`. */
export const targetSecretsSchema = v.object({ urls: v.record(v.string(), v.string()) });

const {
  cli_profile: _cli,
  role_arn: _role,
  sts_endpoint: _sts,
  encrypt: _encrypt,
  path: _path,
  ...profileKeys
} = storageProfileSchema.entries;
const { encryption_key: _encryptionKey, ...storageKeys } = profileKeys;

/**
 * A storage profile with its own keys: the hub has no command-line profiles, assumes no roles and stores nothing in its
 * own folders.
 */
export const storageSettingsSchema = v.strictObject({
  ...storageKeys,
  provider: key(v.picklist(STORAGE_PROVIDER_IDS), 'Kind of storage; minio stands for any S3-compatible service.'),
  bucket: bucketSchema,
});

export type StorageSettings = v.InferOutput<typeof storageSettingsSchema>;

export const storageBodySchema = v.strictObject({
  settings: storageSettingsSchema,
  /**
   * Groups whose members may put targets into it, besides owners; `null`: every member. Absent: those that the hub has, so
   * that an older client does not open it.
   */
  target_groups: v.exactOptional(v.nullable(groups)),
  applied: v.exactOptional(v.boolean(), false),
});

export const storageAnswerSchema = v.object({
  name: v.string(),
  settings: answeredSettings,
  /** Absent in answers of an older hub. */
  target_groups: v.optional(v.nullable(v.array(v.string()))),
  revision: count,
  secrets: fingerprints,
  applied: v.nullable(answeredSettings),
});

export const storagePageSchema = page(storageAnswerSchema);

export const storageCheckSchema = v.object({ ok: v.boolean(), error: v.nullable(v.string()) });
