import type { ArgumentSpec, CommandSpec, Grammar, OptionSpec } from '../../src/cli/command.ts';
import { usageOf } from '../../src/cli/words.ts';
import { EXIT } from '../../src/runtime/errors.ts';
import { markdownTable } from './markdown-table.ts';

/** docs/commands.md: commands from the registry, general rules from below. */
export function commandReference({ commands, globalOptions }: Pick<Grammar, 'commands' | 'globalOptions'>): string {
  const listed = commands.filter(({ hidden }) => !hidden);
  const groups = Map.groupBy(listed, ({ group }) => group);
  const shared = sharedBy(listed);
  return [
    INTRODUCTION,
    '## Flags of every command',
    'Valid at any position of the command line.',
    globalOptions.map(optionLine).join('\n'),
    '## Flags of several commands',
    'Each command below names its flags of this list. Commands with `--json` here print one document, others events.',
    [...shared.options.values()].map(optionLine).join('\n'),
    ...[...groups].flatMap(([group, members]) => [
      `## ${group}`,
      ...members.flatMap((spec) => commandSection(spec, shared)),
    ]),
    '## Exit codes',
    exitTable(),
    JSON_RULES,
  ]
    .join('\n\n')
    .concat('\n');
}

interface SharedDescriptions {
  /** Flags with the same meaning in several commands. */
  options: Map<string, OptionSpec>;
  /** Descriptions of arguments of at least two commands, which the introduction explains. */
  arguments: Set<string>;
}

function sharedBy(commands: readonly CommandSpec[]): SharedDescriptions {
  const options = Map.groupBy(
    commands.flatMap((command) => command.options),
    textOf,
  );
  const descriptions = commands.flatMap((command) => command.arguments.map(({ description }) => description));
  return {
    options: new Map([...options].flatMap(([text, [first, second]]) => (first && second ? [[text, first]] : []))),
    arguments: new Set(descriptions.filter((text, index) => descriptions.indexOf(text) < index)),
  };
}

function textOf({ flags, description }: OptionSpec): string {
  return `${flags} ${description}`;
}

const INTRODUCTION = `# The command line

<!-- Generated from src/commands/registry.ts by .ci/generate/commands-page.ts: npm run generate -->

Look up a command, its flags and exit codes.

\`\`\`sh
tool build --help   # the flags and examples of a command
\`\`\`

\`tool\` alone opens the [screens](screens.md) in a terminal; elsewhere it prints why not, and the help.
\`--no-tui\`, \`--json\` and \`CI=true\` turn off screens and live views.

Results go to standard output; progress, warnings, questions and errors to standard error. \`NO_COLOR\`, \`FORCE_COLOR\` and
the terminal decide on colour. Passwords, tokens and keys are never shown.

A command that replaces or removes data shows its plan and asks first. The default answer is no: without a terminal and
without \`--yes\`, \`TOOL_NO_CONFIRM=true\` or \`CI=true\` it exits with 5 and changes nothing. The name of a database on
another machine must be typed.

Ctrl-C stops the command, removes partial work and leaves databases unchanged; a second one within two seconds ends the
program at once.

A \`target\` is a name in the configuration; where it is optional, all are meant. Without [cloud mode](cloud.md) the only
target may be left out: \`tool load 1\`. A \`snapshot\` is an index (0 is the newest and the default), \`latest\`, or an id
or its beginning. The \`name\` after a target is that of a branch.

Where a command takes a snapshot, the target can select it, also in the list of commands on the screens (\`:\`):

| selector       | snapshot                               |
| -------------- | -------------------------------------- |
| \`app\`          | the newest                             |
| \`app@main\`     | the newest built on this git branch    |
| \`app#v2.4\`     | the newest with this tag               |
| \`app+20260102\` | the newest with this migration applied |
| \`app:8c41f2ab\` | the one with this id, or index         |`;

