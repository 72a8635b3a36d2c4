import { textEdit } from '../../components/text-edit.ts';
import { formatDuration } from '../../src/amounts.ts';
import { EXIT, interrupted, toUserError, UserError } from '../../src/errors.ts';
import { type Model, quietly } from '../app/model.ts';
import { runPlace } from '../app/place.ts';
import { refreshTargetsAnew } from '../app/refresh.ts';
import { buildWork } from '../run/work.ts';
import { LOOKS, planned } from './look.ts';
import type { SetupFound, SetupPlace } from './setup-place.ts';
import type { SetupStep } from './step.ts';
import { GO_ON, SETUP_STEPS, stepsOf, stepWithId } from './steps.ts';

/** How long a server or a bucket may take to answer. */
const PATIENCE_MS = 20_000;

export function setUp(model: Model): void {
  const place: SetupPlace = {
    screen: 'setup',
    step: SETUP_STEPS[0]?.id ?? 'target',
    config: model.config,
    answers: {},
    leftOut: [],
    found: {
      engines: null,
      databases: [],
      source: null,
      destination: null,
      cliProfiles: [],
      storage: null,
      plan: null,
    },
    typing: null,
    busy: null,
    scrolledUp: 0,
    error: null,
  };
  model.navigation.push(at(place, stepsOf(place)[0]));
  void lookForEngines(model);
}

/** Enter in a field: takes what was typed, and goes on when nothing is wrong with it. */
export function answerTyped(model: Model, place: SetupPlace): void {
  const step = stepWithId(place.step);
  const text = place.typing?.text.trim() ?? '';
  if (step.kind !== 'text') return;
  if (text === '' && !step.optional) {
    model.navigation.notify({ tone: 'caution', text: 'Something must be typed here' });
    return;
  }
  goOn(model, { ...place, answers: { ...place.answers, [step.id]: text } });
}

/** Takes what was chosen. */
export function answerChosen(model: Model, value: string): void {
  const place = model.navigation.top();
  if (place.screen !== 'setup' || place.busy) return;
  if (place.step === 'done') end(model, place, { build: value === 'build' });
  else if (place.step === 'schemas' && value !== GO_ON) toggleSchema(model, place, value);
  else if (place.step === 'schemas' && place.leftOut.length === place.found.source?.schemas.length) {
    model.navigation.notify({ tone: 'caution', text: 'A snapshot needs one schema at least' });
  } else goOn(model, { ...place, answers: { ...place.answers, [place.step]: value } });
}

/** Enter below the file: writes what is shown. */
export function finish(model: Model, place: SetupPlace): void {
  const { plan } = place.found;
  if (stepWithId(place.step).kind !== 'review' || place.busy || !plan) return;
  whileBusy(model, place, async () => {
    await model.operations.writeSetUp(plan);
    void refreshTargetsAnew(model);
    return at(place, stepWithId('done'));
  });
}

/** Back by a question; before the first one nothing is left. What is being tried is given up. */
export function backStep(model: Model, place: SetupPlace): void {
  const { busy, typing, step } = place;
  if (busy) {
    busy.abort(interrupted());
    model.navigation.replace(at(place, stepWithId(step)));
    return;
  }
  const steps = stepsOf(place);
  const before = steps[steps.findIndex(({ id }) => id === step) - 1];
  if (step === 'done') end(model, place, { build: false });
  else if (!before) model.navigation.pop();
  else {
    const answers = typing ? { ...place.answers, [step]: typing.text } : place.answers;
    model.navigation.replace(at({ ...place, answers }, before));
  }
}

/** Finds out what there is to find out, and asks what comes next. */
function goOn(model: Model, place: SetupPlace): void {
  whileBusy(model, place, async (signal) => {
    const { operations } = model;
    const session = quietly(signal);
    const found = await LOOKS[place.step]?.({ operations, session, place });
    const looked = { ...place, found: { ...place.found, ...found } };
    const answered = found?.source ? { ...looked, leftOut: [] } : looked;
    const steps = stepsOf(answered);
    const next = steps[steps.findIndex(({ id }) => id === place.step) + 1];
    if (next?.kind !== 'review') return at(answered, next);
    const file = await planned({ operations, session, place: answered });
    return at({ ...answered, found: { ...answered.found, ...file } }, next);
  });
}

/** While something is tried no key is taken but Esc; who has gone away is not called back. */
function whileBusy(model: Model, place: SetupPlace, work: (signal: AbortSignal) => Promise<SetupPlace>): void {
  const controller = new AbortController();
  const timeout = AbortSignal.timeout(PATIENCE_MS);
  model.navigation.replace({ ...place, typing: null, busy: controller, error: null });
  const answer = (after: SetupPlace): void =>
    model.navigation.change((one) =>
      one.screen === 'setup' && one.busy === controller
        ? { ...after, found: { ...after.found, engines: one.found.engines } }
        : one,
    );
  work(AbortSignal.any([controller.signal, timeout])).then(answer, (thrown: unknown) => {
    const error = timeout.aborted ? noAnswer() : toUserError(thrown);
    answer({ ...at(place, stepWithId(place.step)), error });
  });
}

function noAnswer(): UserError {
  return new UserError(`No answer within ${formatDuration(PATIENCE_MS)}`, {
    code: 'unreachable',
    exit: EXIT.unreachable,
    hint: 'Press Enter to try again, or Esc to go back.',
  });
}

/** The place at a question, with what was answered to it before. */
function at(place: SetupPlace, step: SetupStep = stepWithId('review')): SetupPlace {
  const written = step.kind === 'text' ? (place.answers[step.id] ?? step.initial?.(place) ?? '') : null;
  const typing = written === null ? null : textEdit(written);
  return { ...place, step: step.id, typing, busy: null, scrolledUp: 0, error: null };
}

function toggleSchema(model: Model, place: SetupPlace, name: string): void {
  const { leftOut } = place;
  const others = leftOut.filter((other) => other !== name);
  model.navigation.replace({ ...place, leftOut: others.length < leftOut.length ? others : [...leftOut, name] });
}

/** Leaves the wizard for the targets, or for the first snapshot of the new one. */
function end(model: Model, { answers }: SetupPlace, { build }: { build: boolean }): void {
  const { navigation, runs } = model;
  const target = answers.target ?? '';
  if (build) navigation.replace(runPlace(runs.begin(buildWork(model, target))));
  else navigation.pop();
}

async function lookForEngines({ operations, navigation }: Model): Promise<void> {
  const engines: SetupFound['engines'] = await operations
    .findEngines(quietly(AbortSignal.timeout(PATIENCE_MS)))
    .catch(() => null);
  navigation.change((one) => (one.screen === 'setup' ? { ...one, found: { ...one.found, engines } } : one));
}
