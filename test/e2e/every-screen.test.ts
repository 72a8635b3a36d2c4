import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { ScreenId } from '../../screens/app/route.ts';
import { SCREENS } from '../../screens/app/screens.ts';
import { withKey } from '../helpers/terminal/config-folder.ts';
import { bundleScreens } from './screens-program.ts';
import { openTerminal, type TestTerminal } from './terminal.ts';

let folder: string;
let program: string;
let terminal: TestTerminal | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'every-screen-'));
  program = await bundleScreens(folder);
});
afterEach(() => terminal?.close());
afterAll(() => rm(folder, { recursive: true, force: true }));

const CONFIGURATION = withKey(`targets:
  shop: # ours
    snapshoot: { src_url: postgres://localhost:1/app }
  stock:
    snapshot: { dst_url: not a url }
`);

interface Step {
  keys: string[];
  /** What is on the screen then, and not on the one before. */
  shows: string | RegExp;
  /** The screen that is read aloud then; without one the step only leads on. */
  screen?: ScreenId;
}

const back = (shows: string | RegExp): Step => ({ keys: ['esc'], shows });
/** Alone on its page, or the pane that has the keys. */
const TARGETS = /tool > targets [ -]+\d targets|- > targets -+ \d -/;
const SNAPSHOTS = /tool > app [ -]+(2 marked +)?2 snapshots, \d|> snapshots of app -+ (2 marked|2, 48)/;
const TABLES = /tool > app > snapshot-0[\s\S]*public\.order_it|> tables of snapshot-0[\s\S]*public\.order_it/;

/** The worlds of the fixture, and the keys that lead through all screens. */
const WALKS: Record<string, Step[]> = {
  'groups sanitize branches': [
    { keys: [], shows: 'unreachable', screen: 'targets' },
    { keys: ['?'], shows: '> help', screen: 'help' },
    back(TARGETS),
    { keys: [':', 'build'], shows: ' : build', screen: 'palette' },
    back(TARGETS),
    { keys: ['x'], shows: '> public.customer ', screen: 'subset' },
    { keys: ['O'], shows: /tool > .*> diagram/, screen: 'subset-graph' },
    back('Enter create'),
    back(TARGETS),
    { keys: ['D'], shows: 'public.order_items', screen: 'changes' },
    back(TARGETS),
    { keys: ['I'], shows: 'You are signed in', screen: 'sign-in' },
    back(TARGETS),
    { keys: ['t'], shows: '0 entries' },
    back(TARGETS),
    { keys: ['enter'], shows: SNAPSHOTS, screen: 'snapshots' },
    { keys: ['y'], shows: '> copy', screen: 'choice' },
    back(SNAPSHOTS),
    { keys: ['e'], shows: 'Note:', screen: 'field' },
    back(SNAPSHOTS),
    { keys: ['X'], shows: '.zip' },
    back(SNAPSHOTS),
    { keys: ['enter'], shows: TABLES, screen: 'tables' },
    { keys: ['enter'], shows: /Rows 1[–-]4 of/, screen: 'rows' },
    back(TABLES),
    back(SNAPSHOTS),
    { keys: ['m', 'j', 'm'], shows: '2 marked' },
    { keys: ['C'], shows: 'public.drafts', screen: 'diff' },
    { keys: ['enter'], shows: 'numeric', screen: 'table-diff' },
    back('public.drafts'),
    back(SNAPSHOTS),
    { keys: ['B'], shows: 'LAST USED', screen: 'branches' },
    { keys: ['n'], shows: 'Name:', screen: 'branch-name' },
    back('LAST USED'),
    { keys: ['U'], shows: 'POINT ', screen: 'points' },
    { keys: ['s'], shows: 'leave empty to use the time' },
    back('POINT '),
    back('LAST USED'),
    back(SNAPSHOTS),
    { keys: ['&'], shows: /PORT +SNAPSHOT/, screen: 'servers' },
    back(SNAPSHOTS),
    { keys: ['l'], shows: /> +Cancel/, screen: 'confirm' },
    { keys: ['down', 'enter'], shows: 'Press u to undo', screen: 'run' },
    back(SNAPSHOTS),
    { keys: ['s'], shows: /> +Cancel/ },
    { keys: ['down', 'enter'], shows: 'SAFE created' },
    { keys: ['enter'], shows: '> coverage', screen: 'coverage' },
    { keys: ['J'], shows: /> +Cancel/ },
    { keys: ['down', 'enter'], shows: '5 of 5 open', screen: 'ledger' },
    back('> coverage'),
    { keys: ['f'], shows: /columns replaced[\s\S]*tried on/, screen: 'suggestion' },
    { keys: ['w'], shows: 'app.sanitize.sql', screen: 'save-query' },
    back('V try'),
    back('> coverage'),
    back('SAFE created'),
    { keys: ['t'], shows: '3 entries', screen: 'activity' },
    back('SAFE created'),
    back(SNAPSHOTS),
    back(TARGETS),
    { keys: ['V'], shows: 'the steps of after_load' },
    { keys: ['enter'], shows: 'Failed: migration of app', screen: 'rehearsal' },
  ],
  configured: [
    { keys: [], shows: 'unreachable' },
    { keys: ['Y'], shows: 'Did you mean', screen: 'check' },
    { keys: ['f'], shows: '+     snapshot', screen: 'fix' },
    back('Did you mean'),
    back(TARGETS),
    { keys: ['e'], shows: '> general', screen: 'editor' },
    { keys: ['Y'], shows: '> problems', screen: 'editor-problems' },
    back('> general'),
    { keys: ['enter', 'd'], shows: 'not saved' },
    { keys: ['w'], shows: 'Enter save', screen: 'editor-diff' },
  ],
  slow: [
    { keys: [], shows: 'unreachable' },
    { keys: ['b'], shows: 'Dump 25 tables' },
    { keys: ['c'], shows: 'Cancel the run' },
    back('L log'),
    back(TARGETS),
    { keys: ['q'], shows: /> +Stay/, screen: 'quit' },
  ],
  hub: [
    { keys: [], shows: 'up ' },
    { keys: ['G'], shows: '> orders' },
  ],
  unconfigured: [{ keys: [], shows: /step 1(?! of)[\s\S]*PostgreSQL: (?!looking)/, screen: 'setup' }],
  untrusted: [{ keys: [], shows: '> trust', screen: 'trust' }],
};

