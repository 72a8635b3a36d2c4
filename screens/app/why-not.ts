import type { Facts } from './facts.ts';

/** Why something cannot be done here and now; `null` where it can. */
export const READ_ONLY = 'Started with --read-only: nothing is changed';

export function notWritable({ readOnly }: Facts): string | null {
  return readOnly ? READ_ONLY : null;
}

export function noTarget({ target }: Facts): string | null {
  return target ? null : 'No target is selected';
}

export function noTask({ run }: Facts): string | null {
  return run ? null : 'There is no task yet';
}

export function noSnapshot({ snapshot }: Facts): string | null {
  return snapshot ? null : 'There is no snapshot yet: b builds one';
}

export function notLoadable(facts: Facts): string | null {
  return notWritable(facts) ?? noSnapshot(facts) ?? noDestination(facts);
}

/** Whether there is a snapshot, a shelf may have to tell. */
export function latestNotLoadable(facts: Facts): string | null {
  return notWritable(facts) ?? noTarget(facts) ?? noDestination(facts);
}

function noDestination({ target }: Facts): string | null {
  return target && target.row.dst_url === null ? `${target.row.name} has no destination (snapshot.dst_url)` : null;
}

export function notFound({ found }: Facts): string | null {
  return found ? null : 'What it would do is not known yet';
}
