import { buildOperation } from '../../src/operations/build/operation.ts';
import type { BuildAndSanitizeRequest } from '../../src/operations/build/planned-build.ts';
import { alreadyQueuedText, notBuiltText, planningText } from '../../src/operations/build/text.ts';
import { queuedText } from '../../src/presentation/shapes/question.ts';
import { toUserError } from '../../src/runtime/errors.ts';
import type { ScreenNotice } from '../../src/state/navigation.ts';
import type { Run } from '../../src/state/runs.ts';
import { type KeyBinding, type Model, quietly } from '../app/model.ts';
import { onTarget } from '../app/on-selected.ts';
import { noTarget, notWritable } from '../app/why-not.ts';
import { confirmationOf, plannedRun } from './runs/confirm.ts';
import type { ConfirmRoute } from './runs/confirm-route.ts';
import { conflictingRun } from './runs/conflicting-runs.ts';
import { begin } from './runs/run-route.ts';

export const BUILD: KeyBinding = {
  id: 'build',
  label: 'build',
  help: 'build a snapshot of the source database',
  palette: 'Build snapshot',
  whyNot: (context) => {
    const { name = '', src_url = null } = context.target?.row ?? {};
    if (context.model.planning.has(name)) return `The build of ${name} is being planned`;
    const queued = context.model.runs.live().find((run) => run.target === name && isQueuedBuild(run));
    if (queued) return alreadyQueuedText(queued.title);
    return (
      notWritable(context) ??
      noTarget(context) ??
      (src_url ? null : `${name} has no source database (snapshot.src_url)`)
    );
  },
  run: onTarget((model, target) => void startBuild(model, { target })),
};

/** A running build may have begun before the change that is to be in the next snapshot; a queued one has not. */
function isQueuedBuild({ kind, state }: Run): boolean {
  return kind === 'build' && state.status === 'waiting';
}

/** Asks only where a database is replaced by the sanitized snapshot. */
export async function startBuild(model: Model, request: BuildAndSanitizeRequest): Promise<void> {
  const { target } = request;
  const { navigation, operations, runs, planning } = model;
  const notice: ScreenNotice = { tone: 'plain', text: planningText(target) };
  const depth = depthOf(model);
  const controller = new AbortController();
  const retry = () => {
    navigation.pop();
    void startBuild(model, request);
  };
  const show = (outcome: Pick<ConfirmRoute, 'plan' | 'typing' | 'error'>): void => {
    if (depthOf(model) === depth)
      navigation.push({ screen: 'confirm', target, title: 'build', ...outcome, controller, retry });
    else navigation.notify({ tone: 'caution', text: notBuiltText(target) });
  };
  planning.add(target);
  navigation.notify(notice);
  try {
    const session = quietly(controller.signal);
    const planned = await operations.plan(session, buildOperation, request);
    const run = plannedRun(model, buildOperation, { target, ...planned });
    const { definition } = run;
    if (buildOperation.asks?.(planned.shown) || conflictingRun(runs.live(), definition))
      show(confirmationOf(model, run));
    else if (depthOf(model) === depth) begin(model, definition);
    else {
      const before = runs.live().findLast((run) => run.target === target);
      runs.begin(definition);
      if (before) navigation.notify({ tone: 'caution', text: queuedText(before.title) });
    }
  } catch (thrown) {
    show({ plan: null, typing: null, error: toUserError(thrown) });
  } finally {
    planning.delete(target);
    navigation.withdraw(notice);
  }
}

/** Changes when the user opens or leaves a screen meanwhile. */
function depthOf({ navigation }: Model): number {
  return navigation.store.getState().stack.length;
}
