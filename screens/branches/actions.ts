import { textEdit } from '../../components/text-edit.ts';
import { branchDropOperation } from '../../src/operations/branch/drop/operation.ts';
import { CURRENT_BRANCH, NO_BRANCH } from '../../src/operations/branch/list/text.ts';
import { branchResetOperation } from '../../src/operations/branch/reset/operation.ts';
import { branchSwitchOperation } from '../../src/operations/branch/switch/operation.ts';
import type { KeyBinding, KeyContext, Model } from '../app/model.ts';
import { notWritable } from '../app/why-not.ts';
import { CHANGES, openChanges } from '../commands/changes.ts';
import { copyToClipboard } from '../commands/copy.ts';
import { BACK_TO, showPoints } from '../commands/points.ts';
import { confirmOperation } from '../commands/runs/confirm.ts';
import { askForName, SAVE } from '../commands/save.ts';
import { type BranchesRoute, refreshBranches, selectedBranch } from './branches-route.ts';

export const NEW_BRANCH: KeyBinding<BranchesRoute> = {
  id: 'new',
  label: 'new',
  help: 'create a branch from the base copy, or with tab from the selected branch; shows the plan and asks first',
  palette: 'Create branch…',
  whyNot: notWritable,
  run: ({ navigation }, route) =>
    navigation.push({
      ...{ screen: 'branch-name', target: route.target, typing: textEdit('') },
      ...{ selected: selectedBranch(route)?.name ?? null, from: null },
    }),
};

export const SWITCH_BRANCH: KeyBinding<BranchesRoute> = {
  id: 'switch',
  label: 'switch',
  help: 'switch the destination to the branch; asks first',
  palette: 'Switch to branch…',
  whyNot: (context) => noBranch(context) ?? isCurrent(context),
  run: onSelected((model, request) =>
    confirmOperation(model, branchSwitchOperation, {
      after: () => refreshBranches(model, request.target),
      request,
      title: `switch to ${request.name}`,
    }),
  ),
};

export const RESET_BRANCH: KeyBinding<BranchesRoute> = {
  id: 'reset',
  label: 'reset',
  help: 'restore the branch to the base copy; asks first',
  palette: 'Reset branch…',
  whyNot: noBranch,
  run: onSelected((model, request) =>
    confirmOperation(model, branchResetOperation, {
      after: () => refreshBranches(model, request.target),
      request,
      title: `reset ${request.name}`,
    }),
  ),
};

export const DROP_BRANCH: KeyBinding<BranchesRoute> = {
  id: 'remove',
  keys: ['d', 'delete'],
  label: 'drop',
  help: 'drop the branch; asks first',
  palette: 'Drop branch…',
  whyNot: (context) => noBranch(context) ?? isCurrent(context),
  run: onSelected((model, { target, name }) =>
    confirmOperation(model, branchDropOperation, {
      after: () => refreshBranches(model, target),
      request: { target, names: [name] },
      title: `drop ${name}`,
    }),
  ),
};

export const SAVE_BRANCH: KeyBinding<BranchesRoute> = {
  ...SAVE,
  help: 'store the present state of the branch as a save, on this machine; asks for a name',
  palette: 'Save branch…',
  whyNot: noBranch,
  run: (model, route) => askForName(model, placeOf(route)),
};

export const BACK_TO_POINT: KeyBinding<BranchesRoute> = {
  ...BACK_TO,
  help: 'states that the branch, or the destination, can return to: saves, the base copy',
  palette: 'Return to a save or the base copy…',
  whyNot: (context) => (selectedBranch(context.route) ? notWritable(context) : (BACK_TO.whyNot?.(context) ?? null)),
  run: (model, route) => showPoints(model, placeOf(route)),
};

/** The destination, where the selected branch is it at present. */
function placeOf(route: BranchesRoute): { target: string; branch?: string } {
  const { target } = route;
  const branch = selectedBranch(route);
  return branch && !branch.current ? { target, branch: branch.name } : { target };
}

export const COPY_BRANCH_URL: KeyBinding<BranchesRoute> = {
  id: 'copy',
  label: 'copy URL',
  help: 'copy the connection URL of the branch, without its password',
  palette: 'Copy URL of branch',
  whyNot: notSelected,
  run: onSelected((model, { url }) => copyToClipboard(model, url)),
};

export const BRANCH_CHANGES: KeyBinding<BranchesRoute> = {
  ...CHANGES,
  help: 'rows and definitions of the branch that changed since it was created or reset',
  palette: 'Show changes in branch',
  whyNot: notSelected,
  run: onSelected((model, { target, name: branch }) => openChanges(model, { target, branch })),
};

function notSelected({ route }: KeyContext<BranchesRoute>): string | null {
  return selectedBranch(route) ? null : NO_BRANCH;
}

function noBranch(context: KeyContext<BranchesRoute>): string | null {
  return notWritable(context) ?? notSelected(context);
}

function isCurrent({ route }: KeyContext<BranchesRoute>): string | null {
  return selectedBranch(route)?.current ? CURRENT_BRANCH : null;
}

function onSelected(act: (model: Model, selected: { target: string; name: string; url: string }) => void) {
  return (model: Model, route: BranchesRoute): void => {
    const branch = selectedBranch(route);
    if (branch) act(model, { target: route.target, name: branch.name, url: branch.url });
  };
}
