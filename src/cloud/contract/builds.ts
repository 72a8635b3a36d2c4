import * as v from 'valibot';
import { count, snapshotId } from '../../repository/manifest/values.ts';
import { isCron, isTimeZone } from './cron.ts';
import { id, resourceName, time } from './values.ts';
import { isWebhookUrl } from './webhook.ts';

/** Build schedule of a target: cron with a time zone. The zone defaults to UTC, never to that of a machine. */
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

/** Seconds in which a claim waits for a build. */
export const LONGEST_CLAIM = 30;

/** Requests that a claim counts as: while it waits, the hub looks for a build each second. */
export const COST_OF_CLAIM = 10;

/** Targets of one agent. */
export const MOST_CLAIMED = 1000;

/** Identifies one claim: the latest claim has the build. */
const lease = id;

export const claimBodySchema = v.strictObject({
  pool: v.exactOptional(poolName, DEFAULT_POOL),
  /** Targets in the agent's own configuration: no other target is given to it. */
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

const BUILD_STATES = ['queued', 'running', 'done', 'failed'] as const;

export const buildSchema = v.object({
  id,
  target: v.string(),
  state: v.picklist(BUILD_STATES),
  requested_at: time,
  started_at: v.nullable(time),
  ended_at: v.nullable(time),
  agent: v.nullable(v.string()),
  snapshot: v.nullable(v.string()),
  error: v.nullable(v.object({ code: v.string(), message: v.string() })),
});

export type Build = v.InferOutput<typeof buildSchema>;
