import * as v from 'valibot';
import { traits } from './traits.ts';

/** Announcement of the end of a run to users who look elsewhere. */
export const notifySchema = v.strictObject({
  after: v.optional(
    v.pipe(
      v.number(),
      v.minValue(0, 'must be at least 0'),
      v.description('Shortest run to announce.'),
      traits({ unit: 'seconds' }),
    ),
    10,
  ),
  title: v.optional(v.pipe(v.boolean(), v.description('Shows the result in the window title.')), true),
  bell: v.optional(v.pipe(v.boolean(), v.description('Rings the bell.')), true),
  desktop: v.optional(v.pipe(v.boolean(), v.description('Sends a desktop notification (OSC 9).')), true),
});
