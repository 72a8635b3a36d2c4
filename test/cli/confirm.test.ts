import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { confirm } from '../../src/cli/confirm.ts';
import { interrupted } from '../../src/runtime/errors.ts';
import { Sink } from '../helpers/terminal/cli-host.ts';
import { questionOf } from '../helpers/terminal/question.ts';

const question = questionOf({ facts: [{ name: 'Destination', value: 'app' }] });

function asking(
  answer: string | null,
  change: { typed?: string; assumeYes?: boolean; canAsk?: boolean; columns?: number } = {},
) {
  const input = new PassThrough();
  const output = new Sink();
  const { typed = null, ...rest } = change;
  const signal = new AbortController().signal;
  const hide = (text: string) => text;
  const asked = confirm(
    { ...question, typed },
    { assumeYes: false, canAsk: true, input, output, columns: null, signal, hide, ...rest },
  );
  if (answer === null) input.end();
  else input.write(`${answer}\n`);
  return { asked, output };
}

test.each(['y', 'Y', 'yes', ' y '])('the answer %j goes on', async (answer) => {
  const { asked, output } = asking(answer);
  await asked;
  expect(output.text).toBe(
    'Load snapshot 0\n  Destination  app\n  app will be replaced.\nReplace database "app"? [y/N] ',
  );
});

test.each(['', 'n', 'no', 'yep', 'app', null])('the answer %j is a no, and a refusal', async (answer) => {
  await expect(asking(answer).asked).rejects.toMatchObject({ code: 'not_confirmed', exit: 5 });
});

test('a plan is wrapped at blanks to the width of the terminal, below its values', async () => {
  const { asked, output } = asking('y', { columns: 20 });
  await asked;
  expect(output.text).toContain('\n  app will be\n  replaced.\n');
});

const APP = 'app';

test('a plain yes is rejected where a name must be typed', async () => {
  await expect(asking('y', { typed: APP }).asked).rejects.toMatchObject({ code: 'not_confirmed' });
  await expect(asking('App', { typed: APP }).asked).rejects.toMatchObject({ code: 'not_confirmed' });
  await expect(asking('app', { typed: APP }).asked).resolves.toBeUndefined();
});

test('--yes skips the question', async () => {
  const { asked, output } = asking(null, { assumeYes: true, canAsk: false, typed: APP });
  await asked;
  expect(output.text).toBe('');
});

test('the answer is no without a terminal, with a hint about --yes', async () => {
  await expect(asking('y', { canAsk: false }).asked).rejects.toMatchObject({
    exit: 5,
    hint: expect.stringContaining('--yes'),
  });
});

test('an interrupt ends the question with its own reason', async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const asked = confirm(question, {
    assumeYes: false,
    canAsk: true,
    hide: (text) => text,
    input: new PassThrough(),
    output: new Sink(),
    columns: null,
    signal,
  });
  controller.abort(interrupted());
  await expect(asked).rejects.toMatchObject({ code: 'interrupted', exit: 130 });
});
