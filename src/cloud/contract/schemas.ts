import * as v from 'valibot';
import { sanitizeSchema } from '../../config/schema/sanitize.ts';
import { storageProfileSchema } from '../../config/schema/storage-profile.ts';
import { targetSchema } from '../../config/schema/target.ts';
import { headlineSchema } from '../../repository/headlines/headline.ts';
import { count, sha256, snapshotId } from '../../repository/values.ts';
import { parseDuration } from '../../text/duration.ts';
import { isCron, isTimeZone } from './cron.ts';
import { isWebhookUrl } from './webhook.ts';

// Bodies of the hub's API. Requests are strict objects: the hub refuses unknown fields. Answers are objects: a client
// ignores fields of a newer hub.

const LONGEST_NAME = 100;
const LONGEST_TEXT = 10_000;
const MOST_GROUPS = 200;

/** Objects in one request for URLs. */
const MOST_OBJECTS = 200;

/** URLs of parts in one answer. */
export const MOST_PARTS = 1000;

/** Name of a target or a storage profile. */
const resourceName = v.pipe(
  v.string(),
  v.nonEmpty('must not be empty'),
  v.maxLength(LONGEST_NAME, `must have at most ${LONGEST_NAME} characters`),
  v.regex(/^[^\p{Cc}/\\]+$/u, 'must not contain control characters or slashes'),
  v.check((name) => name.trim() === name && name.isWellFormed(), 'must not begin or end with a space'),
  v.check((name) => !['.', '..', '__proto__'].includes(name), 'is reserved'),
);

const id = v.pipe(v.string(), v.uuid('must be a UUID'));
const time = v.pipe(v.string(), v.isoTimestamp('must be a time in UTC (ISO 8601)'));
const shortText = v.pipe(v.string(), v.nonEmpty('must not be empty'), v.maxLength(LONGEST_TEXT));
const groups = v.pipe(v.array(v.pipe(shortText, v.maxLength(200))), v.maxLength(MOST_GROUPS));
const token = v.pipe(v.string(), v.nonEmpty('must not be empty'), v.maxLength(32_768));
const url = v.string();
const headers = v.record(v.string(), v.string());

/** What may stand in the braces of a path. */
export const PARAMETERS = { name: resourceName, id, snapshot: snapshotId } as const;

const ROLES = ['owner', 'member', 'user', 'builder', 'reader'] as const;

export const PERMISSIONS = ['read', 'read_originals', 'push', 'read_source', 'change'] as const;
export type Permission = (typeof PERMISSIONS)[number];

export const pageQuery = v.strictObject({
  limit: v.exactOptional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,3}$/, 'must be a whole number'),
      v.toNumber(),
      v.minValue(1, 'must be at least 1'),
      v.maxValue(200, 'must be at most 200'),
    ),
  ),
  cursor: v.exactOptional(v.pipe(v.string(), v.maxLength(500))),
});

function page<Item extends v.GenericSchema>(item: Item) {
  return v.object({ items: v.array(item), next_cursor: v.nullable(v.string()) });
}

export const problemSchema = v.object({
  type: v.string(),
  title: v.string(),
  status: v.number(),
  detail: v.string(),
  code: v.string(),
  hint: v.nullable(v.string()),
  request_id: v.string(),
  errors: v.array(v.object({ pointer: v.string(), detail: v.string() })),
});
export type ProblemBody = v.InferOutput<typeof problemSchema>;

export const rootSchema = v.object({
  version: v.string(),
  min_tool: v.string(),
  /** `null` where the hub trusts no provider: a trial. */
  sign_in: v.nullable(
    v.object({
      provider_url: url,
      client_id: v.string(),
      redirect_url: v.nullable(url),
      groups_claim: v.string(),
    }),
  ),
});

export const identitySchema = v.object({
  kind: v.picklist(['user', 'service']),
  id,
  name: v.string(),
  role: v.picklist(ROLES),
  auditor: v.boolean(),
  groups: v.array(v.string()),
  /** Of a service token: the targets that it is for. */
  targets: v.nullable(v.array(v.string())),
  expires_at: time,
});
export type Identity = v.InferOutput<typeof identitySchema>;

export const newSessionSchema = v.strictObject({ id_token: token, access_token: v.exactOptional(token) });
export const sessionSchema = v.object({ authtoken: v.string(), expires_at: time, user: identitySchema });

const { share: _share, snapshot, subset, sanitize: _sanitize, ...targetKeys } = targetSchema.entries;

