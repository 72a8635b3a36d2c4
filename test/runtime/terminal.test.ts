import { expect, test } from 'vitest';
import { isTrue, readTerminal } from '../../src/runtime/terminal.ts';

const tty = { isTTY: true, columns: 80 } as const;
const pipe = { isTTY: false, columns: 0 } as const;

function terminal(environment: NodeJS.ProcessEnv, streams: Partial<Parameters<typeof readTerminal>[0]> = {}) {
  return readTerminal({ stdin: tty, stdout: tty, stderr: tty, ...streams } as never, environment);
}

test('a person must be at both ends for screens, and at standard input and error for a question', () => {
  expect(terminal({})).toMatchObject({ noScreens: null, canAsk: true });
  expect(terminal({}, { stdout: pipe as never })).toMatchObject({
    noScreens: 'standard output is not a terminal',
    canAsk: true,
  });
  expect(terminal({}, { stdin: pipe as never })).toMatchObject({
    noScreens: 'standard input is not a terminal',
    canAsk: false,
  });
  expect(terminal({}, { stderr: pipe as never })).toMatchObject({ noScreens: null, canAsk: false });
});

test('CI and a dumb terminal get no screens', () => {
  expect(terminal({ CI: 'true' })).toMatchObject({ noScreens: 'CI=true is set', ci: true });
  expect(terminal({ CI: 'false' })).toMatchObject({ noScreens: null, ci: false });
  expect(terminal({ TERM: 'dumb' })).toMatchObject({ noScreens: 'TERM=dumb has no cursor movement' });
});

test.each([
  [{}, tty, true],
  [{}, pipe, false],
  [{ NO_COLOR: '1' }, tty, false],
  [{ NO_COLOR: '' }, tty, true],
  [{ TERM: 'dumb' }, tty, false],
  [{ FORCE_COLOR: '1' }, pipe, true],
  [{ FORCE_COLOR: '0' }, tty, false],
  [{ FORCE_COLOR: '1', NO_COLOR: '1' }, tty, true],
])('colour with %j on %j is %s', (environment, stdout, color) => {
  expect(terminal(environment, { stdout: stdout as never }).stdout.color).toBe(color);
});

test('the width is known on a terminal only, and follows it', () => {
  const stdout = { isTTY: true, columns: 80 };
  const { columns } = terminal({}, { stdout: stdout as never }).stdout;
  stdout.columns = 120;
  expect(columns()).toBe(120);
  expect(terminal({}, { stdout: pipe as never }).stdout.columns()).toBeNull();
});

test.each([
  [{ LANG: 'de_DE.UTF-8' }, true],
  [{ LANG: 'C.utf8' }, true],
  [{}, true],
  [{ LANG: 'C' }, false],
  [{ LC_ALL: 'POSIX', LANG: 'en_US.UTF-8' }, false],
  [{ TERM: 'linux' }, false],
])('glyphs beyond ASCII with %j: %s', (environment, unicode) => {
  expect(terminal(environment).unicode).toBe(unicode);
});

test('a switch is on for true, 1, yes and on', () => {
  expect(['true', 'TRUE', '1', 'yes', 'on'].map(isTrue)).toEqual([true, true, true, true, true]);
  expect(['false', '0', '', 'undefined', undefined].map(isTrue)).toEqual([false, false, false, false, false]);
});

test.each([
  [{ TERM: 'xterm' }, 16],
  [{ TERM: 'xterm-256color' }, 256],
  [{ TERM: 'xterm', COLORTERM: 'truecolor' }, 256],
  [{ TERM: 'xterm-kitty' }, 256],
  [{ TERM: 'xterm-256color', FORCE_COLOR: '1' }, 16],
  [{ TERM: 'xterm', FORCE_COLOR: '3' }, 256],
  [{ TERM: 'xterm-256color', NO_COLOR: '1' }, 0],
  [{ TERM: 'dumb', COLORTERM: 'truecolor' }, 0],
])('%j shows %i colours', (environment, colors) => {
  expect(terminal(environment)).toMatchObject({ colors });
});
