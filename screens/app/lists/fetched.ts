import { toUserError, type UserError } from '../../../src/runtime/errors.ts';
import type { Model } from '../model.ts';
import type { Route } from '../route.ts';

/** The part of a route that is fetched while its screen is shown. */
export interface FetchState<Found> {
  /** `null` until it is there. */
  found: Found | null;
  error: UserError | null;
  /** Ends the fetching when the user leaves; also identifies the route. */
  controller: AbortController;
}

export function notFetched<Found>(): FetchState<Found> {
  return { found: null, error: null, controller: new AbortController() };
}

type FetchedRoute = Extract<Route, { found: unknown; controller: AbortController }>;

/** Shows the route at once and its result later, even below other routes. */
export function showWhileFetching<Found>(
  model: Model,
  route: FetchedRoute & FetchState<Found>,
  read: (signal: AbortSignal) => Promise<Found>,
): void {
  model.navigation.push(route);
  fetchInto(model, route, read);
}

/** Shows the result on the route when it is there. */
export function fetchInto<Found>(
  model: Model,
  route: FetchedRoute & FetchState<Found>,
  read: (signal: AbortSignal) => Promise<Found>,
): void {
  const answer = (change: Partial<FetchedRoute>) =>
    model.navigation.change((other) =>
      'controller' in other && other.controller === route.controller ? ({ ...other, ...change } as Route) : other,
    );
  read(route.controller.signal).then(
    (found) => answer({ found } as Partial<FetchedRoute>),
    (thrown: unknown) => answer({ error: toUserError(thrown) }),
  );
}
