import type { CommandSpec, Grammar, OptionSpec } from '../../src/cli/command.ts';
import { usageOf } from '../../src/cli/words.ts';
import { EXIT } from '../../src/runtime/errors.ts';
import { EXIT_MEANINGS } from './commands-page.ts';

/** The manual page tool(1), in the macros of man(7): https://man7.org/linux/man-pages/man7/man.7.html */
export function manPage({ commands, globalOptions, version }: Omit<Grammar, 'families'>): string {
  const groups = Map.groupBy(
    commands.filter(({ hidden }) => !hidden),
    ({ group }) => group,
  );
  return [
    '.\\" Generated from src/commands/registry.ts by .ci/generate/man-page.ts: npm run generate',
    `.TH TOOL 1 "" "tool ${version}" "User Commands"`,
    '.SH NAME',
    'tool \\- snapshot a PostgreSQL or MySQL database, make it safe and small, and restore it in seconds',
    '.SH SYNOPSIS',
    '.B tool',
    '.br',
    '.B tool',
    '.I command',
    '[\\fIarguments\\fR] [\\fIoptions\\fR]',
    '.SH DESCRIPTION',
    ...DESCRIPTION.map(text).join('\n.PP\n').split('\n'),
    '.SH OPTIONS',
    'Valid with every command, at any position of the command line.',
    ...globalOptions.flatMap(option),
    '.SH COMMANDS',
    ...[...groups].flatMap(([group, members]) => [`.SS ${text(group)}`, ...members.flatMap(command)]),
    '.SH EXIT STATUS',
    ...Object.entries(EXIT).flatMap(([name, code]) =>
      entry(`.B ${code}`, EXIT_MEANINGS[name as keyof typeof EXIT_MEANINGS]),
    ),
    '.SH ENVIRONMENT',
    'Every key of the configuration can also be set by a variable:',
    '.B TOOL_',
    'and the name of the key in capitals.',
    ...VARIABLES.flatMap(([name, meaning]) => entry(`.B ${name}`, meaning)),
    '.SH FILES',
    ...FILES.flatMap(([name, meaning]) => entry(`.I ${text(name)}`, meaning)),
    '.SH SEE ALSO',
    '.BR pg_dump (1),',
    '.BR psql (1),',
    '.BR mariadb\\-dump (1)',
  ]
    .join('\n')
    .concat('\n');
}

const DESCRIPTION = [
  'Without a command and on a terminal, tool opens its screens. Results go to standard output; progress, warnings, questions and errors to standard error.',
  'A command that replaces or removes data shows its plan and asks first. The default answer is no.',
];

const VARIABLES = [
  ['TOOL_NO_CONFIRM', 'With true, every question is answered with yes.'],
  ['NO_COLOR', 'With any value, no colour is used.'],
] as const;

const FILES = [
  ['./tool.yml', 'Configuration of this folder, once it is trusted.'],
  ['~/.config/tool/tool.yml', 'Configuration of this user.'],
  ['~/.tool', 'Working directory with the local snapshots, unless the configuration names another.'],
] as const;

function command(spec: CommandSpec): string[] {
  const { name, summary, arguments: args, options, examples } = spec;
  const words = usageOf(spec).map((word) =>
    text(word)
      .replace(/[^<>[\]]+/, '\\fI$&\\fR')
      .replaceAll(/[<>]/g, ''),
  );
  return [
    ...entry(
      [`\\fBtool ${text(name)}\\fR`, ...words].join(' '),
      `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    ),
    ...(options.length + args.length + examples.length > 0 ? ['.RS'] : []),
    ...args.flatMap(({ name: word, description }) => entry(`.I ${text(word)}`, description)),
    ...options.flatMap(option),
    ...examples.flatMap(({ command: line, does }) => ['.PP', `${text(does)}:`, '.RS', '.nf', text(line), '.fi', '.RE']),
    ...(options.length + args.length + examples.length > 0 ? ['.RE'] : []),
  ];
}

function option({ flags, description }: OptionSpec): string[] {
  return entry(
    text(flags)
      .replaceAll(/(^|, )(\S+?)(?=,|\s|$)/g, '$1\\fB$2\\fR')
      .replaceAll(/<(.+?)>/g, '\\fI$1\\fR'),
    description,
  );
}

function entry(tag: string, meaning: string): string[] {
  return ['.TP', tag, text(meaning)];
}

/** Escapes requests of roff, and hyphens, which flags need. */
function text(plain: string): string {
  return plain.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll(/^[.']/gm, '\\&$&');
}
