import type { Context } from '../runtime/context.ts';
import { UserError } from '../runtime/errors.ts';

/**
 * A request and its plan: plain data, so that it can be copied, stored and sent. Every operation that replaces or
 * removes something is a `plan…(context, request)`, which changes nothing, and an `apply…(context, planned)`, which
 * opens everything anew and refuses what is no longer as planned.
 */
export interface Planned<Request, Plan> {
  /** May contain a password: only `plan` is for people. */
  request: Request;
  plan: Plan;
  planned_at: string;
}

/** Milliseconds for which the checks of a plan count without being repeated. */
const FRESH_MS = 10_000;

export function isFresh(
  { clock }: Pick<Context, 'clock'>,
  { planned_at }: Pick<Planned<unknown, unknown>, 'planned_at'>,
) {
  const age = clock().getTime() - Date.parse(planned_at);
  return age >= 0 && age <= FRESH_MS;
}

export function planOutdated(what: string): UserError {
  return new UserError('plan_outdated', `${what} since the plan was made: nothing was changed`, {
    hint: 'Run it again for a new plan.',
  });
}
