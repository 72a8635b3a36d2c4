import type { CheckReport } from '../../src/operations/check.ts';
import { emptyList } from '../../src/state/list.ts';
import { showWhileLookingUp } from '../look-up.ts';
import { notLookedUp } from '../looked-up.ts';
import { type Model, quietly } from '../model.ts';

/** Looks at everything; where it is looked at already, anew. */
export function doctor(model: Model): void {
  if (model.navigation.top().screen === 'doctor') model.navigation.pop();
  showWhileLookingUp(model, { screen: 'doctor', list: emptyList, ...notLookedUp<CheckReport>() }, (signal) =>
    model.operations.check(quietly(signal)),
  );
}
