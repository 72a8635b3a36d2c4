import { defaultText, type TextEdit, textEdit } from '../../components/text-edit.ts';
import { urlWithin } from '../../src/config/urls/raw-parts.ts';
import { interrupted, toUserError, UserError } from '../../src/runtime/errors.ts';
import { formatDuration } from '../../src/text/format.ts';
import { refreshTargetsAnew } from '../app/lists/refresh.ts';
import { type Model, quietly } from '../app/model.ts';
import { startBuild } from '../commands/build.ts';
import { REFUSED } from './checks-text.ts';
import type { SetupRoute } from './setup-route.ts';
import { EMPTY_FORM, inField, moveInForm } from './source-form.ts';
import { CONTAINER, type SetupFound, type SetupStep } from './step.ts';
import { GO_ON, SETUP_STEPS, stepsOf, stepWithId } from './steps-text.ts';
import { ANSWER_CHECKS, planned } from './validate-answer.ts';

/** For a server or a bucket. */
const TIMEOUT_MS = 20_000;
/** The first use of a container fetches its image. */
const IMAGE_TIMEOUT_MS = 600_000;

export function setUp(model: Model): void {
  const route: SetupRoute = {
    screen: 'setup',
    step: SETUP_STEPS[0]?.id ?? 'url',
    config: model.config,
    answers: {},
    form: EMPTY_FORM,
    leftOut: [],
    found: {
      engines: null,
      databases: [],
      project: null,
      source: null,
      destination: null,
      programsFor: null,
      cliProfiles: [],
      storage: null,
      plan: null,
    },
    typing: null,
    busy: null,
    scrolledUp: 0,
    error: null,
  };
  model.navigation.push(at(route, stepsOf(route)[0]));
  const { operations } = model;
  void findLater(model, 'engines', operations.findEngines(quietly(AbortSignal.timeout(TIMEOUT_MS))));
  void findLater(model, 'project', operations.findProjectDatabase());
}

/** Enter in a field: goes on when the answer is valid. */
export function answerTyped(model: Model, route: SetupRoute): void {
  const step = stepWithId(route.step);
  if (step.kind === 'form') {
    answerForm(model, route);
    return;
  }
  const typed = route.typing?.text.trim() ?? '';
  const text = step.id === 'destination' ? urlWithin(typed) : typed;
  if (step.kind !== 'text') return;
  if (text === '' && !step.optional) {
    model.navigation.notify({ tone: 'caution', text: REFUSED.empty });
    return;
  }
  goOn(model, { ...route, answers: { ...route.answers, [step.id]: text } });
}

/** A complete URL and the last field go on, the others lead to the next one. */
function answerForm(model: Model, route: SetupRoute): void {
  const { field } = route.form;
  const url = route.answers.url?.trim() ?? '';
  if (route.busy) return;
  if (field !== 'url' && field !== 'database') model.navigation.replace(moveInForm(route, 'down'));
  else if (url === '') model.navigation.notify({ tone: 'caution', text: REFUSED.empty });
  else goOn(model, { ...route, answers: { ...route.answers, url } });
}

export function answerChosen(model: Model, value: string): void {
  const route = model.navigation.top();
  if (route.screen !== 'setup' || route.busy) return;
  if (route.step === 'done') end(model, route, { build: value === 'build' });
  else if (route.step === 'schemas' && value !== GO_ON) toggleSchema(model, route, value);
  else if (route.step === 'schemas' && route.leftOut.length === route.found.source?.schemas.length) {
    model.navigation.notify({ tone: 'caution', text: REFUSED.noSchema });
  } else {
    // Without client programs a check was not done: it is repeated.
    const step = route.step === 'programs' ? (route.found.programsFor ?? route.step) : route.step;
    goOn(model, { ...route, step, answers: { ...route.answers, [route.step]: value } });
  }
}

export function finish(model: Model, route: SetupRoute): void {
  const { plan } = route.found;
  if (stepWithId(route.step).kind !== 'review' || route.busy || !plan) return;
  whileBusy(model, route, async () => {
    await model.operations.applySetUp(plan);
    void refreshTargetsAnew(model);
    return at(route, stepWithId('done'));
  });
}

