import { createStore } from 'zustand/vanilla';
import { setKeysInEffect } from '../../src/config/keys/keys-in-effect.ts';
import { createMessages } from '../../src/state/messages.ts';
import { createNavigation } from '../../src/state/navigation.ts';
import { elapsed } from '../../src/state/run.ts';
import { createRuns, type Run } from '../../src/state/runs.ts';
import { createSnapshotsStore } from '../../src/state/snapshots.ts';
import { createTargetsStore, type KnownTarget } from '../../src/state/targets.ts';
import { showEndedRehearsal } from '../commands/rehearse.ts';
import { targetsRoute } from '../targets/targets-route.ts';
import { endedLine } from './frame/run-text.ts';
import { addOutcome, keepMessages } from './keep-messages.ts';
import { refreshHistory } from './lists/activity.ts';
import { createViews } from './lists/in-view.ts';
import { refreshTargets } from './lists/refresh.ts';
import type { History, Model, Session, TerminalControl } from './model.ts';
import type { Operations } from './operations.ts';
import type { Route } from './route.ts';
import { SCREENS } from './screens.ts';

export interface ModelOptions {
  operations: Operations;
  terminal: TerminalControl;
  clock: () => Date;
  cwd?: string;
  config?: string | undefined;
  version?: string;
  readOnly?: boolean;
  known?: KnownTarget[];
  remember?: (targets: KnownTarget[]) => void;
}

export function createModel(options: ModelOptions): Model {
  const { operations, terminal, clock, cwd = '/', config, version = '', readOnly = false } = options;
  const { known = [], remember = () => {} } = options;
  const targets = targetsRoute();
  const navigation = createNavigation<Route>([targets]);
  const messages = createMessages({ clock });
  keepMessages(navigation, messages);
  const onEnd = (run: Run) => {
    addOutcome(run, { navigation, messages });
    showEndedRehearsal(run, navigation);
    if (model.session.getState().notify && isLong(run)) terminal.announce(endedLine(run).text);
    void refreshHistory(model);
    // A status from before a failure may no longer be true.
    if (run.state.status === 'failed') void refreshTargets(model);
  };
  const session = createStore<Session>(() => ({
    file: null,
    mode: 'local',
    lacksSignIn: false,
    notify: false,
    keys: {},
  }));
  setKeysInEffect({});
  session.subscribe(({ keys }) => setKeysInEffect(keys));
  const model: Model = {
    screens: SCREENS,
    navigation,
    messages,
    history: createStore<History>(() => ({ found: null, error: null })),
    targets: createTargetsStore(known),
    snapshots: createSnapshotsStore(),
    runs: createRuns({ clock, onEnd }),
    operations,
    terminal,
    clock,
    cwd,
    config,
    version,
    session,
    readOnly,
    remember,
    views: createViews(),
    viewport: { keys: [], furthest: Number.POSITIVE_INFINITY },
    planning: new Set(),
    mouse: { on: false },
    interrupts: { last: null },
  };
  return model;
}

const LONG_RUN_MS = 10_000;

/** Whoever has cancelled a run knows of its end. */
function isLong({ state }: Run): boolean {
  return state.status !== 'cancelled' && elapsed(state, state.startedAt) > LONG_RUN_MS;
}
