import type { Model } from './model.ts';
import type { Route, Screen } from './route.ts';

/** What is done at each place, with the place as it is there. */
export type AtPlaces = { [Name in Screen]?: (model: Model, route: Extract<Route, { screen: Name }>) => void };

/** Does what the table has for the place, if anything. */
export function doAt(places: AtPlaces, model: Model, route = model.navigation.top()): void {
  (places[route.screen] as ((model: Model, route: Route) => void) | undefined)?.(model, route);
}
