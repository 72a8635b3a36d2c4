import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import stringWidth from 'string-width';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { withKey } from '../helpers/terminal/config-folder.ts';
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

const SIZES = [
  [40, 10],
  [60, 20],
  [80, 24],
  [120, 40],
  [220, 60],
] as const;

/** The list of targets alone on its page, or the pane that has the keys. */
const targets = (count: number) => new RegExp(`${count} targets|─ ❯ targets ─+ ${count} ─`);
const SNAPSHOTS = /2 snapshots, 48\.1 MB local|❯ snapshots of app ─+ 2, 48\.1 MB ─/;

// The clock of the fake world stands still: nothing in a frame changes from run to run.
test.for(SIZES)('the screens at %d×%d equal the recorded frames', async ([columns, rows]) => {
  const { frames, frame, back } = open({ columns, rows, world: 'groups' });
  await frame('targets', (screen) => screen.includes('unreachable') && !screen.includes('○'));
  terminal.press('?');
  await frame('help', /(?:targets|…) ?(?:❯ help|…)/);
  await back(targets(6));
  terminal.press(':', 'build');
  await frame('palette', ' : build');
  await back(targets(6));
  terminal.press('Y');
  await frame('check', '1 error');
  await back(targets(6));
  terminal.press('x');
  await frame('subset', '❯ public.custom');
  await back(targets(6));
  terminal.press('I');
  await frame('sign in', 'You are signed in');
  await back(targets(6));
  terminal.press('U');
  await frame('points', 'before-migration');
  terminal.press('s');
  await frame('save name', 'leave empty to use the time');
  await back('before-migration');
  await back(targets(6));
  terminal.press('enter');
  await frame('snapshots', SNAPSHOTS);
  terminal.press('right');
  await terminal.waitFor(columns < 120 ? 'public.orders' : /❯ tables of[\s\S]*public\.orders/);
  terminal.press(' ', 'j', 'm');
  await frame('tables', '2 marked');
  terminal.press('l');
  await frame('rows or database', 'Only these rows');
  terminal.press('enter');
  await frame('confirm tables', '❯ Cancel');
  await back('2 marked');
  await back(SNAPSHOTS);
  terminal.press('l');
  await frame('confirm', '❯ Cancel');
  terminal.press('down', 'enter');
  await frame('run', 'Press u to undo');
  await back(SNAPSHOTS);
  await back(targets(6));
  terminal.press('V', 'enter');
  await frame('rehearsal', 'Failed: migration of app');
  await expect(frames.join('\n')).toMatchFileSnapshot(`frames/${columns}x${rows}.txt`);
});

const CONFIGURATION = withKey(`# ours
targets:
  漢字: # the shop
    snapshoot: { src_url: "postgres://app:hunter2@localhost:1/app" }
    subset:
      src_url: postgres://localhost:1/app
      copy_tables: [public.customer] # whole
`);

test.for(SIZES)('the editor and its fixes at %d×%d equal the recorded frames', async ([columns, rows]) => {
  const edited = join(folder, `edited-${columns}`);
  await mkdir(edited);
  await writeFile(join(edited, 'tool.yml'), CONFIGURATION, { mode: 0o600 });
  const { frames, frame, back } = open({ columns, rows, variables: { CONFIGURATION_FOLDER: edited } });
  await terminal.waitFor(targets(4));
  terminal.press('e');
  await terminal.waitFor('❯ general');
  terminal.press('enter');
  await frame('form', '❯ secret_key');
  await back((screen) => !screen.includes('❯ secret_key'));
  terminal.press('Y');
  await frame('problems', /❯ ✗ +unknown key/);
  terminal.press('enter');
  await terminal.waitFor('❯ snapshoot');
  await back((screen) => !screen.includes('❯ snapshoot'));
  terminal.press(...Array(10).fill('down'));
  await frame('tree', /❯ +copy_tables/);
  terminal.press('n');
  await frame('names', /1 name.*\n.*sales\.orders/);
  terminal.press('down', 'enter');
  await terminal.waitFor('1 change not saved');
  terminal.press('w');
  await frame('difference', '+       copy_tables');
  await back('1 change not saved');
  terminal.press('u');
  await terminal.waitFor((screen) => !screen.includes('not saved'));
  terminal.press('tab');
  await terminal.waitFor((screen) => /❯ +copy_tables/.test(screen) && !screen.includes('❯ 1 '));
  await back(targets(4));
  terminal.press('Y');
  await terminal.waitFor(/❯ ✗ +targets/);
  terminal.press('f');
  await frame('fix', columns === 40 ? /3 +targets:/ : /\+ +snapshot: /);
  // The length of the folder decides where its path ends and is cut.
  const shown = frames.join('\n').replaceAll(new RegExp(`${folder}.*`, 'g'), '/home/ada…');
  await expect(shown).toMatchFileSnapshot(`frames/edited-${columns}x${rows}.txt`);
});

