import { ACTIVITY, HELP, MOUSE, MOVES, PALETTE, REFRESH } from '../app/keys.ts';
import { FILTER } from '../app/lists/filter.ts';
import { nextSort } from '../app/lists/sort-targets.ts';
import { isAtRoot, isUnconfigured, type KeyBinding } from '../app/model.ts';
import { openNext, PANE_KEYS } from '../app/panes.ts';
import { sortedText } from '../app/text.ts';
import { noTarget } from '../app/why-not.ts';
import { BRANCHES } from '../commands/branches.ts';
import { BUILD } from '../commands/build.ts';
import { CHANGES } from '../commands/changes.ts';
import { CHECK } from '../commands/configuration/check.ts';
import { EDIT_CONFIGURATION } from '../commands/configuration/edit-configuration.ts';
import { SET_UP } from '../commands/configuration/set-up.ts';
import { COPY } from '../commands/copy.ts';
import { LOAD_LATEST } from '../commands/load.ts';
import { BACK_TO } from '../commands/points.ts';
import { quit } from '../commands/quit.ts';
import { REHEARSE } from '../commands/rehearse.ts';
import { RESET, UNDO } from '../commands/reset.ts';
import { CLASSIFY } from '../commands/sanitize.ts';
import { SAVE } from '../commands/save.ts';
import { SERVERS } from '../commands/servers.ts';
import { SIGN_IN } from '../commands/sign-in.ts';
import { SUBSET } from '../commands/subset.ts';
import type { TargetsRoute } from './targets-route.ts';

export const TARGET_KEYS: KeyBinding<TargetsRoute>[] = [
  {
    keys: ['enter', 'right'],
    label: 'open',
    help: "the target's snapshots",
    whyNot: noTarget,
    run: openNext,
  },
  ...PANE_KEYS,
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
  UNDO,
  CHANGES,
  BRANCHES,
  SERVERS,
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
  CHECK,
  EDIT_CONFIGURATION,
  SIGN_IN,
  ACTIVITY,
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
