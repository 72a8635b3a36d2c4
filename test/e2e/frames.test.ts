import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import stringWidth from 'string-width';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { bundleScreens } from './screens-program.ts';
import { openTerminal, type TestTerminal } from './terminal.ts';

let folder: string;
let program: string;
let terminal: TestTerminal;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'frames-'));
  program = await bundleScreens(folder);
});
afterEach(() => terminal.close());
afterAll(() => rm(folder, { recursive: true, force: true }));

// The clock of the fake world stands still: nothing in a frame changes from run to run.
test.for([
  [60, 20],
  [80, 24],
  [120, 40],
  [220, 60],
] as const)('the screens at %d×%d are what they were', async ([columns, rows]) => {
  const environment = { XDG_CACHE_HOME: join(folder, `${columns}`), TZ: 'UTC' };
  terminal = openTerminal({ command: [process.execPath, program], columns, rows, environment });
  const frames: string[] = [];
  const frame = async (name: string, wanted: string | RegExp | ((screen: string) => boolean)) => {
    await terminal.waitFor(wanted);
    const lines = terminal.screen().split('\n');
    expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThanOrEqual(columns);
    frames.push(`${`=== ${name} `.padEnd(columns, '=')}\n${lines.join('\n')}\n`);
  };
  const back = async (wanted: string) => {
    terminal.press('esc');
    await terminal.waitFor(wanted);
  };

  await frame('targets', (screen) => screen.includes('no datab') && !screen.includes('○'));
  terminal.press('?');
  await frame('help', 'targets ❯ help');
  await back('4 targets');
  terminal.press(':', 'build');
  await frame('palette', ': build');
  await back('4 targets');
  terminal.press('enter');
  await frame('snapshots', /tool ❯ app +2 snapshots/);
  terminal.press('right');
  await terminal.waitFor('public.orders');
  terminal.press(' ', 'j', 'm');
  await frame('tables', '2 marked');
  terminal.press('l');
  await frame('confirm tables', 'Come along');
  await back('2 marked');
  await back('2 snapshots');
  terminal.press('l');
  await frame('confirm', '❯ Leave app_dev as it is');
  terminal.press('down', 'enter');
  await frame('run', 'Loaded snapshot 0');
  await expect(frames.join('\n')).toMatchFileSnapshot(`frames/${columns}x${rows}.txt`);
});
