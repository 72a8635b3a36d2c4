import { ListView } from '../../components/list-view.tsx';
import { branchColumns, branchFacts } from '../../src/operations/branch/list/text.ts';
import { countOf } from '../../src/operations/branch/shared-text.ts';
import type { BranchRow } from '../../src/results/branch-results.ts';
import { Frame, useModel, useRoom } from '../app/frame.tsx';
import { positionIn, rowsByIndex } from '../app/in-view.ts';
import { BACK, HELP, MESSAGES, MOVES, PALETTE, REFRESH, TASKS } from '../app/keys.ts';
import type { ScreenModule } from '../app/model.ts';
import { EMPTY, LOADING } from '../app/text.ts';
import { UNDO } from '../commands/undo.ts';
import { COPY_BRANCH_URL, DROP_BRANCH, NEW_BRANCH, RESET_BRANCH, SWITCH_BRANCH } from './actions.ts';
import { type BranchesRoute, branchesOf, refreshBranches } from './branches-route.ts';

export const branchesScreen: ScreenModule<BranchesRoute> = {
  id: 'branches',
  title: 'Branches of a target',
  view: BranchesView,
  keys: [
    NEW_BRANCH,
    SWITCH_BRANCH,
    RESET_BRANCH,
    DROP_BRANCH,
    COPY_BRANCH_URL,
    UNDO,
    BACK,
    REFRESH,
    TASKS,
    MESSAGES,
    PALETTE,
    HELP,
    ...MOVES,
  ],
  rows: (_, route) => rowsByIndex(branchesOf(route)),
  onRefresh: async (model, { target }) => refreshBranches(model, target),
};

function BranchesView({ route }: { route: BranchesRoute }) {
  const { columns, height, wide } = useRoom();
  const { target, found, error, list } = route;
  const branches = branchesOf(route);
  const now = useModel().clock();
  return (
    <Frame screen="branches" path={[target, 'branches']} aside={found ? [{ text: countOf(found), tone: 'dim' }] : []}>
      <ListView<BranchRow>
        columns={branchColumns(now)}
        rows={branches}
        keyOf={({ name }) => name}
        selected={positionIn(rowsByIndex(branches), list.selected)}
        width={columns}
        height={height}
        error={error}
        empty={found ? EMPTY.branches : LOADING.branches}
        detail={(branch) => branchFacts(branch, now)}
        wide={wide}
      />
    </Frame>
  );
}
