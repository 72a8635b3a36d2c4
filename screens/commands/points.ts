import { emptyList } from '../../src/state/list.ts';
import { notFetched, showWhileFetching } from '../app/lists/fetched.ts';
import type { KeyBinding, Model } from '../app/model.ts';
import { onTarget } from '../app/on-selected.ts';
import type { Routes } from '../app/route.ts';
import { notReadable } from '../app/why-not.ts';
import { readPoints } from '../points/points-route.ts';

/** On the screens of a target. */
export const BACK_TO: KeyBinding = {
  id: 'back',
  label: 'back to…',
  help: 'states that the destination can return to: saves, the last load, the replaced database',
  palette: 'Return to a save, the last load or the replaced database…',
  whyNot: notReadable,
  run: onTarget((model, target) => showPoints(model, { target })),
};

export function showPoints(model: Model, of: Pick<Routes['points'], 'target' | 'branch'>): void {
  const route: Routes['points'] = { screen: 'points', ...of, list: emptyList, ...notFetched() };
  showWhileFetching(model, route, (signal) => readPoints(model, of, signal));
}