test.for(SIZES)('queued runs at %d×%d equal the recorded frames', async ([columns, rows]) => {
  const { frames, frame, back } = open({ columns, rows, world: 'slow' });
  await terminal.waitFor('unreachable');
  terminal.press('b');
  await frame('running', 'Dump 25 tables');
  await back(targets(4));
  terminal.press('b');
  await frame('waiting', '○ Queued after');
  await back(targets(4));
  terminal.press('down', 'b');
  await terminal.waitFor((screen) => /(?:❯ billing|build bil)/.test(screen) && screen.includes('Dump 25 tables'));
  await back(targets(4));
  await frame('elsewhere', 'build app 36% and 1');
  terminal.press('t');
  await frame('activity', '3 entries, 2 running');
  terminal.press('j', 'c');
  await frame('taken out', '! cancelled');
  await back(targets(4));
  terminal.press('q');
  await frame('quit', '❯ Stay');
  await expect(frames.join('\n')).toMatchFileSnapshot(`frames/queue-${columns}x${rows}.txt`);
});

test.for([
  [40, 10],
  [80, 24],
] as const)('cloud targets of an unreachable hub at %d×%d equal the recorded frames', async ([columns, rows]) => {
  const { frames, frame } = open({ columns, rows, world: 'hub' });
  const checked = (screen: string) => screen.includes('data as of 04:03') && !screen.includes('○');
  await terminal.waitFor(checked);
  terminal.press('G');
  await frame('targets', (screen) => checked(screen) && screen.includes('❯ orders'));
  terminal.press('I');
  await frame('sign in', 'https://hub.example.com');
  await expect(frames.join('\n')).toMatchFileSnapshot(`frames/hub-${columns}x${rows}.txt`);
});

/** Panes beside the list have what they show: the count of snapshots comes before their size. */
function isRead(screen: string): boolean {
  return !/Listing snapshots…|Reading the tables|snapshots of \w+ ─+ \d+ ─/.test(screen);
}

type Wanted = string | RegExp | ((screen: string) => boolean);

interface Opened {
  columns: number;
  rows: number;
  world?: string;
  variables?: Record<string, string>;
}

function open({ columns, rows, world = '', variables = {} }: Opened) {
  const environment = { XDG_CACHE_HOME: join(folder, `${world}-${columns}`), TZ: 'UTC', ...variables };
  terminal = openTerminal({ command: [process.execPath, program, world], columns, rows, environment });
  const frames: string[] = [];
  return {
    frames,
    async frame(name: string, wanted: Wanted) {
      await terminal.waitFor(wanted);
      await terminal.waitFor(isRead);
      const lines = terminal.screen().split('\n');
      expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThanOrEqual(columns);
      frames.push(`${`=== ${name} `.padEnd(columns, '=')}\n${lines.join('\n')}\n`);
    },
    async back(wanted: Wanted) {
      terminal.press('esc');
      await terminal.waitFor(wanted);
    },
  };
}
