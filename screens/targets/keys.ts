import { HELP, MESSAGES, MOUSE, MOVES, PALETTE, REFRESH, RUNS } from '../app/keys.ts';
import { FILTER } from '../app/lists/filter.ts';
import { nextSort } from '../app/lists/sort-targets.ts';
import { contextOf, isAtRoot, isUnconfigured, type KeyBinding } from '../app/model.ts';
import { sortedText } from '../app/text.ts';
import { noTarget } from '../app/why-not.ts';
import { AUDIT } from '../commands/audit.ts';
import { BRANCHES } from '../commands/branches.ts';
import { BUILD } from '../commands/build.ts';
import { CHANGES } from '../commands/changes.ts';
import { CHECK } from '../commands/configuration/check.ts';
import { EDIT_CONFIGURATION } from '../commands/configuration/edit-configuration.ts';
import { SET_UP } from '../commands/configuration/set-up.ts';
import { COPY } from '../commands/copy.ts';
import { HISTORY } from '../commands/history.ts';
import { LOAD_LATEST } from '../commands/load.ts';
import { openTarget } from '../commands/open-target.ts';
import { BACK_TO } from '../commands/points.ts';
import { quit } from '../commands/quit.ts';
import { REHEARSE } from '../commands/rehearse.ts';
import { RESET } from '../commands/reset.ts';
import { CLASSIFY } from '../commands/sanitize.ts';
import { SAVE } from '../commands/save.ts';
import { signIn } from '../commands/sign-in.ts';
import { SUBSET } from '../commands/subset.ts';
import type { TargetsRoute } from './targets-route.ts';

export const TARGET_KEYS: KeyBinding<TargetsRoute>[] = [
  {
    keys: ['enter', 'right'],
    label: 'open',
    help: "the target's snapshots",
    whyNot: noTarget,
    run: (model) => {
      const { target } = contextOf(model);
      if (target) openTarget(model, target.row.name);
    },
    palette: false,
  },
  { ...SET_UP, when: ({ model }) => isUnconfigured(model) },
  BUILD,
  LOAD_LATEST,
  REFRESH,
  ...FILTER,
  SUBSET,
  PALETTE,
  RESET,
  SAVE,
  BACK_TO,
  CHANGES,
  BRANCHES,
  REHEARSE,
  {
    id: 'sort',
    label: 'sort',
    help: 'sort by configuration, name, status, size, snapshots or age of the latest one, in turn',
    palette: 'Sort targets',
    run: ({ navigation }, route) => {
      const sort = nextSort(route.sort);
      navigation.replace({ ...route, sort });
      navigation.notify({ tone: 'plain', text: sortedText(sort) });
    },
  },
  CLASSIFY,
  COPY,
  AUDIT,
  CHECK,
  EDIT_CONFIGURATION,
  {
    id: 'sign_in',
    label: 'sign in',
    help: 'sign in to the hub or with an identity provider, in the browser',
    palette: 'Sign in',
    run: (model) => void signIn(model),
  },
  RUNS,
  MESSAGES,
  HISTORY,
  HELP,
  {
    id: 'quit',
    label: 'quit',
    help: 'quit; asks first if runs are in progress',
    palette: 'Quit',
    when: ({ model }) => isAtRoot(model),
    run: quit,
    stays: true,
  },
  MOUSE,
  ...MOVES,
];
