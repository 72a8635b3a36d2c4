import { expect, test } from 'vitest';
import { operationRun } from '../../screens/commands/runs/runs.ts';
import { questionLines } from '../../src/cli/printers/question.ts';
import { loadQuestion } from '../../src/operations/load/text.ts';
import { removeQuestion } from '../../src/operations/remove/text.ts';
import { sanitizeQuestion } from '../../src/operations/sanitize/text.ts';
import { subsetQuestion } from '../../src/operations/subset/text.ts';
import { undoOperation } from '../../src/operations/undo/operation.ts';
import { undoQuestion } from '../../src/operations/undo/text.ts';
import type { Question } from '../../src/presentation/shapes/question.ts';
import { fakePlannedWork } from '../helpers/fakes/fake-planned-work.ts';
import { fakeWorld } from '../helpers/fakes/fake-world.ts';
import { screenText } from '../helpers/terminal/drawn-screen.tsx';
import { newModel } from '../helpers/terminal/driven-model.ts';

const world = fakeWorld();
const work = fakePlannedWork(world);
const session = { report: () => {}, signal: new AbortController().signal };
const now = new Date('2026-11-21T05:00:00Z');
const request = { target: 'app', snapshot: 'snapshot-0' };

const QUESTIONS: [string, () => Promise<Question>][] = [
  ['a load', async () => loadQuestion((await work.load.plan(session, request)).plan, now)],
  ['an undo', async () => undoQuestion((await work.undo.plan(session, request)).plan, now)],
  ['a removal', async () => removeQuestion((await work.rm.plan(session, request)).plan, now)],
  ['a sanitization', async () => sanitizeQuestion((await work.sanitize.plan(session, request)).plan, now)],
  ['a subset', async () => subsetQuestion((await work.subset.plan(session, { target: 'app' })).plan)],
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
  const sealed = await work.undo.plan(session, request);
  const definition = operationRun(model, undoOperation, { target: 'app', shown: sealed.plan, sealed });
  const plan = { question, definition };
  const asked = { plan, error: null, typing: null, controller: new AbortController(), retry: () => {} };
  model.navigation.push({ screen: 'confirm', target: 'app', title: 'plan', ...asked });
  // Wide enough to wrap nothing.
  return screenText(model, { columns: 300, rows: 60 });
}

function flat(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}
