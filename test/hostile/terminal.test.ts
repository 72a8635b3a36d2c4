import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import type { Host } from '../../src/cli/host.ts';
import { EXIT, UserError } from '../../src/runtime/errors.ts';
import { ATTENDED, command, runWith } from '../helpers/terminal/cli-host.ts';
import { questionOf } from '../helpers/terminal/question.ts';

/** Clears the screen, sets the title, turns the order of the text, hides what follows (C0, C1, bidirectional). */
const HOSTILE = 'a\x1b[2J\x1b]0;owned\x07b\x9b8m\u202Ec\rd\x7f\x1b[8me';
const COLOURED = {
  ...ATTENDED,
  stdout: { ...ATTENDED.stdout, color: true },
  stderr: { ...ATTENDED.stderr, color: true },
};
// biome-ignore lint/suspicious/noControlCharactersInRegex: the program's own colours and the line that it clears
const DRAWING = /\x1b\[(?:1|2|22|31|32|33|36|39)m|\r\x1b\[K/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
const STEERING = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

interface Case extends Partial<Host> {
  failing?: boolean;
}

const working = command(async ({ report, confirm }) => {
  report({ event: 'step', step: 'dump', state: 'started', label: `Dump ${HOSTILE}` });
  report({ event: 'command', command: `pg_dump ${HOSTILE}` });
  report({ event: 'progress', step: 'dump', done: 1, total: 2, unit: 'tables', current: HOSTILE });
  report({ event: 'warning', code: 'odd', message: HOSTILE });
  report({ event: 'sign_in', provider: HOSTILE, url: `https://idp/${HOSTILE}`, user_code: HOSTILE });
  report({ event: 'step', step: 'dump', state: 'done', label: `Dumped ${HOSTILE}` });
  await confirm(questionOf({ title: `Replace ${HOSTILE}`, ask: `Replace ${HOSTILE}?` }));
  return { data: { name: HOSTILE }, text: `name\t${HOSTILE}` };
});

const failing = command(async () => {
  throw new UserError('unexpected', `Cannot read ${HOSTILE}`, {
    hint: HOSTILE,
    details: [`FATAL: ${HOSTILE}\nLINE 2: ${HOSTILE}`],
  });
});

test.each([
  ['a piped run', ['work', '--debug', '--yes'], {}],
  ['a live run in colour', ['work', '--debug'], { terminal: COLOURED }],
  ['a run with JSON events', ['work', '--debug', '--yes', '--json'], {}],
  ['a failure in colour', ['work', '--debug'], { terminal: COLOURED, failing: true }],
  ['a failure with JSON events', ['work', '--json'], { failing: true }],
])(
  '%s writes no control or bidirectional character of a server',
  async (_, words, { failing: fails, ...change }: Case) => {
    const answers = new PassThrough();
    answers.end('y\n');
    const { exit, stdout, stderr } = await runWith(words, [fails ? failing : working], { stdin: answers, ...change });
    expect(exit).toBe(fails ? EXIT.failed : EXIT.done);
    const written = (stdout + stderr).replaceAll(DRAWING, '');
    expect(written).toContain('owned');
    expect(written).not.toMatch(STEERING);
    expect(stdout + stderr).not.toContain('\x1b[8m');
  },
);
