import { branchColumns, branchFacts } from '../../src/operations/branch/list/text.ts';
import { countOf } from '../../src/operations/branch/shared-text.ts';
import type { BranchRow } from '../../src/results/branch-results.ts';
import { useModel } from '../app/frame/frame.tsx';
import { ListFrame } from '../app/frame/list-frame.tsx';
import { ACTIVITY, BACK, LIST_KEYS, REFRESH } from '../app/keys.ts';
import { rowsByIndex } from '../app/lists/in-view.ts';
import type { ScreenModule } from '../app/model.ts';
import { EMPTY, LOADING } from '../app/text.ts';
import { REHEARSE } from '../commands/rehearse.ts';
import { UNDO } from '../commands/reset.ts';
import {
  BACK_TO_POINT,
  BRANCH_CHANGES,
  COPY_BRANCH_URL,
  DROP_BRANCH,
  NEW_BRANCH,
  RESET_BRANCH,
  SAVE_BRANCH,
  SWITCH_BRANCH,
} from './actions.ts';
import { type BranchesRoute, branchesOf, refreshBranches } from './branches-route.ts';

export const branchesScreen: ScreenModule<BranchesRoute> = {
  title: 'Branches of a target',
  view: BranchesView,
  keys: [
    NEW_BRANCH,
    SWITCH_BRANCH,
    RESET_BRANCH,
    DROP_BRANCH,
    COPY_BRANCH_URL,
    SAVE_BRANCH,
    BACK_TO_POINT,
    BRANCH_CHANGES,
    { ...REHEARSE, label: 'rehearse' },
    UNDO,
    BACK,
    REFRESH,
    ACTIVITY,
    ...LIST_KEYS,
  ],
  rows: (_, route) => rowsByIndex(branchesOf(route)),
  onRefresh: async (model, { target }) => refreshBranches(model, target),
};

function BranchesView({ route }: { route: BranchesRoute }) {
  const { target, found } = route;
  const now = useModel().clock();
  return (
    <ListFrame<BranchRow>
      route={route}
      path={[target, 'branches']}
      aside={found ? [{ text: countOf(found), tone: 'dim' }] : []}
      columns={branchColumns(branchesOf(route), now)}
      rows={branchesOf(route)}
      empty={found ? EMPTY.branches : LOADING.branches}
      detail={(branch) => branchFacts(branch, now)}
    />
  );
}
