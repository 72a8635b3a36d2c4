import { loadOperation } from '../../src/operations/load/operation.ts';
import type { LoadRequest } from '../../src/operations/load/planned-load.ts';
import { briefName } from '../../src/presentation/snapshot.ts';
import { contextOf, type KeyBinding, type Model } from '../app/model.ts';
import { latestNotLoadable, notLoadable } from '../app/why-not.ts';
import { confirmReset } from './reset.ts';
import { confirmOperation } from './runs/confirm.ts';

export const LOAD: KeyBinding = {
  id: 'load',
  label: 'load',
  help: 'restore the snapshot into the destination; shows the plan and asks first',
  palette: 'Load snapshot…',
  whyNot: notLoadable,
  run: (model) => {
    const { target, snapshot } = contextOf(model);
    if (!target || !snapshot) return;
    const request = { target: target.row.name, snapshot: snapshot.id };
    confirmLoad(model, request, `snapshot ${briefName(snapshot)}`);
  },
};

export const LOAD_LATEST: KeyBinding = {
  id: 'load',
  label: 'load latest',
  help: 'restore the newest snapshot into the destination; shows the plan and asks first',
  palette: 'Load latest snapshot…',
  whyNot: latestNotLoadable,
  run: (model) => {
    const { target } = contextOf(model);
    if (target) confirmLoad(model, { target: target.row.name }, 'latest');
  },
};

/** With a reset, a load of all tables, and one without the steps of `after_load`, where the plan has what they change. */
export function confirmLoad(model: Model, request: LoadRequest, what: string): void {
  const { target } = request;
  const again = (change: Partial<LoadRequest>) => (): void => confirmLoad(model, { ...request, ...change }, what);
  confirmOperation(model, loadOperation, {
    request: request,
    title: `load ${what}`,
    alternatives: ({ reset_instead, difference, after_load }) => ({
      ...(reset_instead && { reset: () => confirmReset(model, target) }),
      ...(difference?.method === 'difference' && { full_load: again({ full: true }) }),
      ...(after_load && { exclude: again({ afterLoad: false }) }),
    }),
  });
}
