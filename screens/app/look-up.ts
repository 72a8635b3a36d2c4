import { toUserError } from '../../src/errors.ts';
import type { LookedUp } from './looked-up.ts';
import type { Model } from './model.ts';
import type { Route } from './route.ts';

type LookUpRoute = Extract<Route, { found: unknown; controller: AbortController }>;

/** Shows the place at once, and what is found when it is there, wherever one has gone meanwhile. */
export function showWhileLookingUp<Found>(
  model: Model,
  route: LookUpRoute & LookedUp<Found>,
  look: (signal: AbortSignal) => Promise<Found>,
): void {
  model.navigation.push(route);
  lookUp(model, route, look);
}

/** What is found is shown at the place when it is there. */
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
