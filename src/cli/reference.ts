import { EXIT } from '../runtime/errors.ts';
import { markdownTable } from '../text/markdown-table.ts';
import type { CommandSpec, Grammar, OptionSpec } from './command.ts';

/** docs/commands.md: commands from the registry, general rules from below. */
export function commandReference({ commands, globalOptions }: Pick<Grammar, 'commands' | 'globalOptions'>): string {
  const listed = commands.filter(({ hidden }) => !hidden);
  const groups = Map.groupBy(listed, ({ group }) => group);
  return [
    INTRODUCTION,
    '## Flags of every command',
    'Valid at any position of the command line.',
    optionTable(globalOptions),
    ...[...groups].flatMap(([group, members]) => [`## ${group}`, ...members.flatMap(commandSection)]),
    '## Exit codes',
    exitTable(),
    JSON_RULES,
  ]
    .join('\n\n')
    .concat('\n');
}

const INTRODUCTION = `# The command line

<!-- Generated from src/commands/registry.ts by src/cli/reference.ts: npm run generate -->

\`tool\` alone opens the terminal screens when standard input and output are a terminal. Otherwise it prints the help and
exits with 2. There are no screens and no live view with \`--no-tui\`, with \`--json\` or with \`CI=true\`.

Results go to standard output; progress, warnings, questions and errors to standard error. Colour follows \`NO_COLOR\`,
\`FORCE_COLOR\` and the terminal. Passwords, tokens and keys are never shown; URLs are shown without their password.

A command that replaces or removes data shows its plan and asks first. The default answer is no: without a terminal and
without \`--yes\`, \`TOOL_NO_CONFIRM=true\` or \`CI=true\` the command ends with 5 and changes nothing. For a database on
another machine, its name must be typed.

In a terminal, a command without its required target or snapshot offers a list: the arrows and typed words choose, Enter
selects, Esc cancels the command (exit 130). There is no list with \`--json\`, \`--no-tui\`, \`--yes\` or \`CI=true\`.

Ctrl-C stops the command, removes partial work and leaves databases unchanged; a second one within two seconds ends the
program at once.`;

const JSON_RULES = `## JSON

With \`--json\` standard output carries JSON only. Field names are snake_case, sizes are bytes, durations milliseconds,
times ISO 8601 in UTC.

A reading command prints one document; after an error, the document is
\`{"error":{"code":"…","message":"…","hint":"…","exit":4}}\`, also for an invalid command line.

A changing command prints one event per line:

\`\`\`json
{"event":"step","step":"dump","state":"started","label":"Dump 25 tables"}
{"event":"progress","step":"dump","done":12,"total":40,"unit":"bytes","current":"public.orders"}
{"event":"warning","code":"schema_not_found","message":"…"}
{"event":"done","command":"build","duration_ms":4100,"snapshot":{"index":0,"id":"…"}}
\`\`\`

The last line is \`done\`, or \`{"event":"error","code":"…","message":"…","hint":"…","exit":4}\`. \`state\` is \`started\`, \`done\`
or \`skipped\`; \`unit\` is \`tables\`, \`bytes\`, \`rows\`, \`layers\` (of an image) or \`targets\`; \`total\`
is \`null\` when it is unknown. For copied rows (\`subset\`) \`bytes\` is their size, and
\`"of_current":{"done":3,"total":9,"bytes":210}\` is the progress of the table in \`current\`. An error may carry
\`details\`, a list of lines. With \`--dry-run\` the event \`done\` carries \`"dry_run":true\` and the \`plan\`. With \`--debug\`
there are also events \`{"event":"command","command":"…"}\`, and after its end
\`{"event":"command_ended","command":"…","exit":0,"duration_ms":1200}\`. The codes are listed in [errors.md](errors.md).

With \`--tables\` the plan and the result of \`load\` carry \`selection\`, which is otherwise \`null\`. \`why\` is \`reference\`
(\`needed_by\` references the table) or \`part\` (it is a partition of \`needed_by\`, or inherits from it):

\`\`\`json
{
  "chosen": ["public.orders"],
  "needed": [{ "table": "public.customer", "needed_by": "public.orders", "why": "reference" }],
  "empty": ["public.log"]
}
\`\`\`

### Stability

\`tool schema events\` prints the JSON Schema of every event and document (\`assets/events.schema.json\`): its root describes
a line, \`#/$defs/document.NAME\` the document of a command. Scripts can rely on the following:

- A key is never removed or renamed, never gets another type or meaning, and never becomes \`null\` or absent where it was not.
- Exit codes and the codes of errors and warnings keep their meaning.
- The last line of a changing command is \`done\` or \`error\`.

A later version may add keys, events, documents, steps, warnings, error codes and values of an enumeration (such as
\`unit\`): ignore what is unknown. Labels, messages and hints are for people and may change at any time.

### Results

The document of \`config show\`: \`origin.kind\` is \`file\`, \`variable\` or \`default\`, and inapplicable fields are \`null\`.

\`\`\`json
{
  "file": "…",
  "shadowed": null,
  "mode": "local",
  "values": [
    {
      "key": "targets.app.cpus",
      "path": ["targets", "app", "cpus"],
      "value": 4,
      "origin": { "kind": "file", "file": "…", "line": 14, "variable": null }
    }
  ],
  "problems": []
}
\`\`\``;

export const EXIT_MEANINGS: Record<keyof typeof EXIT, string> = {
  done: 'done; warnings are allowed',
  failed: 'the operation failed',
  usage: 'wrong usage: unknown command, flag, target or snapshot',
  configuration: 'the configuration is missing or invalid',
  unreachable: 'a database, bucket, identity provider or cloud endpoint cannot be reached or refuses the credentials',
  refused: 'refused for safety: no confirmation was given, or a guard stopped it',
  interrupted: 'interrupted by Ctrl-C',
  terminated: 'interrupted by SIGTERM or SIGHUP',
};

function exitTable(): string {
  const rows = Object.entries(EXIT).map(([name, code]) => [String(code), EXIT_MEANINGS[name as keyof typeof EXIT]]);
  return markdownTable([['exit', 'meaning'], ...rows]);
}

function commandSection(spec: CommandSpec): string[] {
  const { name, summary, arguments: args, options, examples, json } = spec;
  const words = args.map((argument) => (argument.required ? `<${argument.name}>` : `[${argument.name}]`));
  const prints = json === 'document' ? 'a document' : 'events';
  return [
    `### \`tool ${[name, ...words].join(' ')}\``,
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}. With \`--json\`: ${prints}.`,
    ...(args.length > 0 ? [argumentTable(spec)] : []),
    ...(options.length > 0 ? [optionTable(options)] : []),
    `\`\`\`sh\n${examples.map(({ command, does }) => `${command}   # ${does}`).join('\n')}\n\`\`\``,
  ];
}

function argumentTable({ arguments: args }: CommandSpec): string {
  const rows = args.map(({ name, description, choices }) => [
    name,
    [description, choices?.join(', ')].filter(Boolean).join(': '),
  ]);
  return markdownTable([['argument', 'meaning'], ...rows]);
}

function optionTable(options: readonly OptionSpec[]): string {
  return markdownTable([
    ['flag', 'meaning'],
    ...options.map(({ flags, description }) => [`\`${flags}\``, description]),
  ]);
}
