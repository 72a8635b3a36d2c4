import type { BranchRow } from '../../src/results/branch-results.ts';
import type { ListState } from '../../src/state/list.ts';
import { type FetchState, fetchAgain } from '../app/lists/fetched.ts';
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

export function refreshBranches(model: Model, target: string): void {
  fetchAgain<BranchesRoute>(model, { screen: 'branches', target }, (_, signal) => readBranches(model, target, signal));
}

export async function readBranches(model: Model, target: string, signal: AbortSignal): Promise<BranchRow[]> {
  return (await model.operations.listBranches(quietly(signal), { target })).branches;
}
