import { markdownTable } from '../../src/text/markdown-table.ts';
import { EVERYWHERE, keyName } from './keys.ts';
import type { ScreenModule } from './model.ts';
import { SCREENS } from './screens.ts';

/** docs/screens.md: the keys of every screen, with pictures of the main ones. */
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
    ...Object.values(SCREENS).flatMap(section),
    '',
    '## Everywhere',
    '',
    table(EVERYWHERE.map(({ keys, help }) => [code(keys), help])),
    '',
  ].join('\n');
}

function section({ title, picture, keys }: ScreenModule): string[] {
  const shown = picture === undefined ? [] : [`![${title}](pictures/${picture}.png)`, ''];
  return [
    '',
    `## ${title}`,
    '',
    ...shown,
    table(keys.map((binding) => [binding.keys.map(code).join(' '), binding.help])),
  ];
}

function table(lines: [string, string][]): string {
  return markdownTable([['key', 'what it does'], ...lines]);
}

function code(key: string): string {
  return `\`${keyName(key)}\``;
}
