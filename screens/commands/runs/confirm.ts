import { textEdit } from '../../../components/text-edit.ts';
import type { Operation } from '../../../src/operations/operation.ts';
import type { Planned } from '../../../src/operations/planned.ts';
import { toUserError } from '../../../src/runtime/errors.ts';
import { type Model, quietly } from '../../app/model.ts';
import type { ShownPlan } from '../../app/operations.ts';
import type { ConfirmRoute, PlannedRun } from './confirm-route.ts';
import { conflictingRun, replacedAlready } from './conflicting-runs.ts';
import { runRoute } from './run-route.ts';
import { operationRun } from './runs.ts';

interface ConfirmOptions<Request, P extends Planned<unknown, unknown>> {
  request: Request & { target: string };
  title: string;
  /** `false`: begins as soon as it is planned. */
  asks?: boolean;
  alternatives?: (plan: P['plan']) => PlannedRun['alternatives'];
  /** Runs after the operation. */
  after?: () => void;
  /** Handles a plan that cannot be made. */
  onError?: (thrown: unknown, signal: AbortSignal) => void;
}

/** Plans an operation, and asks before it is applied. */
export function confirmOperation<Request, P extends Planned<Request, unknown>, Result>(
  model: Model,
  operation: Operation<Request, P, Result>,
  asked: ConfirmOptions<NoInfer<Request>, P>,
): void {
  const { request, title, asks = true, alternatives, after, onError } = asked;
  confirm(model, {
    target: request.target,
    title,
    asks,
    plan: async (signal) => {
      const planning = model.operations.plan(quietly(signal), operation, request);
      const shown = await planning.catch((thrown: unknown) => {
        onError?.(thrown, signal);
        throw thrown;
      });
      const planned = plannedRun(model, operation, {
        ...shown,
        target: request.target,
        alternatives: alternatives?.(shown.shown) ?? {},
      });
      const planAgain = (change: object, again: string): void =>
        confirmOperation(model, operation, { ...asked, request: { ...request, ...change }, title: again });
      const { perform } = planned.definition;
      const performThen: typeof perform = async (session) => {
        const summary = await perform(session);
        after?.();
        return summary;
      };
      return { ...planned, definition: { ...planned.definition, planAgain, perform: performThen } };
    },
  });
}

export function plannedRun<Request, P extends Planned<Request, unknown>, Result>(
  model: Model,
  operation: Operation<Request, P, Result>,
  { alternatives = {}, ...planned }: ShownPlan<P> & { target: string } & Pick<PlannedRun, 'alternatives'>,
): PlannedRun {
  return {
    question: operation.question(planned.shown, model.clock()),
    definition: operationRun(model, operation, planned),
    alternatives,
  };
}

interface Confirmation {
  target: string;
  title: string;
  plan: (signal: AbortSignal) => Promise<PlannedRun>;
  asks?: boolean;
}

/** Plans, then asks. */
export function confirm(model: Model, confirmation: Confirmation): void {
  const { target, title, plan, asks = true } = confirmation;
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
    (planned) => {
      const confirmation = confirmationOf(model, planned);
      const begins = !asks && confirmation.plan !== null && model.navigation.top() === route;
      if (begins) model.navigation.replace(runRoute(model.runs.begin(planned.definition)));
      else answer(confirmation);
    },
    (thrown: unknown) => answer({ error: toUserError(thrown) }),
  );
}

/** The question; an error where another run is about to replace the same database. */
export function confirmationOf(model: Model, plan: PlannedRun): Pick<ConfirmRoute, 'plan' | 'typing' | 'error'> {
  const conflicting = conflictingRun(model.runs.live(), plan.definition);
  if (conflicting) return { plan: null, typing: null, error: replacedAlready(conflicting) };
  return { plan, typing: plan.question.typed === null ? null : textEdit(), error: null };
}
