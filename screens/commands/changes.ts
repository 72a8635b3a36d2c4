import type { OpenChanges } from '../../src/operations/changes/changes.ts';
import { toUserError } from '../../src/runtime/errors.ts';
import { emptyList } from '../../src/state/list.ts';
import { foldRun, startRun } from '../../src/state/run.ts';
import type { RunContext } from '../../src/state/runs.ts';
import { changeRoute, left, notFetched } from '../app/lists/fetched.ts';
import type { KeyBinding, Model } from '../app/model.ts';
import { onTarget } from '../app/on-selected.ts';
import { notReadable } from '../app/why-not.ts';
import type { ChangesRoute } from '../changes/changes-route.ts';

type ChangesRequest = Pick<ChangesRoute, 'target' | 'branch' | 'since'>;

/** On the list of targets; other screens name a branch or an earlier state. */
export const CHANGES: KeyBinding = {
  id: 'changes',
  label: 'changes',
  help: 'rows and definitions of the destination that changed since the last load',
  palette: 'Show changes since the last load',
  whyNot: notReadable,
  run: onTarget((model, target) => openChanges(model, { target })),
};

/** Shows the changes as soon as they are read; both states stay readable until the user leaves. */
export function openChanges(model: Model, of: ChangesRequest): void {
  const route: ChangesRoute = {
    ...{ screen: 'changes', ...of, ...notFetched<OpenChanges>(), state: startRun(model.clock().getTime()) },
    ...{ revealed: false, list: emptyList, typing: null },
  };
  model.navigation.push(route);
  read(model, route);
}

/** Reads the database again wherever its changes are shown; the selection stays. */
export function refreshChanges(model: Model, target: string): void {
  for (const route of model.navigation.store.getState().stack) {
    if (route.screen !== 'changes' || route.target !== target) continue;
    route.controller.abort();
    const again: ChangesRoute = { ...route, ...notFetched<OpenChanges>(), state: startRun(model.clock().getTime()) };
    model.navigation.change((other) => (other === route ? again : other));
    read(model, again);
  }
}

function read(model: Model, { target, branch, since, controller, state }: ChangesRoute): void {
  const { signal } = controller;
  const update = (change: Partial<ChangesRoute>): void => changeRoute<ChangesRoute>(model, controller, () => change);
  const progress = folded(model, { state, show: (shown) => update({ state: shown }), signal });
  const use = (found: OpenChanges): Promise<void> => {
    progress.flush();
    update({ found });
    return left(controller);
  };
  const request = { target, ...(branch !== undefined && { branch }), ...(since !== undefined && { since }) };
  model.operations.withChanges({ signal, report: progress.report }, request, use).catch((thrown: unknown) => {
    if (!signal.aborted) update({ error: toUserError(thrown) });
  });
}

/** In ms: each update costs a frame. */
const SHOW_EVERY_MS = 100;

interface FoldOptions {
  state: ChangesRoute['state'];
  show: (state: ChangesRoute['state']) => void;
  signal: AbortSignal;
}

function folded({ clock }: Model, { state, show, signal }: FoldOptions) {
  let current = state;
  let timer: NodeJS.Timeout | null = null;
  const flush = (): void => {
    if (timer) clearTimeout(timer);
    timer = null;
    if (!signal.aborted) show(current);
  };
  const report: RunContext['report'] = (event) => {
    current = foldRun(current, event, clock().getTime());
    timer ??= setTimeout(flush, SHOW_EVERY_MS);
  };
  return { flush, report };
}
