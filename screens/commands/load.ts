import { loadOperation } from '../../src/operations/load/operation.ts';
import type { LoadRequest } from '../../src/operations/load/planned-load.ts';
import { briefName } from '../../src/presentation/snapshot.ts';
import type { KeyBinding, Model } from '../app/model.ts';
import { onSnapshot, onTarget, type SelectedSnapshot } from '../app/on-selected.ts';
import { latestNotLoadable, notLoadable } from '../app/why-not.ts';
import { confirmReset } from './reset.ts';
import { confirmOperation } from './runs/confirm.ts';

export const LOAD: KeyBinding = {
  id: 'load',
  label: 'load',
  help: 'restore the snapshot into the destination; shows the plan and asks first',
  palette: 'Load snapshot…',
  whyNot: notLoadable,
  run: onSnapshot(confirmLoadOf),
};

export const LOAD_LATEST: KeyBinding = {
  id: 'load',
  label: 'load latest',
  help: 'restore the newest snapshot into the destination; shows the plan and asks first',
  palette: 'Load latest snapshot…',
  whyNot: latestNotLoadable,
  run: onTarget((model, target) => confirmLoad(model, { target }, 'latest')),
};

export function confirmLoadOf(model: Model, { target, snapshot }: SelectedSnapshot): void {
  confirmLoad(model, { target, snapshot: snapshot.id }, `snapshot ${briefName(snapshot)}`);
}

/** With a reset, a load of all tables, and one without the steps of `after_load`, where the plan has what they change. */
export function confirmLoad(model: Model, request: LoadRequest, what: string): void {
  const { target } = request;
  const again = (change: Partial<LoadRequest>) => (): void => confirmLoad(model, { ...request, ...change }, what);
  confirmOperation(model, loadOperation, {
    request,
    title: `load ${what}`,
    alternatives: ({ reset_instead, difference, after_load }) => ({
      ...(reset_instead && { reset: () => confirmReset(model, target) }),
      ...(difference?.method === 'difference' && { full_load: again({ full: true }) }),
      ...(after_load && { exclude: again({ afterLoad: false }) }),
    }),
  });
}
