import type { DestinationState } from '../../src/results/load-results.ts';
import { UserError } from '../../src/runtime/errors.ts';
import type { Run, RunDefinition } from '../../src/state/runs.ts';

/** One name for a local database, however its host is spelled. */
export function replacedDatabase({ host, local, database }: DestinationState): string {
  return `${local ? host.replace(/^.*(?=:)/, 'localhost') : host}/${database}`;
}

/** A live run that replaces the same database: the plan would be outdated when it starts. */
export function conflictingRun(live: Run[], { replaces }: Pick<RunDefinition, 'replaces'>): Run | null {
  return live.find((run) => replaces !== null && run.replaces === replaces) ?? null;
}

export function replacedAlready({ title, state }: Run): UserError {
  return new UserError(
    'destination_busy',
    `A run ${state.status === 'waiting' ? 'is queued' : 'is in progress'}: ${title}`,
    {
      details: ['It replaces the same database.'],
      hint: 'Try again when it has ended: the plan depends on its result.',
    },
  );
}
