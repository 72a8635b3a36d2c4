import type { BuildRequest } from '../../src/operations/build.ts';
import { sanitizeQuestion } from '../../src/presentation/sanitize.ts';
import { notBuiltText, planningText } from '../../src/presentation/snapshot.ts';
import { toUserError } from '../../src/runtime/errors.ts';
import type { Notice } from '../../src/state/navigation.ts';
import { contextOf, type KeyBinding, type Model, quietly } from '../app/model.ts';
import { noTarget, notWritable } from '../app/why-not.ts';
import { buildRun, sanitizeRun } from '../run/definitions.ts';
import { rivalOf } from '../run/rivals.ts';
import { begin } from '../run/run-route.ts';
import { asked, UNVERIFIED_SOURCES } from './actions.ts';
import type { ConfirmRoute } from './confirm-route.ts';

export const BUILD: KeyBinding = {
  keys: ['b'],
  label: 'build',
  help: 'take a snapshot of the source database',
  whyNot: (context) => {
    const { name = '', src_url = null } = context.target?.row ?? {};
    if (context.model.planning.has(name)) return `The build of ${name} is being planned`;
    return (
      notWritable(context) ??
      noTarget(context) ??
      (src_url ? null : `${name} has no source database (snapshot.src_url)`)
    );
  },
  run: (model) => {
    const { target } = contextOf(model);
    if (target) void startBuild(model, { target: target.row.name });
  },
};

/** Asks only where a database is replaced by the sanitized snapshot. */
export async function startBuild(model: Model, request: BuildRequest): Promise<void> {
  const { target } = request;
  const { navigation, operations, runs, planning } = model;
  const notice: Notice = { tone: 'plain', text: planningText(target) };
  const depth = depthOf(model);
  const controller = new AbortController();
  const show = (outcome: Pick<ConfirmRoute, 'plan' | 'typing' | 'error'>): void => {
    if (depthOf(model) === depth)
      navigation.push({ screen: 'confirm', target, title: 'build', ...outcome, controller });
    else navigation.notify({ tone: 'caution', text: notBuiltText(target) });
  };
  planning.add(target);
  navigation.notify(notice);
  try {
    const planned = await operations.planBuild(quietly(controller.signal), { ...request, ...UNVERIFIED_SOURCES });
    const definition = planned ? sanitizeRun(model, planned) : buildRun(model, request);
    if (planned && (planned.plan.destination?.exists || rivalOf(runs.live(), definition))) {
      show(asked(model, { question: sanitizeQuestion(planned.plan, model.clock()), definition }));
    } else if (depthOf(model) === depth) begin(model, definition);
    else runs.begin(definition);
  } catch (thrown) {
    show({ plan: null, typing: null, error: toUserError(thrown) });
  } finally {
    planning.delete(target);
    if (navigation.store.getState().notice === notice) navigation.notify(null);
  }
}

/** Changes when the user opens or leaves a screen meanwhile. */
function depthOf({ navigation }: Model): number {
  return navigation.store.getState().stack.length;
}