const JSON_RULES = `## JSON

Field names are snake_case, sizes are bytes, durations milliseconds, times ISO 8601 in UTC. A reading command prints one
document; after an error, also of the command line, it is
\`{"error":{"code":"…","message":"…","hint":"…","exit":4}}\`.

A changing command prints one event per line:

\`\`\`json
{"event":"step","step":"dump","state":"started","label":"Dump 25 tables"}
{"event":"progress","step":"dump","done":12,"total":40,"unit":"bytes","current":"public.orders"}
{"event":"warning","code":"schema_not_found","message":"…"}
{"event":"done","command":"build","duration_ms":4100,"snapshot":{"index":0,"id":"…"}}
\`\`\`

- The last line is \`done\`, or \`{"event":"error","code":"…","message":"…","hint":"…","exit":4}\`, which may carry
  \`details\`, a list of lines. [errors.md](errors.md) lists the codes.
- \`state\` is \`started\`, \`done\` or \`skipped\`; \`unit\` is \`tables\`, \`bytes\`, \`rows\`, \`layers\` (of an image) or
  \`targets\`; an unknown \`total\` is \`null\`.
- For rows of a subset, \`bytes\` is their size and \`"of_current":{"done":3,"total":9,"bytes":210}\` the progress in \`current\`.
- With \`--dry-run\`, \`done\` carries \`"dry_run":true\` and the \`plan\`.
- With \`--debug\` there are \`{"event":"command","command":"…"}\` and
  \`{"event":"command_ended","command":"…","exit":0,"duration_ms":1200}\`.

With \`--tables\`, plan and result of \`load\` carry \`selection\`, otherwise \`null\`. \`why\` is \`reference\` (\`needed_by\`
references the table) or \`part\` (it is a partition or child of \`needed_by\`):

\`\`\`json
{
  "chosen": ["public.orders"],
  "needed": [{ "table": "public.customer", "needed_by": "public.orders", "why": "reference" }],
  "empty": ["public.log"]
}
\`\`\`

### Stability

\`assets/events.schema.json\` is the JSON Schema: its root describes a line,
\`#/$defs/document.NAME\` the document of a command. Scripts can rely on the following:

- A key is never removed or renamed, keeps type and meaning, and never becomes \`null\` or absent where it was not.
- Exit codes and the codes of errors and warnings keep their meaning.

A later version may add keys, events, documents, steps, codes and values of an enumeration: ignore unknown ones. Labels,
messages and hints may change.`;

export const EXIT_MEANINGS: Record<keyof typeof EXIT, string> = {
  done: 'done; warnings are allowed',
  failed: 'the operation failed',
  usage: 'wrong usage: unknown command, flag, target or snapshot',
  configuration: 'the configuration is missing or invalid',
  unreachable: 'a database, bucket, identity provider or hub is unreachable or refuses the credentials',
  refused: 'refused for safety: no confirmation was given, or a guard stopped it',
  interrupted: 'interrupted by Ctrl-C',
  terminated: 'interrupted by SIGTERM or SIGHUP',
};

function exitTable(): string {
  const rows = Object.entries(EXIT).map(([name, code]) => [String(code), EXIT_MEANINGS[name as keyof typeof EXIT]]);
  return markdownTable([['exit', 'meaning'], ...rows]);
}

/** The help of the command has all. */
const MOST_EXAMPLES = 3;

function commandSection(spec: CommandSpec, shared: SharedDescriptions): string[] {
  const { name, summary, arguments: args, options, json } = spec;
  const examples = spec.examples.slice(0, MOST_EXAMPLES);
  const { true: others = [], false: own = [] } = Object.groupBy(options, (option) =>
    shared.options.has(textOf(option)) ? 'true' : 'false',
  );
  const names = [
    ...others.map(({ flags }) => `\`${flags.split(' <')[0]}\``),
    ...(json === 'document' ? ['`--json`'] : []),
  ];
  const facts = [
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    ...(names.length > 0 ? [`Also: ${names.join(', ')}.`] : []),
  ];
  const items = args.filter(({ description }) => !shared.arguments.has(description));
  return [
    `### \`tool ${[name, ...usageOf(spec)].join(' ')}\``,
    facts.join(' '),
    ...(items.length + own.length > 0 ? [[...items.map(argumentLine), ...own.map(optionLine)].join('\n')] : []),
    `\`\`\`sh\n${examples.map(({ command, does }) => `${command}   # ${does}`).join('\n')}\n\`\`\``,
  ];
}

function argumentLine({ name, description, choices }: ArgumentSpec): string {
  return `- \`${name}\`: ${[description, choices?.join(', ')].filter(Boolean).join(': ')}`;
}

function optionLine({ flags, description }: OptionSpec): string {
  return `- \`${flags}\`: ${description}`;
}
