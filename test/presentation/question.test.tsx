import { expect, test } from 'vitest';
import { undoRun } from '../../screens/run/definitions.ts';
import { questionLines } from '../../src/cli/printers/question.ts';
import { loadQuestion, undoQuestion } from '../../src/presentation/load.ts';
import { removeQuestion } from '../../src/presentation/remove.ts';
import { sanitizeQuestion } from '../../src/presentation/sanitize.ts';
import type { Question } from '../../src/presentation/shapes/question.ts';
import { subsetQuestion } from '../../src/presentation/subset.ts';
import { screenText } from '../helpers/drawn-screen.tsx';
import { newModel } from '../helpers/driven-model.ts';
import { fakeOperations } from '../helpers/fake-operations.ts';
import { fakeWorld } from '../helpers/fake-world.ts';

const world = fakeWorld();
const operations = fakeOperations(world);
const session = { report: () => {}, signal: new AbortController().signal };
const now = new Date('2026-11-21T05:00:00Z');
const request = { target: 'app', snapshot: 'snapshot-0' };

const QUESTIONS: [string, () => Promise<Question>][] = [
  ['a load', async () => loadQuestion((await operations.planLoad(session, request)).plan, now)],
  ['an undo', async () => undoQuestion((await operations.planUndo(session, request)).plan, now)],
  ['a removal', async () => removeQuestion((await operations.planRemove(session, request)).plan, now)],
  ['a sanitization', async () => sanitizeQuestion((await operations.planSanitize(session, request)).plan, now)],
  ['a subset', async () => subsetQuestion((await operations.planSubset(session, { target: 'app' })).plan)],
];

test.each(QUESTIONS)('the command line and the screen say the same of %s', async (_, make) => {
  const question = await make();
  const lines = questionLines(question);
  const shown = flat(await drawn(question));
  expect(lines[0]).toBe(question.title);
  for (const { name, value, brief = value } of question.facts) {
    expect(lines.join('\n')).toContain(value);
    if (brief === '') continue;
    expect(shown).toContain(name);
    expect(shown).toContain(flat(brief));
  }
  for (const text of [...question.steps, ...question.warnings, question.consequence]) {
    expect(lines.join('\n')).toContain(text);
    expect(shown).toContain(flat(text));
  }
  expect(shown).toContain(flat(question.go));
});

async function drawn(question: Question): Promise<string> {
  const model = newModel(world);
  const plan = { question, definition: undoRun(model, await operations.planUndo(session, request)) };
  const asked = { plan, error: null, typing: null, controller: new AbortController(), retry: () => {} };
  model.navigation.push({ screen: 'confirm', target: 'app', title: 'plan', ...asked });
  // Wide enough to wrap nothing.
  return screenText(model, { columns: 300, rows: 60 });
}

function flat(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}
