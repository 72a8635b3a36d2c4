import type { Model } from './model.ts';
import type { Place, Screen } from './place.ts';

/** What is done at each place, with the place as it is there. */
export type AtPlaces = { [Name in Screen]?: (model: Model, place: Extract<Place, { screen: Name }>) => void };

/** Does what the table has for the place, if anything. */
export function doAt(places: AtPlaces, model: Model, place = model.navigation.top()): void {
  (places[place.screen] as ((model: Model, place: Place) => void) | undefined)?.(model, place);
}
