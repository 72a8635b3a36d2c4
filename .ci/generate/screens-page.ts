import { EVERYWHERE, keyName } from '../../screens/app/keys.ts';
import type { KeyBinding, ScreenModule } from '../../screens/app/model.ts';
import { SCREENS } from '../../screens/app/screens.ts';
import { COMMAND_IDS, type CommandId, KEY_COMMANDS } from '../../src/config/schema/default-keys.ts';
import { markdownTable } from './markdown-table.ts';

/** docs/screens.md: the commands with their keys, and pictures of some screens with the keys that only these have. */
export function screensReference(pictured: string[]): string {
  return [
    INTRODUCTION,
    '## Commands',
    COMMANDS_TEXT,
    markdownTable([['command', 'key', 'what it does'], ...COMMAND_IDS.map(commandLine)]),
    '## Moving',
    table([...withoutParts([...shared().values()]), ...EVERYWHERE.map(({ keys, help }) => ({ keys: [keys], help }))]),
    ...Object.entries<ScreenModule>(SCREENS).flatMap(([id, screen]) =>
      pictured.includes(id) ? section(id, screen) : [],
    ),
    '## Themes',
    '`theme` in the configuration, or `TOOL_THEME`:',
    markdownTable([['theme', 'colours'], ...THEMES]),
    'Terminals with few colours (`COLORTERM`, `TERM`) have sixteen, and none with `NO_COLOR`.',
    '## Limits',
    markdownTable([['limit', 'behaviour'], ...LIMITS]),
  ]
    .join('\n\n')
    .concat('\n');
}

const INTRODUCTION = `# The screens

<!-- Generated from screens by .ci/generate/screens-page.ts: npm run generate -->

Look up the keys and pictures of the screens.

\`\`\`sh
tool demo   # open the screens on a temporary database with sample data
\`\`\`

\`tool\` in a terminal opens the list of targets, \`tool target TARGET\` the snapshots of one. Without a configuration it asks
the questions of \`tool config init\`. [Commands](commands.md) do the same.

The safe answer comes first; the name of a database on another machine must be typed.

From 120 columns lists stand side by side.

Runs continue when their screen is left, one after the other on one target.`;

const COMMANDS_TEXT = `Commands share a key only where no screen has both. \`keys\` in the configuration replaces keys by the id of their command:

\`\`\`yaml
keys:
  build: Z
  palette: ctrl+p
\`\`\`

A key is one character, or \`ctrl+\` and a letter. Commands
that replace or remove data show their plan and ask first.`;

const LIMITS: [string, string][] = [
  ['size', 'at least 40×10 cells; everything is visible from 80×24'],
  ['locale that is not UTF-8', 'ASCII'],
  ['`INK_SCREEN_READER=true`', 'text in reading order on the ordinary screen, states as words'],
  ['list of targets', 'visible rows are checked every 15 seconds'],
  ['two runs that replace the same database', 'the second is refused until the first has ended'],
];

const THEMES: [string, string][] = [
  ['`auto`', 'by the background of the terminal (OSC 11), else `COLORFGBG`, else dark'],
  ['`dark`, `light`', '256 colours'],
  ['`dark-16`, `light-16`', 'sixteen colours'],
  ['`mono`', 'none'],
];

function commandLine(id: CommandId): [string, string, string] {
  const { keys, does } = KEY_COMMANDS[id];
  return [`\`${id}\``, keys.map(code).join(' '), does];
}

type SharedKey = Pick<KeyBinding, 'help'> & { keys: readonly string[] };

/** Keys without a command that mean the same on several screens. */
function shared(): Map<string, SharedKey> {
  const all = Object.values<ScreenModule>(SCREENS).flatMap(withoutCommand);
  const groups = Map.groupBy<string, SharedKey>(all, textOf);
  return new Map([...groups].flatMap(([text, [first, second]]) => (first && second ? [[text, first]] : [])));
}

/** Leaves out a line whose keys are a part of another one with the same meaning. */
function withoutParts(lines: SharedKey[]): SharedKey[] {
  return lines.filter(
    ({ keys, help }) =>
      !lines.some(
        (other) =>
          other.help === help && other.keys.length > keys.length && keys.every((key) => other.keys.includes(key)),
      ),
  );
}

function textOf({ keys, help }: SharedKey): string {
  return `${keys.join(' ')} ${help}`;
}

function withoutCommand({ keys }: ScreenModule): SharedKey[] {
  return keys.flatMap((binding) => (binding.id === undefined ? [binding] : []));
}

function section(id: string, screen: ScreenModule): string[] {
  const { title } = screen;
  const common = shared();
  // The way back is the same everywhere.
  const own = withoutCommand(screen).filter((key) => !common.has(textOf(key)) && !key.keys.includes('esc'));
  const content = [
    `![${title}](pictures/screens/${id}-80x24-dark.svg)`,
    ...(own.length > 0 ? [own.map((binding) => `- ${codes(binding)}: ${binding.help}`).join('\n')] : []),
  ];
  return [`## ${title}`, ...content];
}

function table(bindings: SharedKey[]): string {
  return markdownTable([['key', 'what it does'], ...bindings.map((binding) => [codes(binding), binding.help])]);
}

function codes({ keys }: SharedKey): string {
  return keys.map(code).join(' ');
}

function code(key: string): string {
  return `\`${keyName(key)}\``;
}
