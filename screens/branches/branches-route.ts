import type { BranchRow } from '../../src/results/branch-results.ts';
import type { ListState } from '../../src/state/list.ts';
import { type FetchState, fetchInto } from '../app/lists/fetched.ts';
import { positionIn, rowsByIndex } from '../app/lists/in-view.ts';
import { type Model, quietly } from '../app/model.ts';

export interface BranchesRoute extends FetchState<BranchRow[]> {
  screen: 'branches';
  target: string;
  list: ListState;
}

export function branchesOf({ found }: BranchesRoute): BranchRow[] {
  return found ?? [];
}

export function selectedBranch(route: BranchesRoute): BranchRow | null {
  const branches = branchesOf(route);
  return branches[positionIn(rowsByIndex(branches), route.list.selected)] ?? null;
}

/** Reads the list anew wherever it is open, and shows the old one until then. */
export function refreshBranches(model: Model, target: string): void {
  for (const route of model.navigation.store.getState().stack) {
    if (route.screen !== 'branches' || route.target !== target) continue;
    fetchInto(model, route, (signal) => readBranches(model, target, signal));
  }
}

export async function readBranches(model: Model, target: string, signal: AbortSignal): Promise<BranchRow[]> {
  return (await model.operations.listBranches(quietly(signal), { target })).branches;
}
