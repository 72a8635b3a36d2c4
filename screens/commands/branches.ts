import { branchCreateOperation } from '../../src/operations/branch/create/operation.ts';
import { emptyList } from '../../src/state/list.ts';
import { notFetched, showWhileFetching } from '../app/lists/fetched.ts';
import type { KeyBinding, Model } from '../app/model.ts';
import { onTarget } from '../app/on-selected.ts';
import type { Routes } from '../app/route.ts';
import { notReadable } from '../app/why-not.ts';
import { readBranches, refreshBranches } from '../branches/branches-route.ts';
import { confirmOperation } from './runs/confirm.ts';

/** On the lists of targets and of snapshots. */
export const BRANCHES: KeyBinding = {
  id: 'branches',
  label: 'branches',
  help: 'branches of the target: separate databases made from its base copy',
  palette: 'Open branches',
  whyNot: notReadable,
  run: onTarget(showBranches),
};

export function showBranches(model: Model, target: string): void {
  const route: Routes['branches'] = { screen: 'branches', target, list: emptyList, ...notFetched() };
  showWhileFetching(model, route, (signal) => readBranches(model, target, signal));
}

export function confirmCreate(model: Model, request: { target: string; name: string; from?: string }): void {
  const { target, name } = request;
  confirmOperation(model, branchCreateOperation, {
    after: () => refreshBranches(model, target),
    request,
    title: `create branch ${name}`,
  });
}
