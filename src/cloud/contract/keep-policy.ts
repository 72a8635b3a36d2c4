import * as v from 'valibot';
import { keepRules } from '../../repository/keep-policy.ts';
import { count, snapshotId } from '../../repository/manifest/values.ts';
import { parseDuration } from '../../text/duration.ts';
import { time } from './values.ts';

const age = v.pipe(
  v.string(),
  v.check((text) => parseDuration(text) !== null, 'must be such as 12h, 30d, 8w, 6m or 1y'),
);

const kept = v.pipe(count, v.minValue(1, 'must be at least 1'), v.maxValue(10_000, 'must be at most 10000'));

/** Policy for the snapshots that the hub keeps after a publication: the options of `tool prune`. */
export const keepSchema = v.pipe(
  v.strictObject(keepRules(kept, age)),
  v.check((keep) => Object.keys(keep).length > 0, 'must have last, within, daily, weekly or monthly'),
);

export type Keep = v.InferOutput<typeof keepSchema>;

/** Form of the policy in answers: a newer hub may know more. */
export const answeredKeep = v.object(keepRules(count, v.string()));

const keptInQuery = v.pipe(v.string(), v.regex(/^\d{1,5}$/, 'must be a whole number'), v.toNumber(), kept);

/** Another policy than that of the target. */
export const retentionQuery = v.strictObject(keepRules(keptInQuery, age));

const removal = v.object({ id: snapshotId, created_at: time, sanitized: v.boolean() });

export type Removal = v.InferOutput<typeof removal>;

/** Removals of the policy at the next publication, newest first. */
export const retentionSchema = v.object({ keep: v.nullable(answeredKeep), removes: v.array(removal) });
