import { sortedText } from '../../src/presentation/targets.ts';
import { FILTER } from '../app/filter.ts';
import { HELP, MESSAGES, MOUSE, MOVES, PALETTE, REFRESH, TASKS } from '../app/keys.ts';
import { contextOf, isAtRoot, isUnconfigured, type KeyBinding } from '../app/model.ts';
import { noTarget, notWritable } from '../app/why-not.ts';
import { AUDIT } from '../audit/actions.ts';
import { BRANCHES } from '../branches/actions.ts';
import { CHECK } from '../check/actions.ts';
import { BUILD } from '../commands/build.ts';
import { LOAD_LATEST } from '../commands/load.ts';
import { RESET } from '../commands/reset.ts';
import { EDIT_CONFIGURATION } from '../editor/actions.ts';
import { HISTORY } from '../history/actions.ts';
import { quit } from '../quit/actions.ts';
import { setUp } from '../setup/actions.ts';
import { signIn } from '../sign-in/actions.ts';
import { openTarget } from '../snapshots/actions.ts';
import { SUBSET } from '../subset/actions.ts';
import { COPY } from './copy.ts';
import { nextSort } from './sort.ts';
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
  {
    id: 'set_up',
    keys: ['i'],
    label: 'set up',
    help: 'create a first configuration, question by question',
    palette: 'Create first configuration',
    when: ({ model }) => isUnconfigured(model),
    whyNot: notWritable,
    run: setUp,
  },
  BUILD,
  LOAD_LATEST,
  REFRESH,
  ...FILTER,
  SUBSET,
  PALETTE,
  RESET,
  BRANCHES,
  {
    id: 'sort',
    keys: ['S'],
    label: 'sort',
    help: 'sort by configuration, name, status, size, snapshots or age of the latest one, in turn',
    palette: 'Sort targets',
    run: ({ navigation }, route) => {
      const sort = nextSort(route.sort);
      navigation.replace({ ...route, sort });
      const text = sortedText(sort);
      navigation.notify({ tone: 'plain', text });
    },
  },
  COPY,
  AUDIT,
  CHECK,
  EDIT_CONFIGURATION,
  {
    id: 'sign_in',
    keys: ['I'],
    label: 'sign in',
    help: 'sign in to the hub or with an identity provider, in the browser',
    palette: 'Sign in',
    run: (model) => void signIn(model),
  },
  TASKS,
  MESSAGES,
  HISTORY,
  HELP,
  {
    id: 'quit',
    keys: ['q'],
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
