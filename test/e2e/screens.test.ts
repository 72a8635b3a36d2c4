import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { bundleScreens } from './screens-program.ts';
import { openTerminal, type TestTerminal } from './terminal.ts';

let folder: string;
let program: string;
const terminals: TestTerminal[] = [];
let opens = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'screens-'));
  program = await bundleScreens(folder);
});
afterEach(() => {
  for (const terminal of terminals.splice(0)) terminal.close();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe.each([
  [80, 24],
  [200, 50],
])('at %d×%d', (columns, rows) => {
  test('one filters, builds, loads, undoes nothing and leaves by keys alone', async () => {
    const terminal = open([], { columns, rows });
    await terminal.waitFor('unreachable');
    terminal.press('/', 'a', 'p', 'p');
    await terminal.waitFor('1 of 4 targets');
    terminal.press('enter');
    await terminal.waitFor((screen) => screen.includes('/ app') && screen.includes('1 of 4 targets'));
    terminal.press('b');
    await terminal.waitFor('Built snapshot 0 of app');
    terminal.press('esc');
    await terminal.waitFor('1 of 4 targets');
    terminal.press('enter');
    await terminal.waitFor(/3 snapshots|❯ snapshots of app ─+ 3,/);
    terminal.press('l');
    await terminal.waitFor('❯ Cancel');
    terminal.press('down');
    await terminal.waitFor('❯ Replace app_dev');
    terminal.press('enter');
    await terminal.waitFor('Loaded snapshot 0 of app (');
    terminal.press('esc');
    await terminal.waitFor(/3 snapshots|❯ snapshots of app ─+ 3,/);
    terminal.press('esc');
    await terminal.waitFor(/❯ targets ─+ 1 of 4 targets/);
    terminal.press('q');
    expect(await terminal.exited()).toMatchObject({ exitCode: 0 });
    await terminal.waitFor('Built snapshot 0 of app');
    await terminal.waitFor('Loaded snapshot 0 of app (');
    await expect.poll(() => terminal.modes()).toEqual(AS_BEFORE);
  });
});

test('a snapshot is sanitized, its coverage shown, and the query edited with the terminal handed over', async () => {
  const file = join(folder, 'query.sql');
  await writeFile(file, 'TRUNCATE login;\n');
  const editor = join(folder, 'editor.sh');
  await writeFile(editor, '#!/bin/sh\nprintf "editing "\nread -r word\nprintf "%s\\n" "$word" >> "$1"\n', {
    mode: 0o700,
  });
  const environment = { QUERY_FILE: file, EDITOR: editor, VISUAL: '' };
  const terminal = await opened(['sanitize'], { environment });
  terminal.press('enter');
  await terminal.waitFor('2 snapshots');
  terminal.press('s');
  await terminal.waitFor('❯ Cancel');
  terminal.press('down');
  await terminal.waitFor('❯ Sanitize');
  terminal.press('enter');
  await terminal.waitFor(/1 of \d+ personal[\s\S]*Sanitized snapshot 0 of app \(.*\) by 3 statements *│/);
  terminal.press('enter');
  await terminal.waitFor(
    /❯ public\.person +█+░+ 2\/3.*\n.* ✗ email +unchanged.*\n.*city +kept.*\n.*first_name +changed/,
  );
  terminal.press('j');
  await terminal.waitFor('a**@****.*******.***');
  terminal.press('e');
  await terminal.waitFor('editing');
  expect(terminal.modes()).toMatchObject({ alternateScreen: false, autowrap: true });
  terminal.press('-- looked', 'enter');
  await terminal.waitFor('press s to sanitize again');
  expect(await readFile(file, 'utf8')).toBe('TRUNCATE login;\n-- looked\n');
  expect(terminal.modes()).toMatchObject({ alternateScreen: true, autowrap: false });
  // Keys are the program's own again.
  terminal.press('j');
  await terminal.waitFor(/❯ +. city/);
  terminal.press('esc');
  await terminal.waitFor('Sanitized snapshot 0 of app');
  terminal.press('esc');
  await terminal.waitFor('2 snapshots');
  terminal.press('esc');
  await terminal.waitFor('4 targets');
  terminal.press('q');
  expect(await terminal.exited()).toMatchObject({ exitCode: 0 });
  await expect.poll(() => terminal.modes()).toEqual(AS_BEFORE);
});

describe('the terminal is restored', () => {
  test('after q', async () => {
    const terminal = await opened();
    expect(terminal.modes()).toMatchObject({ alternateScreen: true, cursorHidden: true, autowrap: false });
    terminal.press('q');
    await terminal.exited();
    await expect.poll(() => terminal.modes()).toEqual(AS_BEFORE);
  });

  test('after SIGTERM in the middle of work', async () => {
    const terminal = await opened(['slow']);
    terminal.press('b');
    await terminal.waitFor((screen) => /\d%/.test(screen));
    terminal.signal('SIGTERM');
    expect(await terminal.exited()).toMatchObject({ exitCode: 143 });
    await expect.poll(() => terminal.modes()).toEqual(AS_BEFORE);
    await terminal.waitFor('build app cancelled');
  });

  test('after Ctrl-C twice, which cancels the work', async () => {
    const terminal = await opened(['slow']);
    terminal.press('b');
    await terminal.waitFor((screen) => /\d%/.test(screen));
    terminal.press('ctrl+c');
    await terminal.waitFor('Press Ctrl-C again');
    terminal.press('ctrl+c');
    expect(await terminal.exited()).toMatchObject({ exitCode: 130 });
    await expect.poll(() => terminal.modes()).toEqual(AS_BEFORE);
  });

  test('after an uncaught error', async () => {
    const terminal = await opened(['crash']);
    terminal.press('x');
    expect((await terminal.exited()).exitCode).not.toBe(0);
    await terminal.waitFor('The screens have crashed: crashed');
    // The path may be cut by the edge.
    await terminal.waitFor((screen) => screen.replaceAll('\n', '').includes('crash.log'));
    await expect.poll(() => terminal.modes()).toEqual(AS_BEFORE);
  });
});

test('Ctrl-Z gives the terminal back, and fg draws the screen for the window as it is then', async () => {
  const terminal = openTerminal({
    command: ['bash', '--norc', '-i'],
    environment: { XDG_CACHE_HOME: join(folder, 'shell') },
  });
  terminals.push(terminal);
  terminal.press(`${process.execPath} ${program}`, 'enter');
  await terminal.waitFor('no datab');
  terminal.press('ctrl+z');
  await terminal.waitFor('Stopped');
  expect(terminal.modes()).toMatchObject({ ...AS_BEFORE, bracketedPaste: expect.any(Boolean) });
  terminal.resize(100, 30);
  terminal.press('fg', 'enter');
  const fresh = await opened([], { columns: 100, rows: 30 });
  await expectSame(terminal, fresh);
});

test('a burst of resizing ends in the screen of a fresh start', async () => {
  const terminal = await opened();
  for (const [columns, rows] of [
    [60, 20],
    [120, 12],
    [41, 40],
    [200, 11],
    [100, 30],
    [100, 36],
  ] as const) {
    for (const step of [3, 2, 1]) terminal.resize(columns + step * 7, rows + step);
    terminal.resize(columns, rows);
    const fresh = await opened([], { columns, rows });
    await expectSame(terminal, fresh);
  }
});

test('a server that never answers holds nothing up', async () => {
  const terminal = await opened(['silent']);
  await terminal.waitFor('○ checking');
  terminal.press('b');
  await terminal.waitFor('Built snapshot 0 of app');
  terminal.press('esc');
  await terminal.waitFor('5 targets');
  terminal.press('G');
  await terminal.waitFor('❯ silent');
  await terminal.waitFor('no answer within 10.0 s', 15_000);
});

test('a window under 40×10 says that it is too small, and comes back', async () => {
  const terminal = await opened();
  const fresh = await opened();
  terminal.resize(39, 12);
  await terminal.waitFor('too small');
  terminal.resize(80, 24);
  await expectSame(terminal, fresh);
});

interface Moved {
  world?: string;
  /** Keys that lead to the screen, each with what it shows. */
  open: [key: string, shown: string | RegExp][];
  move: string;
  moved: string | RegExp;
}

const TABLES: Moved['open'] = [
  ['enter', /❯ snapshots of app ─+ 2,/],
  ['right', /❯ tables[\s\S]*❯ {4}public\.orders /],
];

const SELECTED: Record<string, Moved> = {
  'the targets': { world: 'many', open: [['G', '❯ target-9999']], move: 'k', moved: '❯ target-9998' },
  'the snapshots': {
    world: 'long',
    open: [
      ['enter', /❯ snapshots of app ─+ 10,000, /],
      ['j', /❯ snapshot-1 /],
    ],
    move: 'j',
    moved: /❯ snapshot-2 /,
  },
  'the tables': { open: TABLES, move: 'j', moved: '❯    public.order_i' },
  'the rows of a table': { open: [...TABLES, ['enter', /❯ +1 /]], move: 'j', moved: /❯ +2 / },
  'the answers of a plan': {
    open: [
      ['enter', /❯ snapshots of app ─+ 2,/],
      ['l', '❯ Cancel'],
    ],
    move: 'down',
    moved: '❯ Replace',
  },
};

/** Each line changes; none is written longer than it is wide. */
const SCROLLED: Record<string, Moved> = {
  'the snapshots': {
    world: 'long',
    open: [
      ['enter', /❯ snapshots of app ─+ 10,000, /],
      ['G', /❯ snapshot-9999 /],
      ...Array(11).fill(['k', /./]),
      ['k', /❯ snapshot-9987 /],
    ],
    move: 'k',
    moved: /❯ snapshot-9986 /,
  },
  'the log of a run': {
    world: 'logged',
    open: [
      ['b', 'Built snapshot 0'],
      ['L', 'Log ─'],
    ],
    move: 'k',
    moved: '1 line above',
  },
};

async function writtenBy({ world = '', open: keys, move, moved }: Moved): Promise<string> {
  const terminal = await opened([world], { columns: 120, rows: 40 });
  for (const [key, shown] of keys) {
    terminal.press(key);
    await terminal.waitFor(shown);
  }
  const before = terminal.bytesWritten();
  terminal.press(move);
  await terminal.waitFor(moved);
  return Buffer.from(terminal.written())
    .subarray(before - terminal.bytesWritten())
    .toString();
}

const ESC = '\\x1b';
const FRAME = new RegExp(`${ESC}\\[\\?2026h[^]*?${ESC}\\[\\?2026l`, 'g');
const ERASURE = new RegExp(`${ESC}\\[\\d?J`);

test.each(Object.entries(SELECTED))(
  'a cursor move among %s writes less than 2 kB at 120×40, and does not flicker: whole frames, no erasure',
  async (_, moved) => {
    const text = await writtenBy(moved);
    expect(Buffer.byteLength(text)).toBeLessThan(2000);
    expect(text.replace(FRAME, '')).toBe('');
    expect(text).not.toMatch(ERASURE);
  },
);

test.each(Object.entries(SCROLLED))('scrolling %s by a line writes less than 6 kB at 120×40', async (_, moved) => {
  expect(Buffer.byteLength(await writtenBy(moved))).toBeLessThan(6000);
});

test('a screen reader gets words for states, in order, on the ordinary screen', async () => {
  const terminal = await opened([], { environment: { INK_SCREEN_READER: 'true' }, rows: 40 });
  await terminal.waitFor(/app +good: up/);
  await terminal.waitFor(/legacy +bad: unreachable/);
  expect(terminal.modes().alternateScreen).toBe(false);
  expect(terminal.screen()).not.toMatch(/[─█✓✗]/);
});

test('a light background has no cyan and no yellow, which are hardly legible', async () => {
  const CYAN_AND_YELLOW = [3, 6, 11, 14, 80, 221];
  const colours = async (environment: Record<string, string>) => {
    const terminal = await opened([], { environment });
    return terminal.cells().flatMap((line) => line.map(({ foreground }) => foreground));
  };
  const light = await colours({ COLORFGBG: '0;15' });
  expect(light.filter((colour) => CYAN_AND_YELLOW.includes(colour))).toEqual([]);
  const sixteen = await colours({ COLORFGBG: '0;15', TERM: 'xterm' });
  expect(sixteen.filter((colour) => CYAN_AND_YELLOW.includes(colour) || colour > 15)).toEqual([]);
  expect(await colours({})).toContain(80);
  expect(await colours({ TERM: 'xterm' })).toContain(6);
});

test('a terminal that reports a light background gets its colours, and the answer is no key', async () => {
  const terminal = await opened();
  const backgrounds = () => terminal.cells().flatMap((line) => line.map(({ background }) => background));
  const dark = new Set(backgrounds());
  const before = terminal.screen();
  terminal.press('\x1b]11;rgb:ffff/ffff/ff', 'ff\x1b\\\x1b[?62;22c');
  await expect.poll(() => backgrounds().filter((background) => background !== -1 && dark.has(background))).toEqual([]);
  expect(terminal.screen()).toBe(before);
});

test('keys typed before the first frame, which the terminal echoes, do not move it', async () => {
  const terminal = open();
  terminal.press('j', 'j');
  await terminal.waitFor('no datab');
  expect(terminal.screen()).toMatch(/^╭─ tool ❯ targets ─.*\n│ {2}TARGET .*\n│. app .*\n│. billing .*\n│. legacy /);
});

test('keys that arrive together act as if typed one by one', async () => {
  const terminal = await opened();
  terminal.press('jjk');
  await terminal.waitFor('❯ billing');
  terminal.press('gl');
  terminal.press('enter', 'l', 'down', 'enter');
  await terminal.waitFor('Loaded snapshot 0 of app');
});

test('colours are left out with NO_COLOR, bold and reverse stay, and marks beyond ASCII where they cannot be shown', async () => {
  const terminal = await opened(['ascii'], { environment: { NO_COLOR: '1' } });
  expect(terminal.screen().replace(/[漢字🚀データ]/gu, '')).toMatch(/^[\x20-\x7e\n]*$/);
  expect(terminal.screen()).toContain('> app');
  const cells = () => terminal.cells().flat();
  expect(cells().every(({ foreground, background }) => foreground === -1 && background === -1)).toBe(true);
  expect(cells().some(({ bold }) => bold)).toBe(true);
  const isReversed = (row: number) => terminal.cells()[row]?.filter(({ inverse }) => inverse).length;
  // The selected row within the panel; of the text that is typed the cursor.
  expect([isReversed(1), isReversed(2), isReversed(3)]).toEqual([0, 78, 0]);
  terminal.press('/');
  await expect.poll(() => isReversed(1)).toBe(1);
});

const AS_BEFORE = { alternateScreen: false, cursorHidden: false, autowrap: true, bracketedPaste: false };

function open(words: string[] = [], options: Partial<Parameters<typeof openTerminal>[0]> = {}): TestTerminal {
  // Each knows nothing of what another has found.
  const environment = { XDG_CACHE_HOME: join(folder, `cache-${opens++}`), ...options.environment };
  const terminal = openTerminal({
    command: [process.execPath, program, ...words],
    ...options,
    environment,
  });
  terminals.push(terminal);
  return terminal;
}

/** Both as a person sees them once they have come to rest. */
async function expectSame(terminal: TestTerminal, fresh: TestTerminal): Promise<void> {
  await expect.poll(() => terminal.screen().split('\n'), { timeout: 10_000 }).toEqual(fresh.screen().split('\n'));
}

/** Open, with all the checks done that will ever be. */
async function opened(words: string[] = [], options: Partial<Parameters<typeof openTerminal>[0]> = {}) {
  const terminal = open(words, options);
  await terminal.waitFor('no datab');
  return terminal;
}
