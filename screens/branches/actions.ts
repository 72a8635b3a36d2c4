import { textEdit } from '../../components/text-edit.ts';
import {
  branchCreateQuestion,
  branchDropQuestion,
  branchResetQuestion,
  branchSwitchQuestion,
  CURRENT_BRANCH,
  NO_BRANCH,
} from '../../src/presentation/branch.ts';
import { emptyList } from '../../src/state/list.ts';
import { notFetched, showWhileFetching } from '../app/fetched.ts';
import { contextOf, type KeyBinding, type KeyContext, type Model, quietly } from '../app/model.ts';
import { latestNotLoadable, notWritable } from '../app/why-not.ts';
import { confirm, UNVERIFIED_SOURCES } from '../confirm/actions.ts';
import type { PlannedRun } from '../confirm/confirm-route.ts';
import { type BranchesRoute, readBranches, refreshBranches, selectedBranch } from './branches-route.ts';
import { branchCreateRun, branchDropRun, branchResetRun, branchSwitchRun } from './runs.ts';

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
  confirmBranch(model, { target, title: `create branch ${name}` }, async (signal) => {
    const planned = await model.operations.planBranchCreate(quietly(signal), { target, name, ...UNVERIFIED_SOURCES });
    return { question: branchCreateQuestion(planned.plan), definition: branchCreateRun(model, planned) };
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
    onSelected(route, ({ target, name }) =>
      confirmBranch(model, { target, title: `switch to ${name}` }, async (signal) => {
        const request = { target, name, ...UNVERIFIED_SOURCES };
        const planned = await model.operations.planBranchSwitch(quietly(signal), request);
        return { question: branchSwitchQuestion(planned.plan), definition: branchSwitchRun(model, planned) };
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
    onSelected(route, ({ target, name }) =>
      confirmBranch(model, { target, title: `reset ${name}` }, async (signal) => {
        const request = { target, name, ...UNVERIFIED_SOURCES };
        const planned = await model.operations.planBranchReset(quietly(signal), request);
        return { question: branchResetQuestion(planned.plan), definition: branchResetRun(model, planned) };
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
    onSelected(route, ({ target, name }) =>
      confirmBranch(model, { target, title: `drop ${name}` }, async (signal) => {
        const request = { target, names: [name], ...UNVERIFIED_SOURCES };
        const planned = await model.operations.planBranchDrop(quietly(signal), request);
        return { question: branchDropQuestion(planned.plan), definition: branchDropRun(model, planned) };
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

function onSelected(route: BranchesRoute, act: (selected: { target: string; name: string }) => void): void {
  const branch = selectedBranch(route);
  if (branch) act({ target: route.target, name: branch.name });
}

interface About {
  target: string;
  title: string;
}

/** The list is read again after the run. */
function confirmBranch(model: Model, about: About, plan: (signal: AbortSignal) => Promise<PlannedRun>): void {
  confirm(model, {
    ...about,
    plan: async (signal) => {
      const { question, definition } = await plan(signal);
      const perform: typeof definition.perform = async (session) => {
        const summary = await definition.perform(session);
        refreshBranches(model, about.target);
        return summary;
      };
      return { question, definition: { ...definition, perform } };
    },
  });
}