test('the walks lead through every screen', () => {
  const walked = Object.values(WALKS).flatMap((steps) => steps.flatMap(({ screen }) => screen ?? []));
  expect(walked.toSorted()).toEqual(Object.keys(SCREENS).toSorted());
});

/** Read aloud, a frame arrives line by line; its keys are the last. */
function isOn(text: string, shows: string | RegExp): boolean {
  const isComplete = /(?:Esc [^\n]+|help|quit)$/.test(text.trimEnd());
  return isComplete && (typeof shows === 'string' ? text.includes(shows) : shows.test(text));
}

/** The text of each screen. */
async function walk(
  size: { columns: number; rows: number },
  variables: Record<string, string> = {},
  words: string[] = [],
) {
  const texts = new Map<string, string>();
  for (const [world, steps] of Object.entries(WALKS)) {
    const place = await mkdtemp(join(folder, 'walk-'));
    await writeFile(join(place, 'query.sql'), 'TRUNCATE login;\n');
    await writeFile(join(place, 'tool.yml'), CONFIGURATION, { mode: 0o600 });
    const environment = {
      ...{ XDG_CACHE_HOME: place, QUERY_FILE: join(place, 'query.sql'), TZ: 'UTC', ...variables },
      ...(world === 'configured' && { CONFIGURATION_FOLDER: place }),
    };
    const command: [string, ...string[]] = [process.execPath, program, ...world.split(' '), ...words];
    terminal = openTerminal({ command, ...size, environment });
    for (const { keys, shows, screen } of steps) {
      terminal.press(...keys);
      await terminal.waitFor((text) => isOn(text, shows));
      if (screen) texts.set(screen, terminal.screen().replaceAll(place, '/home/ada'));
    }
    terminal.close();
  }
  return texts;
}

/** Lines of a box, bars and sparklines. */
const DECORATION = /[\u2500-\u259f]/;
/** Of this machine, with their versions. */
const PROGRAMS = /^.*(?:postgres-local|mysql-local|keychain|PostgreSQL: pg_dump|MySQL, MariaDB:).*\n/gm;

test('a screen reader reads every fact of every screen once, in order, without decoration', async () => {
  const texts = await walk({ columns: 100, rows: 70 }, { INK_SCREEN_READER: 'true' });
  const spoken = [...texts].map(([screen, text]) => {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    expect(text).not.toMatch(DECORATION);
    expect(lines).toEqual([...new Set(lines)]);
    return `${[`=== ${screen}`, ...lines].join('\n').replace(PROGRAMS, '')}\n`;
  });
  await expect(spoken.join('\n')).toMatchFileSnapshot('frames/spoken.txt');
});

test('screens of an ASCII terminal contain no other characters except in data', async () => {
  const texts = await walk({ columns: 120, rows: 40 }, {}, ['ascii']);
  for (const [screen, text] of texts) {
    expect(text.replace(/[漢字🚀データ]/gu, ''), screen).toMatch(/^[\x20-\x7e\n]*$/);
  }
});