/** Back by a question, or cancels the running check. */
export function backStep(model: Model, route: SetupRoute): void {
  const { busy, typing, step } = route;
  if (busy) {
    busy.abort(interrupted());
    model.navigation.replace(at(route, stepWithId(step)));
    return;
  }
  const steps = stepsOf(route);
  const before = steps[steps.findIndex(({ id }) => id === step) - 1];
  if (step === 'done') end(model, route, { build: false });
  else if (!before) model.navigation.pop();
  else {
    const isText = typing && stepWithId(step).kind === 'text';
    const answers = isText ? { ...route.answers, [step]: typing.text } : route.answers;
    model.navigation.replace(at({ ...route, answers }, before));
  }
}

/** Checks the answer, then asks the next question. */
function goOn(model: Model, route: SetupRoute): void {
  whileBusy(model, route, async (signal) => {
    const { operations } = model;
    const session = quietly(signal);
    const found = await ANSWER_CHECKS[route.step]?.({ operations, session, route });
    const inspected = { ...route, found: { ...route.found, ...found } };
    const answered = found?.source ? { ...inspected, leftOut: [] } : inspected;
    const steps = stepsOf(answered);
    const next = steps[steps.findIndex(({ id }) => id === route.step) + 1];
    if (next?.kind !== 'review') return at(answered, next);
    const file = await planned({ operations, session, route: answered });
    return at({ ...answered, found: { ...answered.found, ...file } }, next);
  });
}

/** While a check runs, only Esc works; nothing is shown once the user has left. */
function whileBusy(model: Model, route: SetupRoute, work: (signal: AbortSignal) => Promise<SetupRoute>): void {
  const controller = new AbortController();
  const timeoutMs = route.answers.programs === CONTAINER ? IMAGE_TIMEOUT_MS : TIMEOUT_MS;
  const timeout = AbortSignal.timeout(timeoutMs);
  model.navigation.replace({ ...route, typing: null, busy: controller, error: null });
  const answer = (after: SetupRoute): void =>
    model.navigation.change((one) =>
      one.screen === 'setup' && one.busy === controller
        ? { ...after, found: { ...after.found, engines: one.found.engines, project: one.found.project } }
        : one,
    );
  work(AbortSignal.any([controller.signal, timeout])).then(answer, (thrown: unknown) => {
    const error = timeout.aborted ? noAnswer(timeoutMs) : toUserError(thrown);
    if (error.code === 'tools_missing') {
      answer(at({ ...route, found: { ...route.found, programsFor: route.step } }, stepWithId('programs')));
    } else answer({ ...at(route, stepWithId(route.step)), error });
  });
}

function noAnswer(timeoutMs: number): UserError {
  return new UserError('unreachable', `No answer within ${formatDuration(timeoutMs)}`, {
    hint: 'Press Enter to try again, or Esc to go back.',
  });
}

/** The route at a question, with the earlier answer. */
function at(route: SetupRoute, step: SetupStep = stepWithId('review')): SetupRoute {
  const answered = route.answers[step.id];
  const initial = (): TextEdit =>
    answered === undefined && step.kind === 'text' ? defaultText(step.initial?.(route) ?? '') : textEdit(answered);
  const typing = step.kind === 'text' ? initial() : null;
  const next = { ...route, step: step.id, typing, busy: null, scrolledUp: 0, error: null };
  return step.kind === 'form' ? inField(next, route.form.field) : next;
}

function toggleSchema(model: Model, route: SetupRoute, name: string): void {
  const { leftOut } = route;
  const others = leftOut.filter((other) => other !== name);
  model.navigation.replace({ ...route, leftOut: others.length < leftOut.length ? others : [...leftOut, name] });
}

function end(model: Model, { answers }: SetupRoute, { build }: { build: boolean }): void {
  model.navigation.pop();
  if (build) void startBuild(model, { target: answers.target ?? '' });
}

async function findLater<Key extends 'engines' | 'project'>(
  { navigation }: Model,
  key: Key,
  finding: Promise<SetupFound[Key]>,
): Promise<void> {
  const found = await finding.catch(() => null);
  navigation.change((one) => (one.screen === 'setup' ? { ...one, found: { ...one.found, [key]: found } } : one));
}
