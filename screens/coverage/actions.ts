import { emptyList } from '../../src/state/list.ts';
import { factsOf } from '../app/facts.ts';
import { type Model, quietly } from '../app/model.ts';
import { notifyFailure } from '../app/notify-failure.ts';
import { ask } from '../confirm/actions.ts';

/** Of the selected snapshot, or of the one whose coverage is shown: with the query as it is now. */
export function askSanitize(model: Model): void {
  const { target, snapshot, run } = factsOf(model);
  const original = snapshot ?? run?.receipt?.sanitized?.original;
  if (!target || !original) return;
  const request = { target: target.row.name, snapshot: original.sanitized_of ?? original.id };
  ask(model, {
    target: request.target,
    title: `sanitize snapshot ${original.index}`,
    plan: async (signal, allowed) => ({
      kind: 'sanitize',
      planned: await model.operations.planSanitize(quietly(signal), { ...request, ...allowed }),
    }),
  });
}

export function showCoverage(model: Model): void {
  const { run } = factsOf(model);
  if (run) model.navigation.push({ screen: 'coverage', run: run.id, list: emptyList });
}

/** Hands the terminal to the user's editor. */
export async function editQuery(model: Model): Promise<void> {
  const file = factsOf(model).run?.receipt?.sanitized?.queryFile;
  if (!file) return;
  try {
    await model.terminal.edit(file);
    model.navigation.notify({ tone: 'plain', text: `${file}: s sanitizes again` });
  } catch (thrown) {
    notifyFailure(model, thrown);
  }
}
