import { textEdit } from '../../components/text-edit.ts';
import { formatBytes } from '../../src/amounts.ts';
import { EXIT, toUserError, UserError } from '../../src/errors.ts';
import type { Tried } from '../../src/operations/set-up.ts';
import { type Model, quietly } from '../model.ts';
import type { SetupPlace } from '../place.ts';
import { refreshTargets } from '../refresh.ts';
import { SETUP_STEPS } from './steps.ts';

/** How long a server may take to answer. */
const PATIENCE_MS = 10_000;

export function setUp(model: Model): void {
  const answers = { file: 'tool.yml', target: 'app', source: '', destination: '' };
  const place: SetupPlace = {
    screen: 'setup',
    step: 0,
    answers,
    typing: textEdit(answers.file),
    tried: null,
    busy: false,
    preview: null,
    error: null,
  };
  model.navigation.push(place);
}

/** Enter: takes the answer, and goes on when nothing is wrong with it. */
export function answerStep(model: Model, place: SetupPlace): void {
  const step = SETUP_STEPS[place.step];
  const text = place.typing?.text.trim() ?? '';
  if (!step || place.busy) return;
  if (text === '' && !step.optional) {
    model.navigation.notify({ tone: 'caution', text: 'Something must be typed here' });
    return;
  }
  const answers = { ...place.answers, [step.answer]: text };
  const answered: SetupPlace = { ...place, answers, error: null, busy: true };
  model.navigation.replace(answered);
  void look(model, answered).then(
    (found) => ifStillThere(model, answered, () => goTo(model, { ...answered, ...found }, place.step + 1)),
    (thrown: unknown) =>
      ifStillThere(model, answered, () => fail(model, { ...answered, typing: place.typing }, toUserError(thrown))),
  );
}

/** Back by a question; before the first one nothing is left. */
export function backStep(model: Model, place: SetupPlace): void {
  if (place.step === 0) model.navigation.pop();
  else goTo(model, place, place.step - 1);
}

/** Writes what was shown. */
export function finish(model: Model, place: SetupPlace): void {
  if (place.busy) return;
  const writing = { ...place, busy: true };
  model.navigation.replace(writing);
  model.operations.writeSetUp(place.answers).then(
    ({ file }) => {
      ifStillThere(model, writing, () => model.navigation.pop());
      model.navigation.notify({ tone: 'good', text: `Wrote ${file}. Press b for the first snapshot` });
      void refreshTargets(model);
    },
    (thrown: unknown) => ifStillThere(model, writing, () => fail(model, writing, toUserError(thrown))),
  );
}

/** What there is to find out about an answer before the next question. */
async function look(model: Model, { step, answers }: SetupPlace): Promise<Partial<SetupPlace>> {
  const { operations } = model;
  switch (SETUP_STEPS[step]?.answer) {
    case 'source': {
      const tried = await operations.tryUrl(quietly(AbortSignal.timeout(PATIENCE_MS)), answers.source);
      if (tried.status !== 'ok') throw notThere(tried);
      return { tried: triedWords(tried) };
    }
    case 'destination':
      return { preview: await operations.previewSetUp(answers) };
    default:
      return {};
  }
}

function notThere({ display, status, error }: Tried): UserError {
  return new UserError(`${display}: ${error ?? status}`, {
    code: 'unreachable',
    exit: EXIT.unreachable,
    hint: 'Change the URL, or make the server answer and press Enter again. Esc goes back.',
  });
}

function triedWords({ display, server_version, size_bytes }: Tried): string {
  return `${display} answers: version ${server_version ?? 'unknown'}, ${formatBytes(size_bytes ?? 0)}`;
}

function goTo(model: Model, place: SetupPlace, step: number): void {
  const question = SETUP_STEPS[step];
  const typing = question ? textEdit(place.answers[question.answer]) : null;
  model.navigation.replace({ ...place, step, typing, busy: false, error: null });
}

function fail(model: Model, place: SetupPlace, error: UserError): void {
  model.navigation.replace({ ...place, busy: false, error });
}

/** Who has gone elsewhere meanwhile, or types another answer, is not called back. */
function ifStillThere(model: Model, place: SetupPlace, answer: () => void): void {
  if (model.navigation.top() === place) answer();
}
