import { textEdit } from '../../components/text-edit.ts';
import { branchCreateOperation } from '../../src/operations/branch/create/operation.ts';
import { branchDropOperation } from '../../src/operations/branch/drop/operation.ts';
import { CURRENT_BRANCH, NO_BRANCH } from '../../src/operations/branch/list/text.ts';
import { branchResetOperation } from '../../src/operations/branch/reset/operation.ts';
import { branchSwitchOperation } from '../../src/operations/branch/switch/operation.ts';
import { emptyList } from '../../src/state/list.ts';
import { notFetched, showWhileFetching } from '../app/fetched.ts';
import { contextOf, type KeyBinding, type KeyContext, type Model } from '../app/model.ts';
import { latestNotLoadable, notWritable } from '../app/why-not.ts';
import { confirmOperation, UNVERIFIED_SOURCES } from '../commands/confirm.ts';
import { type BranchesRoute, readBranches, refreshBranches, selectedBranch } from './branches-route.ts';

/** On the lists of targets and of snapshots. */
export const BRANCHES: KeyBinding = {
  id: 'branches',
  keys: ['B'],
  label: 'branches',
  help: 'branches of the target: separate databases made from its base copy',
  palette: 'Open branches',
  whyNot: (context) => (notWritable(context) === null ? latestNotLoadable(context) : null),
  run: (model) => {
    const { target } = contextOf(model);
    if (!target) return;
    const { name } = target.row;
    const route: BranchesRoute = { screen: 'branches', target: name, list: emptyList, ...notFetched() };
    showWhileFetching(model, route, (signal) => readBranches(model, name, signal));
  },
};

export const NEW_BRANCH: KeyBinding<BranchesRoute> = {
  id: 'new',
  keys: ['n'],
  label: 'new',
  help: 'create a branch from the base copy; shows the plan and asks first',
  palette: 'Create branch…',
  whyNot: notWritable,
  run: ({ navigation }, { target }) => navigation.push({ screen: 'branch-name', target, typing: textEdit('') }),
};

export function confirmCreate(model: Model, { target, name }: { target: string; name: string }): void {
  const request = { target, name, ...UNVERIFIED_SOURCES };
  confirmOperation(model, branchCreateOperation, {
    ...about(model, target),
    request,
    title: `create branch ${name}`,
  });
}

export const SWITCH_BRANCH: KeyBinding<BranchesRoute> = {
  id: 'switch',
  keys: ['W'],
  label: 'switch',
  help: 'switch the destination to the branch; asks first',
  palette: 'Switch to branch…',
  whyNot: (context) => noBranch(context) ?? isCurrent(context),
  run: (model, route) =>
    onSelected(route, (request) =>
      confirmOperation(model, branchSwitchOperation, {
        ...about(model, request.target),
        request,
        title: `switch to ${request.name}`,
      }),
    ),
};

export const RESET_BRANCH: KeyBinding<BranchesRoute> = {
  id: 'reset',
  keys: ['R'],
  label: 'reset',
  help: 'restore the branch to the base copy; asks first',
  palette: 'Reset branch…',
  whyNot: noBranch,
  run: (model, route) =>
    onSelected(route, (request) =>
      confirmOperation(model, branchResetOperation, {
        ...about(model, request.target),
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
  run: (model, route) =>
    onSelected(route, ({ name, ...rest }) =>
      confirmOperation(model, branchDropOperation, {
        ...about(model, rest.target),
        request: { ...rest, names: [name] },
        title: `drop ${name}`,
      }),
    ),
};

export const COPY_BRANCH_URL: KeyBinding<BranchesRoute> = {
  id: 'copy',
  keys: ['y'],
  label: 'copy URL',
  help: 'copy the connection URL of the branch, without its password',
  palette: 'Copy URL of branch',
  whyNot: ({ route }) => (selectedBranch(route) ? null : NO_BRANCH),
  run: (model, route) => {
    const branch = selectedBranch(route);
    if (!branch) return;
    model.terminal.copy(branch.url);
    model.navigation.notify({ tone: 'good', text: `Copied ${branch.url}` });
  },
};

function noBranch(context: KeyContext<BranchesRoute>): string | null {
  return notWritable(context) ?? (selectedBranch(context.route) ? null : NO_BRANCH);
}

function isCurrent({ route }: KeyContext<BranchesRoute>): string | null {
  return selectedBranch(route)?.current ? CURRENT_BRANCH : null;
}

interface SelectedBranch {
  target: string;
  name: string;
  unverifiedSources: boolean;
}

function onSelected(route: BranchesRoute, act: (selected: SelectedBranch) => void): void {
  const branch = selectedBranch(route);
  if (branch) act({ target: route.target, name: branch.name, ...UNVERIFIED_SOURCES });
}

/** The list is read again after the run. */
function about(model: Model, target: string) {
  return { after: () => refreshBranches(model, target) };
}
