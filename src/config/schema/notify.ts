import * as v from 'valibot';
import { key } from './key.ts';

/** Announcement of the end of a run to users who look elsewhere. */
export const notifySchema = v.strictObject({
  after: v.optional(
    key(v.pipe(v.number(), v.minValue(0, 'must be at least 0')), 'Shortest run to announce.', { unit: 'seconds' }),
    10,
  ),
  title: v.optional(key(v.boolean(), 'Shows the result in the window title.'), true),
  bell: v.optional(key(v.boolean(), 'Rings the bell.'), true),
  desktop: v.optional(key(v.boolean(), 'Sends a desktop notification (OSC 9).'), true),
});
