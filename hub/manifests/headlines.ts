import { itemOf } from '../../src/cloud/contract/problems.ts';
import type { Headline } from '../../src/repository/headlines/headline.ts';
import { Problem } from '../problem.ts';

/** Bytes of the headline of a snapshot: a page of a list has 200. */
const MOST_HEADLINE_BYTES = 256 * 1024;

/** Milliseconds by which a clock, or its time zone, may be wrong. */
const MOST_AHEAD = 86_400_000;

/**
 * Reports why a headline is refused, which every list of its target repeats; `null` where it is not. A later time would
 * stay the newest for good, and the target would never be late again.
 */
export function headlineFault(headline: Headline, now: Date): { pointer: string; detail: string } | null {
  if (Buffer.byteLength(JSON.stringify(headline)) > MOST_HEADLINE_BYTES) {
    return { pointer: '', detail: 'must have at most 256 kB of schemas, notes and names that lists show' };
  }
  if (Date.parse(headline.created_at) > now.getTime() + MOST_AHEAD) {
    return { pointer: '/created_at', detail: 'must not be more than a day in the future' };
  }
  return null;
}

export function faultText({ pointer, detail }: { pointer: string; detail: string }): string {
  return `${itemOf(pointer) || 'it'} ${detail}`;
}

export function assertHeadline(headline: Headline, now: Date): void {
  const fault = headlineFault(headline, now);
  if (fault === null) return;
  throw new Problem('cloud_refused', `The manifest is not valid: ${faultText(fault)}`, {
    errors: [fault],
  });
}
