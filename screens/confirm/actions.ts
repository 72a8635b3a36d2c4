import { textEdit } from '../../components/text-edit.ts';
import { formatNumberOf } from '../../src/amounts.ts';
import { toUserError } from '../../src/errors.ts';
import type { GuardOptions } from '../../src/operations/load/guard.ts';
import type { LoadRequest } from '../../src/operations/load/planned-load.ts';
import { factsOf } from '../app/facts.ts';
import { type Model, quietly } from '../app/model.ts';
import { type ConfirmRoute, type Plan, runRoute } from '../app/route.ts';
import { sanitizeWork } from '../coverage/work.ts';
import { replacedAlready, rivalOf } from '../run/rivals.ts';
import { buildWork, loadWork, removeWork, undoWork } from '../run/work.ts';
import { subsetWork } from '../subset/work.ts';
import { questionOf } from './question.ts';

/** The selected snapshot, or of one the tables that are marked. */
export function askLoad(model: Model): void {
  const { target, snapshot, marked } = factsOf(model);
  if (!target || !snapshot) return;
  const tables = model.navigation.top().screen === 'tables' ? marked : null;
  const request = { target: target.row.name, snapshot: snapshot.id, ...(tables && { tables }) };
  askToLoad(
    model,
    request,
    `${tables ? `${formatNumberOf(tables.length, 'table')} of ` : ''}snapshot ${snapshot.index}`,
  );
}

/** The newest snapshot of the selected target, wherever it is. */
export function askLoadLatest(model: Model): void {
  const { target } = factsOf(model);
  if (target) askToLoad(model, { target: target.row.name }, 'the newest snapshot');
}

function askToLoad(model: Model, request: LoadRequest, what: string): void {
  ask(model, {
    target: request.target,
    title: `load ${what}`,
    plan: async (signal, allowed) => ({
      kind: 'load',
      planned: await model.operations.planLoad(quietly(signal), { ...request, ...allowed }),
    }),
  });
}

export function askRemove(model: Model): void {
  const { target, snapshot } = factsOf(model);
  if (!target || !snapshot) return;
  const request = { target: target.row.name, snapshot: snapshot.id };
  ask(model, {
    target: request.target,
    title: `remove snapshot ${snapshot.index}`,
    plan: async (signal) => ({ kind: 'remove', plan: await model.operations.planRemove(quietly(signal), request) }),
  });
}

export function askUndo(model: Model): void {
  const { target } = factsOf(model);
  if (!target) return;
  const request = { target: target.row.name };
  ask(model, {
    target: request.target,
    title: 'undo load',
    plan: async (signal, allowed) => ({
      kind: 'undo',
      plan: await model.operations.planUndo(quietly(signal), { ...request, ...allowed }),
    }),
  });
}

/** Asks only where a database is replaced by what is sanitized after it. */
export function askBuild(model: Model): void {
  const { target } = factsOf(model);
  if (!target) return;
  const request = { target: target.row.name };
  ask(model, {
    target: request.target,
    title: 'build',
    plan: async (signal, allowed) => ({
      kind: 'build',
      target: request.target,
      planned: await model.operations.planBuild(quietly(signal), { ...request, ...allowed }),
    }),
  });
}

export type ConfirmAnswer = 'leave' | 'go';

export function answerConfirm(model: Model, answer: ConfirmAnswer): void {
  const route = model.navigation.top();
  if (route.screen !== 'confirm') return;
  if (answer === 'leave' || !route.plan) {
    model.navigation.pop();
    return;
  }
  const run = model.runs.begin(workOf(model, route.plan));
  model.navigation.replace(runRoute(run));
}

/** Enter after the name was typed: goes on only when it is the right one. */
export function confirmTyped(model: Model, route: ConfirmRoute): void {
  if (!route.plan || !route.typing) return;
  const typeName = questionOf(route.plan, model.clock())?.typeName ?? null;
  if (route.typing.text === typeName) {
    answerConfirm(model, 'go');
    return;
  }
  const text = route.typing.text === '' ? `Type ${typeName} to go on` : `That is not ${typeName}`;
  model.navigation.notify({ tone: 'caution', text });
}

interface Asked {
  target: string;
  title: string;
  plan: (signal: AbortSignal, allowed: GuardOptions) => Promise<Plan>;
}

/** Works the plan out, and goes on at once when there is nothing to be asked. */
export function ask(model: Model, { target, title, plan }: Asked): void {
  const controller = new AbortController();
  const route: ConfirmRoute = { screen: 'confirm', target, title, plan: null, error: null, typing: null, controller };
  model.navigation.push(route);
  // Who has gone elsewhere meanwhile is not called back.
  const answer = (change: Partial<ConfirmRoute>) => {
    if (model.navigation.top() === route) model.navigation.replace({ ...route, ...change });
  };
  planAllowing((allowed) => plan(controller.signal, allowed)).then(
    (made) => {
      const rival = rivalOf(model.runs.live(), workOf(model, made));
      if (rival) {
        answer({ error: replacedAlready(rival) });
        return;
      }
      const question = questionOf(made, model.clock());
      answer({ plan: made, typing: (question?.typeName ?? null) === null ? null : textEdit() });
      const top = model.navigation.top();
      if (!question && top.screen === 'confirm' && top.plan === made) answerConfirm(model, 'go');
    },
    (thrown: unknown) => answer({ error: toUserError(thrown) }),
  );
}

/** Sources that cannot be identified are no end on screen: the question then asks for the destination's name. */
export async function planAllowing<Planned>(plan: (allowed: GuardOptions) => Promise<Planned>): Promise<Planned> {
  try {
    return await plan({});
  } catch (thrown) {
    if (toUserError(thrown).code !== 'sources_unverified') throw thrown;
    return plan({ unverifiedSources: true });
  }
}

function workOf(model: Model, plan: Plan) {
  switch (plan.kind) {
    case 'build':
      return plan.planned ? sanitizeWork(model, plan.planned) : buildWork(model, plan.target);
    case 'sanitize':
      return sanitizeWork(model, plan.planned);
    case 'load':
      return loadWork(model, plan.planned);
    case 'remove':
      return removeWork(model, plan.plan);
    case 'subset':
      return subsetWork(model, plan.planned);
    case 'undo':
      return undoWork(model, plan.plan);
    default:
      return plan satisfies never;
  }
}
