import type { LoadRequest } from '../../src/operations/load/planned-load.ts';
import { loadQuestion } from '../../src/presentation/load.ts';
import { briefName } from '../../src/presentation/snapshot.ts';
import { formatNumberOf } from '../../src/text/format.ts';
import { contextOf, type KeyBinding, type Model, quietly } from '../app/model.ts';
import { latestNotLoadable, notLoadable } from '../app/why-not.ts';
import { loadRun } from '../run/definitions.ts';
import type { TablesRoute } from '../tables/tables-route.ts';
import { confirm, UNVERIFIED_SOURCES } from './actions.ts';
import type { ConfirmRoute } from './confirm-route.ts';

export const LOAD: KeyBinding = {
  id: 'load',
  keys: ['l'],
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
  keys: ['l'],
  label: 'load latest',
  help: 'restore the newest snapshot into the destination; shows the plan and asks first',
  palette: 'Load latest snapshot…',
  whyNot: latestNotLoadable,
  run: (model) => {
    const { target } = contextOf(model);
    if (target) confirmLoad(model, { target: target.row.name }, 'latest');
  },
};

export const LOAD_MARKED: KeyBinding<TablesRoute> = {
  id: 'load',
  keys: ['l'],
  label: 'load marked',
  help: 'restore the marked tables and the tables they require, others without rows; shows the plan and asks first',
  palette: 'Load marked tables…',
  whyNot: (context) =>
    notLoadable(context) ?? (context.route.marked.length === 0 ? 'Mark the tables to load: Space does' : null),
  run: (model, { target, snapshot, marked: tables }) => {
    const request = { target, snapshot: snapshot.id, tables };
    confirmLoad(model, request, `${formatNumberOf(tables.length, 'table')} of ${briefName(snapshot)}`);
  },
};

/** In the plan of a load of differences. */
export const LOAD_FULLY: KeyBinding<ConfirmRoute> = {
  id: 'full_load',
  keys: ['F'],
  label: 'full load',
  help: 'load all tables, also those that the base copy has; asks first',
  palette: 'Load all tables instead…',
  when: ({ route }) => route.plan?.full !== undefined,
  run: (model, { plan }) => {
    if (!plan?.full) return;
    model.navigation.pop();
    confirmLoad(model, plan.full.request, plan.full.what);
  },
};

export function confirmLoad(model: Model, request: LoadRequest, what: string): void {
  confirm(model, {
    target: request.target,
    title: `load ${what}`,
    plan: async (signal) => {
      const planned = await model.operations.planLoad(quietly(signal), { ...request, ...UNVERIFIED_SOURCES });
      return {
        question: loadQuestion(planned.plan, model.clock()),
        definition: loadRun(model, planned),
        resetInstead: planned.plan.reset_instead ?? false,
        ...(planned.plan.difference?.method === 'difference' && {
          full: { request: { ...request, full: true }, what },
        }),
      };
    },
  });
}
