import { interrupted } from '../../src/runtime/errors.ts';
import type { ScreenNotice } from '../../src/state/navigation.ts';
import { RUN_NOTES } from '../app/frame/run-text.ts';
import type { Model } from '../app/model.ts';

const TWICE_WITHIN_MS = 2000;

/** Leaves at once without live runs, else asks. */
export function quit(model: Model): void {
  if (model.runs.live().length === 0) model.terminal.quit();
  else model.navigation.push({ screen: 'quit' });
}

export type QuitAnswer = 'stay' | 'wait' | 'cancel';

export function answerQuit(model: Model, answer: QuitAnswer): void {
  model.navigation.pop();
  if (answer === 'stay') return;
  if (answer === 'cancel') model.runs.cancelAll();
  const text = answer === 'wait' ? RUN_NOTES.waitingToQuit : RUN_NOTES.cancellingToQuit;
  model.navigation.notify({ tone: 'caution', text });
  void model.runs.settled().then(() => model.terminal.quit());
}

/** Ctrl-C: cancels the run in progress; a second one soon after leaves. */
export function interrupt(model: Model): void {
  const { navigation, runs, interrupts } = model;
  const now = model.clock().getTime();
  const again = interrupts.last !== null && now - interrupts.last < TWICE_WITHIN_MS;
  interrupts.last = now;
  if (again) {
    runs.cancelAll();
    void runs.settled().then(() => model.terminal.quit());
    return;
  }
  const route = navigation.top();
  const live = runs.live();
  const shown = 'run' in route ? live.find(({ id }) => id === route.run) : undefined;
  const run = shown ?? live.findLast(({ state }) => state.status === 'running');
  if (run) runs.cancel(run.id, interrupted());
  const text = run ? `Cancelling: ${run.title}. ${RUN_NOTES.ctrlC}` : RUN_NOTES.ctrlC;
  const notice: ScreenNotice = { tone: 'caution', text };
  navigation.notify(notice);
  // From then on, a second one does not leave.
  setTimeout(() => navigation.withdraw(notice), TWICE_WITHIN_MS).unref();
}
