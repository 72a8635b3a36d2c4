import { toUserError, type UserError } from '../../src/errors.ts';
import type { Model } from './model.ts';
import type { Route } from './route.ts';

/** The part of a route that is fetched while its screen is shown. */
export interface LookedUp<Found> {
  /** `null` until it is there. */
  found: Found | null;
  error: UserError | null;
  /** Ends the fetching when the user leaves; also identifies the route. */
  controller: AbortController;
}

export function notLookedUp<Found>(): LookedUp<Found> {
  return { found: null, error: null, controller: new AbortController() };
}

type LookUpRoute = Extract<Route, { found: unknown; controller: AbortController }>;

/** Shows the route at once and its result later, even below other routes. */
export function showWhileLookingUp<Found>(
  model: Model,
  route: LookUpRoute & LookedUp<Found>,
  look: (signal: AbortSignal) => Promise<Found>,
): void {
  model.navigation.push(route);
  lookUp(model, route, look);
}

/** Shows the result on the route when it is there. */
export function lookUp<Found>(
  model: Model,
  route: LookUpRoute & LookedUp<Found>,
  look: (signal: AbortSignal) => Promise<Found>,
): void {
  const answer = (change: Partial<LookUpRoute>) =>
    model.navigation.change((other) =>
      'controller' in other && other.controller === route.controller ? ({ ...other, ...change } as Route) : other,
    );
  look(route.controller.signal).then(
    (found) => answer({ found } as Partial<LookUpRoute>),
    (thrown: unknown) => answer({ error: toUserError(thrown) }),
  );
}
