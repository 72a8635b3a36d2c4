import { textEdit } from '../../components/text-edit.ts';
import { undoQuestion } from '../../src/presentation/load.ts';
import { removeQuestion } from '../../src/presentation/remove.ts';
import { notTyped } from '../../src/presentation/shapes/question.ts';
import { briefName } from '../../src/presentation/snapshot.ts';
import { toUserError } from '../../src/runtime/errors.ts';
import { contextOf, type KeyBinding, type Model, quietly } from '../app/model.ts';
import { noSnapshot, noTarget, notWritable } from '../app/why-not.ts';
import { removeRun, undoRun } from '../run/definitions.ts';
import { replacedAlready, rivalOf } from '../run/rivals.ts';
import { runRoute } from '../run/run-route.ts';
import type { ConfirmRoute, PlannedRun } from './confirm-route.ts';

/** One plan, one question: where sources cannot be identified, the user types the destination's name. */
export const UNVERIFIED_SOURCES = { unverifiedSources: true };

interface Confirmation {
  target: string;
  title: string;
  plan: (signal: AbortSignal) => Promise<PlannedRun>;
}

/** Plans, then asks. */
export function confirm(model: Model, confirmation: Confirmation): void {
  const { target, title, plan } = confirmation;
  const controller = new AbortController();
  const retry = () => {
    model.navigation.pop();
    confirm(model, confirmation);
  };
  const base = { screen: 'confirm' as const, target, title, controller, retry };
  const route: ConfirmRoute = { ...base, plan: null, error: null, typing: null };
  model.navigation.push(route);
  // Nothing is shown once the user has left.
  const answer = (change: Partial<ConfirmRoute>) => {
    if (model.navigation.top() === route) model.navigation.replace({ ...route, ...change });
  };
  plan(controller.signal).then(
    (planned) => answer(asked(model, planned)),
    (thrown: unknown) => answer({ error: toUserError(thrown) }),
  );
}

/** The question; an error where another run is about to replace the same database. */
export function asked(model: Model, plan: PlannedRun): Pick<ConfirmRoute, 'plan' | 'typing' | 'error'> {
  const rival = rivalOf(model.runs.live(), plan.definition);
  if (rival) return { plan: null, typing: null, error: replacedAlready(rival) };
  return { plan, typing: plan.question.typed === null ? null : textEdit(), error: null };
}

export type ConfirmAnswer = 'leave' | 'go';

export function answerConfirm(model: Model, answer: ConfirmAnswer): void {
  const route = model.navigation.top();
  if (route.screen !== 'confirm') return;
  if (answer === 'leave' || !route.plan) model.navigation.pop();
  else model.navigation.replace(runRoute(model.runs.begin(route.plan.definition)));
}

export function confirmTyped(model: Model, { plan, typing }: ConfirmRoute): void {
  if (!plan || !typing) return;
  const name = plan.question.typed?.name ?? '';
  if (typing.text === name) {
    answerConfirm(model, 'go');
    return;
  }
  model.navigation.notify({ tone: 'caution', text: notTyped(name, typing.text) });
}

export const RETRY_PLAN: KeyBinding<ConfirmRoute> = {
  id: 'refresh',
  keys: ['r'],
  label: 'retry',
  help: 'prepare the plan again, after an error',
  palette: 'Retry plan',
  when: ({ route }) => route.error !== null,
  run: (_, { retry }) => retry(),
  stays: true,
};

export const REMOVE: KeyBinding = {
  id: 'remove',
  keys: ['d', 'delete'],
  label: 'remove',
  help: 'remove the snapshot; asks first',
  palette: 'Remove snapshot…',
  whyNot: (context) => notWritable(context) ?? noSnapshot(context),
  run: (model) => {
    const { target, snapshot } = contextOf(model);
    if (!target || !snapshot) return;
    const request = { target: target.row.name, snapshot: snapshot.id };
    confirm(model, {
      target: request.target,
      title: `remove snapshot ${briefName(snapshot)}`,
      plan: async (signal) => {
        const planned = await model.operations.planRemove(quietly(signal), request);
        return { question: removeQuestion(planned.plan, model.clock()), definition: removeRun(model, planned) };
      },
    });
  },
};

export const UNDO: KeyBinding = {
  id: 'undo',
  keys: ['U', 'u'],
  label: 'undo load',
  help: 'restore the database that the last load replaced',
  palette: 'Undo load…',
  whyNot: (context) => notWritable(context) ?? noTarget(context),
  run: (model) => {
    const { target } = contextOf(model);
    if (!target) return;
    const request = { target: target.row.name, ...UNVERIFIED_SOURCES };
    confirm(model, {
      target: request.target,
      title: 'undo load',
      plan: async (signal) => {
        const planned = await model.operations.planUndo(quietly(signal), request);
        return { question: undoQuestion(planned.plan, model.clock()), definition: undoRun(model, planned) };
      },
    });
  },
};