/** `targets.NAME` of the configuration. A query is sent as text: the hub has no files. */
export const targetSettingsSchema = v.strictObject({
  ...targetKeys,
  snapshot,
  subset,
  sanitize: v.exactOptional(v.omit(sanitizeSchema, ['query_file'])),
});
export type TargetSettings = v.InferOutput<typeof targetSettingsSchema>;

/** How old the newest snapshot may become before the target is late. */
export const expectedEvery = v.pipe(
  v.string(),
  v.regex(/^[1-9]\d{0,3}[hdw]$/, 'must be a number of hours, days or weeks: 24h, 1d, 2w'),
);

/** When a target is built: cron with a time zone. The zone defaults to UTC, never to that of a machine. */
export const scheduleSchema = v.strictObject({
  cron: v.pipe(
    v.string(),
    v.maxLength(100, 'must have at most 100 characters'),
    v.check(isCron, 'must be five fields of cron, minute to day of the week: 30 2 * * 1-5'),
  ),
  timezone: v.exactOptional(
    v.pipe(v.string(), v.maxLength(64), v.check(isTimeZone, 'must be a time zone: Europe/Berlin, UTC')),
    'UTC',
  ),
});
export type Schedule = v.InferOutput<typeof scheduleSchema>;

/** Agents that share builds. */
export const poolName = v.pipe(
  v.string(),
  v.regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'must have at most 40 lower-case letters, digits and hyphens'),
);
export const DEFAULT_POOL = 'default';

const SHORTEST_SECRET = 16;

/** Receives notifications of the target. Both parts are sealed; of the URL the hub shows the address alone. */
export const webhookSchema = v.strictObject({
  url: v.pipe(v.string(), v.maxLength(2000), v.check(isWebhookUrl, 'must be a URL that begins with https://')),
  /** Signs the notifications. Absent: the one that the hub has. */
  secret: v.exactOptional(
    v.pipe(
      v.string(),
      v.minLength(SHORTEST_SECRET, `must have at least ${SHORTEST_SECRET} characters`),
      v.maxLength(200, 'must have at most 200 characters'),
    ),
  ),
});
export type Webhook = v.InferOutput<typeof webhookSchema>;
const age = v.pipe(
  v.string(),
  v.check((text) => parseDuration(text) !== null, 'must be such as 12h, 30d, 8w, 6m or 1y'),
);
const kept = v.pipe(count, v.minValue(1, 'must be at least 1'), v.maxValue(10_000, 'must be at most 10000'));

/** Which snapshots of a target the hub keeps after a publication: the options of `tool prune`. */
export const keepSchema = v.pipe(
  v.strictObject({
    last: v.exactOptional(kept),
    within: v.exactOptional(age),
    daily: v.exactOptional(kept),
    weekly: v.exactOptional(kept),
    monthly: v.exactOptional(kept),
  }),
  v.check((keep) => Object.keys(keep).length > 0, 'must have last, within, daily, weekly or monthly'),
);
export type Keep = v.InferOutput<typeof keepSchema>;

/** As answered: a newer hub may know more. */
const answeredKeep = v.object({
  last: v.exactOptional(count),
  within: v.exactOptional(v.string()),
  daily: v.exactOptional(count),
  weekly: v.exactOptional(count),
  monthly: v.exactOptional(count),
});

const keptInQuery = v.pipe(v.string(), v.regex(/^\d{1,5}$/, 'must be a whole number'), v.toNumber(), kept);

/** Another policy than that of the target. */
export const retentionQuery = v.strictObject({
  last: v.exactOptional(keptInQuery),
  within: v.exactOptional(age),
  daily: v.exactOptional(keptInQuery),
  weekly: v.exactOptional(keptInQuery),
  monthly: v.exactOptional(keptInQuery),
});

const removal = v.object({ id: snapshotId, created_at: time, sanitized: v.boolean() });
export type Removal = v.InferOutput<typeof removal>;

/** What the policy removes at the next publication, newest first. */
export const retentionSchema = v.object({ keep: v.nullable(answeredKeep), removes: v.array(removal) });

export const targetBodySchema = v.strictObject({
  settings: targetSettingsSchema,
  original_groups: v.exactOptional(groups, []),
  builder_groups: v.exactOptional(groups, []),
  expected_every: v.exactOptional(v.nullable(expectedEvery), null),
  schedule: v.exactOptional(v.nullable(scheduleSchema), null),
  pool: v.exactOptional(v.nullable(poolName), null),
  webhook: v.exactOptional(v.nullable(webhookSchema), null),
  keep: v.exactOptional(v.nullable(keepSchema), null),
  /** The hub remembers this content, which the next `cloud apply` compares with. */
  applied: v.exactOptional(v.boolean(), false),
});
export type TargetBody = v.InferOutput<typeof targetBodySchema>;

