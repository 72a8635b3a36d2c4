import * as v from 'valibot';
import { headlineSchema } from '../../repository/headlines/headline.ts';
import { MOST_TAGS, tagSchema } from '../../repository/manifest/annotations.ts';
import { count, sha256, snapshotId } from '../../repository/manifest/values.ts';
import { id, LONGEST_TEXT, resourceName, shortText, time, token, url } from './values.ts';

// Bodies of the hub's API. Requests are strict objects: the hub refuses unknown fields. Answers are objects: a client
// ignores fields of a newer hub.

export const PARAMETERS = {
  ...{ name: resourceName, id, snapshot: snapshotId },
  /** `15-linux-x64` */
  image: v.pipe(v.string(), v.regex(/^\d{1,4}(\.\d{1,4})?-[a-z0-9]{1,20}-[a-z0-9]{1,20}$/)),
} as const;

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
  /** Contains the last name of a page. */
  cursor: v.exactOptional(v.pipe(v.string(), v.maxLength(2000))),
});

export function page<Item extends v.GenericSchema>(item: Item) {
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
  role: v.picklist(['owner', 'member', 'user', 'builder', 'reader']),
  auditor: v.boolean(),
  groups: v.array(v.string()),
  /** The targets that a service token is for. */
  targets: v.nullable(v.array(v.string())),
  expires_at: time,
});

export type Identity = v.InferOutput<typeof identitySchema>;

export const newSessionSchema = v.strictObject({ id_token: token, access_token: v.exactOptional(token) });

export const sessionSchema = v.object({ authtoken: v.string(), expires_at: time, user: identitySchema });

export const snapshotQuery = v.strictObject({
  ...pageQuery.entries,
  sanitized: v.exactOptional(v.picklist(['true', 'false'])),
});

export const headlinePageSchema = page(headlineSchema);

const signedManifest = v.object({ href: url, sha256, expires_at: time });

export const snapshotAnswerSchema = v.object({ headline: headlineSchema, manifest: signedManifest });

/** `null`: the snapshot has no such image. */
export const imageAnswerSchema = v.object({ manifest: v.nullable(signedManifest) });

/** Absent fields stay unchanged. */
export const annotationsBodySchema = v.strictObject({
  note: v.exactOptional(v.nullable(v.pipe(v.string(), v.maxLength(LONGEST_TEXT)))),
  tags: v.exactOptional(v.pipe(v.array(tagSchema), v.maxLength(MOST_TAGS))),
  pinned: v.exactOptional(v.boolean()),
});

export const noFields = v.strictObject({});

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

export const userSchema = v.object({
  id,
  issuer: url,
  subject: v.string(),
  name: v.string(),
  groups: v.array(v.string()),
  disabled: v.boolean(),
  signed_in_at: time,
});

export const userPageSchema = page(userSchema);

export const userBodySchema = v.strictObject({ disabled: v.boolean() });

export const auditQuery = v.strictObject({
  ...pageQuery.entries,
  since: v.exactOptional(time),
  until: v.exactOptional(time),
  actor: v.exactOptional(shortText),
  subject: v.exactOptional(shortText),
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
  /** Identify the actor, whose name may be that of another, too. Absent in answers of an older hub. */
  subject: v.optional(v.nullable(v.string())),
  /** `null` where the subject is the id of a service token. */
  issuer: v.optional(v.nullable(v.string())),
});

export const auditPageSchema = page(auditEvent);

export type AuditEvent = v.InferOutput<typeof auditEvent>;

export const searchQuery = v.strictObject({
  ...pageQuery.entries,
  q: v.exactOptional(v.pipe(shortText, v.maxLength(100))),
});
