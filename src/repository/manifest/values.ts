import * as v from 'valibot';
import { isVisibleName } from '../../text/visible-name.ts';

// Value schemas of manifests and their indexes, which come from anybody with access to a bucket or a zip.

const MOST_ITEMS = 1_000_000;

const LONGEST_NAME = 64 * 1024;
const LONGEST_FILE_NAME = 255;

/** A database name in a manifest's text: see `name-escapes.ts`. */
export const name = v.pipe(
  v.string(),
  v.maxLength(LONGEST_NAME, `must be shorter than ${LONGEST_NAME} characters`),
  v.check((text) => !/\p{Cc}/u.test(text), 'must not contain control characters'),
  v.check((text) => text.isWellFormed(), 'must be valid Unicode'),
);

export const count = v.pipe(
  v.number(),
  v.check((number) => Number.isSafeInteger(number) && number >= 0, 'must be a whole number from 0'),
);

export const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hexadecimal digits'));

export const snapshotId = v.pipe(v.string(), v.regex(/^[0-9a-f]{8}$/, 'must be 8 hexadecimal digits'));

export const saveName = v.pipe(v.string(), v.check(isVisibleName, 'must be a name of visible characters'));

/** ISO 8601 in UTC, as `Date` writes it; milliseconds are optional. */
export const time = v.pipe(
  v.string(),
  v.check(
    (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/.test(text) && isOfCalendar(text),
    'must be a time in UTC (ISO 8601)',
  ),
);

/** Becomes a file name, and a key of a plain object. */
export const fileName = v.pipe(
  v.string(),
  v.maxLength(LONGEST_FILE_NAME, `must be shorter than ${LONGEST_FILE_NAME} characters`),
  v.regex(/^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/, 'must be a plain file name'),
  v.check((text) => !(text in Object.prototype), 'must be a plain file name'),
);

export function list<Item extends v.GenericSchema>(item: Item) {
  return v.pipe(v.array(item), v.maxLength(MOST_ITEMS, `must have at most ${MOST_ITEMS} items`));
}

function isOfCalendar(text: string): boolean {
  const date = new Date(text);
  return !Number.isNaN(date.getTime()) && date.toISOString().slice(0, 19) === text.slice(0, 19);
}
