import { markdownTable } from '../../src/markdown-table.ts';
import type { KeyBinding } from './key-binding.ts';
import { EVERYWHERE, KEY_TABLE, keyName } from './keys.ts';
import type { Screen } from './route.ts';

const TITLES: Record<Screen, string> = {
  targets: 'Targets',
  snapshots: 'Snapshots of a target',
  confirm: 'Confirmation',
  run: 'Work: steps, progress, log',
  coverage: 'Coverage of a sanitization',
  tasks: 'Tasks',
  messages: 'Messages',
  tables: 'Tables of a snapshot',
  diff: 'What changed between snapshots',
  doctor: 'Check of the configuration',
  fix: 'What mends a finding',
  setup: 'A first configuration',
  editor: 'Editing the configuration',
  'editor-diff': 'What saving would change',
  'editor-problems': 'Problems of the edited configuration',
  choice: 'A choice',
  export: 'Export to a file',
  'sign-in': 'Signing in',
  subset: 'Plan of a subset',
  note: 'Note',
  palette: 'Commands',
  trust: 'Trust in the configuration of this folder',
  cancel: 'Cancelling',
  quit: 'Leaving while work is going on',
  help: 'Help',
};

/** Of the screens that are worth a look: names of files in docs/pictures. */
const PICTURES: Partial<Record<Screen, string>> = {
  targets: 'targets',
  snapshots: 'snapshots',
  confirm: 'plan',
  run: 'run',
  coverage: 'coverage',
  doctor: 'check',
  setup: 'set-up',
  editor: 'editor',
  subset: 'subset',
  palette: 'palette',
};

/** docs/screens.md: the keys of every screen, out of the key table, with pictures of the main ones. */
export function screensReference(): string {
  return [
    '# The screens',
    '',
    '`tool` in a terminal opens the list of targets, `tool target TARGET` the snapshots of one; where there is no',
    'configuration, the questions for a first one, as `tool config init` does. Everything here can be done by a command',
    'as well: see [commands.md](commands.md).',
    '',
    'Questions are answered with the arrows and Enter. The safe answer comes first; a database that is not on this',
    'machine is replaced only when its name has been typed. While text is typed, keys are text: Enter accepts it, Esc',
    'leaves it.',
    '',
    'Work goes on when its screen is left; the line above the keys says how far it is, and later what came of it. Work',
    'on one target is done one after the other, in the order in which it was asked for; work on different targets goes',
    'on side by side. What would replace a database that other work is about to replace is refused until that has',
    'ended: only then can it be said what would be lost, and what undo would bring back.',
    '',
    'The screens need 40×10 cells; the whole of every screen is there from 80×24. They use the sixteen colours of the',
    'terminal (for a light background where `COLORFGBG` says so), none with `NO_COLOR`, and ASCII where the locale is',
    'not UTF-8. With `INK_SCREEN_READER=true` everything is said in order, states as words, on the ordinary screen.',
    ...(Object.keys(TITLES) as Screen[]).flatMap((screen) => [
      ...['', `## ${TITLES[screen]}`, ''],
      ...pictureOf(screen),
      table(rows(screen)),
    ]),
    '',
    '## Everywhere',
    '',
    table(EVERYWHERE.map(({ keys, help }) => [code(keys), help])),
    '',
  ].join('\n');
}

function pictureOf(screen: Screen): string[] {
  const name = PICTURES[screen];
  return name === undefined ? [] : [`![${TITLES[screen]}](pictures/${name}.png)`, ''];
}

function rows(screen: Screen): [string, string][] {
  return KEY_TABLE[screen].map(({ keys, help }: KeyBinding) => [keys.map(code).join(' '), help]);
}

function table(lines: [string, string][]): string {
  return markdownTable([['key', 'what it does'], ...lines]);
}

function code(key: string): string {
  return `\`${keyName(key)}\``;
}
