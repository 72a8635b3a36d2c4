import { toUserError } from '../../src/errors.ts';
import type { LookedUp } from './looked-up.ts';
import type { Model } from './model.ts';
import type { Place } from './place.ts';

type LookUpPlace = Extract<Place, { found: unknown; controller: AbortController }>;

/** Shows the place at once, and what is found when it is there, wherever one has gone meanwhile. */
export function showWhileLookingUp<Found>(
  model: Model,
  place: LookUpPlace & LookedUp<Found>,
  look: (signal: AbortSignal) => Promise<Found>,
): void {
  model.navigation.push(place);
  lookUp(model, place, look);
}

/** What is found is shown at the place when it is there. */
export function lookUp<Found>(
  model: Model,
  place: LookUpPlace & LookedUp<Found>,
  look: (signal: AbortSignal) => Promise<Found>,
): void {
  const answer = (change: Partial<LookUpPlace>) =>
    model.navigation.change((other) =>
      'controller' in other && other.controller === place.controller ? ({ ...other, ...change } as Place) : other,
    );
  look(place.controller.signal).then(
    (found) => answer({ found } as Partial<LookUpPlace>),
    (thrown: unknown) => answer({ error: toUserError(thrown) }),
  );
}
