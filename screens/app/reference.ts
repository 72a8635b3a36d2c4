import { COMMAND_IDS, COMMANDS, type CommandId } from '../../src/config/schema/commands.ts';
import { markdownTable } from '../../src/text/markdown-table.ts';
import { EVERYWHERE, keyName } from './keys.ts';
import type { ScreenModule } from './model.ts';
import { SCREENS } from './screens.ts';

/** docs/screens.md: the keys of every screen, each with its picture. */
export function screensReference(): string {
  return [
    '# The screens',
    '',
    '`tool` in a terminal opens the list of targets, `tool target TARGET` the snapshots of one; where there is no',
    'configuration, the questions for a first one, as `tool config init` does. Everything here can be done by a command',
    'as well: see [commands.md](commands.md).',
    '',
    'Questions are answered with the arrows and Enter. The safe answer comes first; to replace a database on another',
    'machine, its name must be typed. While text is typed, keys are text: Enter applies it, Esc cancels it.',
    '',
    'Runs continue when their screen is left; the line above the keys shows their progress, and later their result. Runs',
    'on one target are executed one after the other, runs on different targets in parallel. A run that would replace a',
    'database which an earlier run is about to replace is refused until that has ended, since its plan depends on it.',
    '',
    'The list of targets shows the run of a target in place of its status, and checks the rows in view every 15 seconds,',
    'with the same limits of connections as a refresh.',
    '',
    'The status bar shows the last result or the run in progress, `READ-ONLY`, the configuration file in effect, the mode',
    'and the version.',
    '',
    'The screens need 40×10 cells; the whole of every screen is there from 80×24. They use ASCII where the locale is not',
    'UTF-8. With `INK_SCREEN_READER=true` everything is said in order, states as words, on the ordinary screen.',
    '',
    '## Themes',
    '',
    '`theme` in the configuration, or `TOOL_THEME`:',
    '',
    markdownTable([['theme', 'colours'], ...THEMES]),
    '',
    'Terminals with few colours (`COLORTERM`, `TERM`) get sixteen in any case, and none with `NO_COLOR`; bold and reverse',
    'remain. The first frame does not wait for the answer of the terminal.',
    '',
    '## Keys',
    '',
    'One key means one thing on every screen. `keys` in the configuration replaces keys by the id of their command; Enter,',
    'arrows, Esc and the like stay. The key bar, the help (`?`) and the list of commands (`:`) show the keys in effect. A',
    'key is one character, or `ctrl+` and a letter; two commands cannot have the same key.',
    '',
    '```yaml',
    'keys:',
    '  build: Z',
    '  palette: ctrl+p',
    '```',
    '',
    markdownTable([['command', 'key', 'what it does'], ...COMMAND_IDS.map(commandLine)]),
    ...Object.values(SCREENS).flatMap(section),
    '',
    '## Everywhere',
    '',
    table(EVERYWHERE.map(({ keys, help }) => [code(keys), help])),
    '',
  ].join('\n');
}

const THEMES: [string, string][] = [
  ['`auto`', 'those for the background that the terminal reports (OSC 11), else `COLORFGBG`, else dark'],
  ['`dark`, `light`', '256 colours'],
  ['`dark-16`, `light-16`', 'the sixteen colours of the terminal'],
  ['`mono`', 'none: bold and reverse'],
];

function commandLine(id: CommandId): [string, string, string] {
  const { keys, does } = COMMANDS[id];
  return [`\`${id}\``, keys.map(code).join(' '), does];
}

function section({ id, title, keys }: ScreenModule): string[] {
  return [
    '',
    `## ${title}`,
    '',
    `![${title}](pictures/screens/${id}-80x24-dark.svg)`,
    '',
    table(keys.map((binding) => [binding.keys.map(code).join(' '), binding.help])),
  ];
}

function table(lines: [string, string][]): string {
  return markdownTable([['key', 'what it does'], ...lines]);
}

function code(key: string): string {
  return `\`${keyName(key)}\``;
}
