import type { SnapshotRow } from '../../src/results/results.ts';
import type { Run } from '../../src/state/runs.ts';
import { contextOf, type Model } from './model.ts';
import type { Route } from './route.ts';

export interface SelectedSnapshot {
  target: string;
  snapshot: SnapshotRow;
}

// Handlers of keys, which do nothing where nothing is selected.

export function onTarget(act: (model: Model, target: string) => void) {
  return (model: Model): void => {
    const { target } = contextOf(model);
    if (target) act(model, target.row.name);
  };
}

export function onSnapshot(act: (model: Model, selected: SelectedSnapshot) => void) {
  return (model: Model, route: Route): void => {
    const { snapshot } = contextOf(model);
    if (snapshot && 'target' in route) act(model, { target: route.target, snapshot });
  };
}

export function onRun(act: (model: Model, run: Run) => void) {
  return (model: Model): void => {
    const { run } = contextOf(model);
    if (run) act(model, run);
  };
}