/** Tells whether a sealed value equals a given one, without telling the value. */
const fingerprints = v.record(v.string(), v.object({ salt: v.string(), digest: v.string() }));
export type Fingerprints = v.InferOutput<typeof fingerprints>;

/** As the hub answers: URLs are without passwords, for readers `null`. */
const answeredSettings = v.record(v.string(), v.unknown());

const targetItem = v.object({
  id,
  name: v.string(),
  settings: answeredSettings,
  permissions: v.array(v.picklist(PERMISSIONS)),
  snapshots: count,
  last_snapshot_at: v.nullable(time),
  /** The newest snapshot is older than `expected_every`. Absent in answers of an older hub. */
  late: v.optional(v.boolean()),
  revision: count,
});
export const targetPageSchema = page(targetItem);
export type CloudTarget = v.InferOutput<typeof targetItem>;

/** What those who may change a target see besides. */
export const targetAnswerSchema = v.object({
  ...targetItem.entries,
  original_groups: v.array(v.string()),
  builder_groups: v.array(v.string()),
  /** Absent in answers of an older hub. */
  expected_every: v.optional(v.nullable(v.string())),
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
  ...profileKeys
} = storageProfileSchema.entries;
const { encryption_key: _encryptionKey, ...storageKeys } = profileKeys;

/** A storage profile with its own keys: the hub has no command-line profiles and assumes no roles. */
export const storageSettingsSchema = v.strictObject(storageKeys);
export type StorageSettings = v.InferOutput<typeof storageSettingsSchema>;

export const storageBodySchema = v.strictObject({
  settings: storageSettingsSchema,
  applied: v.exactOptional(v.boolean(), false),
});

export const storageAnswerSchema = v.object({
  name: v.string(),
  settings: answeredSettings,
  revision: count,
  secrets: fingerprints,
  applied: v.nullable(answeredSettings),
});
export const storagePageSchema = page(storageAnswerSchema);
export const storageCheckSchema = v.object({ ok: v.boolean(), error: v.nullable(v.string()) });

export const snapshotQuery = v.strictObject({
  ...pageQuery.entries,
  sanitized: v.exactOptional(v.picklist(['true', 'false'])),
});
export const headlinePageSchema = page(headlineSchema);
export const snapshotAnswerSchema = v.object({
  headline: headlineSchema,
  manifest: v.object({ href: url, sha256, expires_at: time }),
});
export const noteBodySchema = v.strictObject({ note: v.nullable(v.pipe(v.string(), v.maxLength(LONGEST_TEXT))) });

const objects = <Item extends v.GenericSchema>(item: Item) =>
  v.pipe(v.array(item), v.minLength(1), v.maxLength(MOST_OBJECTS, `must have at most ${MOST_OBJECTS} objects`));

export const uploadsBodySchema = v.strictObject({
  sanitized: v.boolean(),
  objects: objects(
    v.strictObject({
      sha256,
      stored_sha256: sha256,
      stored_bytes: v.pipe(count, v.maxValue(5 * 1024 ** 4, 'must be at most 5 TiB')),
      /** Of an upload in parts that has begun: the URLs from this part on. */
      upload_id: v.exactOptional(v.pipe(v.string(), v.nonEmpty(), v.maxLength(1024))),
      from_part: v.exactOptional(v.pipe(count, v.minValue(1), v.maxValue(MOST_PARTS))),
    }),
  ),
});

export const uploadsSchema = v.object({
  objects: v.array(
    v.variant('answer', [
      v.object({ answer: v.literal('present'), sha256 }),
      v.object({ answer: v.literal('busy'), sha256, retry_after: count }),
      v.object({ answer: v.literal('upload'), sha256, href: url, header: headers, expires_at: time }),
      v.object({
        answer: v.literal('upload_parts'),
        sha256,
        upload_id: v.string(),
        part_bytes: count,
        from_part: count,
        parts: v.array(url),
        expires_at: time,
      }),
    ]),
  ),
});
export type Uploads = v.InferOutput<typeof uploadsSchema>;

export const verifyBodySchema = v.strictObject({
  sanitized: v.boolean(),
  objects: objects(
    v.strictObject({
      sha256,
      upload_id: v.exactOptional(v.pipe(v.string(), v.nonEmpty(), v.maxLength(1024))),
      etags: v.exactOptional(v.pipe(v.array(v.pipe(v.string(), v.maxLength(200))), v.maxLength(MOST_PARTS))),
    }),
  ),
});
export const verifySchema = v.object({
  objects: v.array(v.object({ sha256, answer: v.picklist(['stored', 'missing', 'differs']) })),
});

export const downloadsBodySchema = v.strictObject({ objects: objects(sha256) });
export const downloadsSchema = v.object({
  objects: v.array(v.object({ sha256, href: url })),
  expires_at: time,
});

export const newTokenSchema = v.strictObject({
  name: v.pipe(shortText, v.maxLength(100)),
  role: v.picklist(['builder', 'reader']),
  targets: v.pipe(v.array(resourceName), v.minLength(1, 'must name a target'), v.maxLength(200)),
  /** At most a year. */
  expires_in_days: v.pipe(count, v.minValue(1), v.maxValue(366)),
});
const tokenAnswer = v.object({
  id,
  name: v.string(),
  role: v.picklist(['builder', 'reader', 'owner']),
  targets: v.array(v.string()),
  created_at: time,
  expires_at: time,
  revoked_at: v.nullable(time),
});
export const tokenPageSchema = page(tokenAnswer);
export type ServiceToken = v.InferOutput<typeof tokenAnswer>;
export const createdTokenSchema = v.object({ ...tokenAnswer.entries, authtoken: v.string() });

const user = v.object({
  id,
  issuer: url,
  subject: v.string(),
  name: v.string(),
  groups: v.array(v.string()),
  disabled: v.boolean(),
  signed_in_at: time,
});
export const userSchema = user;
export const userPageSchema = page(user);
export const userBodySchema = v.strictObject({ disabled: v.boolean() });

export const auditQuery = v.strictObject({
  ...pageQuery.entries,
  since: v.exactOptional(time),
  until: v.exactOptional(time),
  actor: v.exactOptional(shortText),
  target: v.exactOptional(resourceName),
  action: v.exactOptional(shortText),
});
const auditEvent = v.object({
  at: time,
  actor: v.string(),
  action: v.string(),
  target: v.nullable(v.string()),
  object: v.nullable(v.string()),
  outcome: v.picklist(['done', 'refused']),
  address: v.nullable(v.string()),
});
export const auditPageSchema = page(auditEvent);
export type AuditEvent = v.InferOutput<typeof auditEvent>;

export const searchQuery = v.strictObject({
  ...pageQuery.entries,
  q: v.exactOptional(v.pipe(shortText, v.maxLength(100))),
});

/** Seconds in which a claim waits for a build. */
export const LONGEST_CLAIM = 30;

/** Targets of one agent. */
export const MOST_CLAIMED = 1000;

/** Of one claim: whoever has a later one has the build. */
const lease = id;

export const claimBodySchema = v.strictObject({
  pool: v.exactOptional(poolName, DEFAULT_POOL),
  /** Of the agent's own configuration: no other target is given to it. */
  targets: v.pipe(v.array(resourceName), v.minLength(1, 'must name a target'), v.maxLength(MOST_CLAIMED)),
  wait: v.exactOptional(v.pipe(count, v.maxValue(LONGEST_CLAIM)), 0),
});
export const claimSchema = v.object({
  /** `null`: nothing is due. */
  build: v.nullable(v.object({ id, target: resourceName, lease })),
  /** Targets of the request that the caller may not build, that are in another pool, or that are unknown. */
  refused: v.pipe(v.array(resourceName), v.maxLength(MOST_CLAIMED)),
});
export type ClaimedBuild = NonNullable<v.InferOutput<typeof claimSchema>['build']>;

export const heartbeatBodySchema = v.strictObject({ lease });

export const finishBodySchema = v.variant('outcome', [
  v.strictObject({ outcome: v.literal('done'), lease, snapshot: snapshotId }),
  v.strictObject({
    outcome: v.literal('failed'),
    lease,
    code: v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_]{0,59}$/, 'must be a code of an error')),
    message: v.pipe(v.string(), v.maxLength(1000)),
  }),
  /** The agent ends: another one takes it. */
  v.strictObject({ outcome: v.literal('released'), lease }),
]);
export type FinishBody = v.InferOutput<typeof finishBodySchema>;

export const newBuildBodySchema = v.strictObject({});

const BUILD_STATES = ['queued', 'running', 'done', 'failed'] as const;
export const buildSchema = v.object({
  id,
  target: v.string(),
  state: v.picklist(BUILD_STATES),
  requested_at: time,
  started_at: v.nullable(time),
  ended_at: v.nullable(time),
  /** Who builds it. */
  agent: v.nullable(v.string()),
  snapshot: v.nullable(v.string()),
  error: v.nullable(v.object({ code: v.string(), message: v.string() })),
});
export type Build = v.InferOutput<typeof buildSchema>;
