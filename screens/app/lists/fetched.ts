import { toUserError, type UserError } from '../../../src/runtime/errors.ts';
import type { RunContext } from '../../../src/state/runs.ts';
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
  const { controller } = route;
  read(controller.signal).then(
    (found) => changeRoute(model, controller, () => ({ found }) as Partial<FetchedRoute>),
    (thrown: unknown) => changeRoute(model, controller, () => ({ error: toUserError(thrown) })),
  );
}

/** Reads a list of a target anew wherever it is open, and shows the old one until then. */
export function fetchAgain<Shown extends FetchedRoute & { target: string }>(
  model: Model,
  { screen, target }: Pick<Shown, 'screen' | 'target'>,
  read: (route: Shown, signal: AbortSignal) => Promise<Shown['found']>,
): void {
  for (const route of model.navigation.store.getState().stack) {
    if (route.screen !== screen || !('target' in route) || route.target !== target) continue;
    fetchInto<unknown>(model, route as FetchedRoute & FetchState<unknown>, (signal) => read(route as Shown, signal));
  }
}

type SteppedRoute = Extract<FetchedRoute, { step: string | null }>;

/** For work that lasts: its step in progress is shown on the route. */
export function showingSteps(model: Model, controller: AbortController): RunContext {
  const report: RunContext['report'] = (event) => {
    if (event.event !== 'step' || event.state !== 'started') return;
    changeRoute<SteppedRoute>(model, controller, () => ({ step: event.label }));
  };
  return { signal: controller.signal, report };
}

/** Resolves when the user leaves. */
export function left({ signal }: AbortController): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Changes a route while it is open, even below other routes. */
export function changeRoute<Changed extends FetchedRoute>(
  { navigation }: Model,
  controller: AbortController,
  change: (route: Changed) => Partial<Changed>,
): void {
  navigation.change((other) =>
    'controller' in other && other.controller === controller
      ? ({ ...other, ...change(other as Changed) } as Route)
      : other,
  );
}
