import * as v from 'valibot';
import { publicKey } from '../../config/schema/values.ts';

const LONGEST_NAME = 100;

export const LONGEST_TEXT = 10_000;

const MOST_GROUPS = 200;

/** Name of a target or a storage profile. */
export const resourceName = v.pipe(
  v.string(),
  v.nonEmpty('must not be empty'),
  v.maxLength(LONGEST_NAME, `must have at most ${LONGEST_NAME} characters`),
  // "@", "#", "+" and ":" end the name of a target in a selector (text/snapshot-selector.ts).
  v.regex(/^[^\p{Cc}/\\@#+:]+$/u, 'must not contain control characters, slashes or any of @ # + :'),
  v.check((name) => name.trim() === name && name.isWellFormed(), 'must not begin or end with a space'),
  v.check((name) => !name.startsWith('-'), 'must not begin with a hyphen, as options do'),
  v.check((name) => !['.', '..', '__proto__'].includes(name), 'is reserved'),
);

export const id = v.pipe(v.string(), v.uuid('must be a UUID'));

export const time = v.pipe(v.string(), v.isoTimestamp('must be a time in UTC (ISO 8601)'));

export const shortText = v.pipe(v.string(), v.nonEmpty('must not be empty'), v.maxLength(LONGEST_TEXT));

export const groups = v.pipe(v.array(v.pipe(shortText, v.maxLength(200))), v.maxLength(MOST_GROUPS));

const MOST_KEYS = 100;

export const trustedKeys = v.pipe(
  v.array(publicKey),
  v.minLength(1, 'must name a key'),
  v.maxLength(MOST_KEYS, `must have at most ${MOST_KEYS} keys`),
);

export const token = v.pipe(v.string(), v.nonEmpty('must not be empty'), v.maxLength(32_768));

export const url = v.string();

export const headers = v.record(v.string(), v.string());
