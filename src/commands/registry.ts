import type { ArgumentSpec, CommandSpec, OptionSpec } from './command.ts';

const TARGET: ArgumentSpec = {
  name: 'target',
  description: 'name of a target in the configuration',
  required: true,
  complete: 'target',
};

const SNAPSHOT: ArgumentSpec = {
  name: 'snapshot',
  description: 'index (0 is the newest) or id of a snapshot; default 0',
  required: false,
  complete: 'snapshot',
};

const CPUS: OptionSpec = {
  flags: '--cpus <n>',
  description: "parallel workers; default: the target's cpus, defaults.cpus, or half the cores",
  value: 'count',
};

const DRY_RUN: OptionSpec = { flags: '--dry-run', description: 'print the plan, change nothing' };

const ORIGINAL: OptionSpec = {
  flags: '--original',
  description: 'take the original where a sanitized snapshot would be taken',
};

const PLACES: OptionSpec[] = [
  { flags: '--local', description: 'on this machine only' },
  { flags: '--remote', description: 'in the bucket only' },
];

/** Every command that works, in the order of the help. */
export const COMMANDS: CommandSpec[] = [
  {
    name: 'build',
    summary: "take a snapshot of a target's source database",
    group: 'Snapshots',
    arguments: [TARGET],
    options: [
      { flags: '--note <text>', description: 'a note to keep with the snapshot' },
      { flags: '--no-push', description: "leave it on this machine, whatever the target's storage_profile" },
      CPUS,
    ],
    examples: [
      { command: 'tool build app', does: 'a snapshot of the source of target "app"' },
      { command: 'tool build app --note "before the migration"', does: 'the same, with a note' },
    ],
    json: 'events',
    writes: true,
    load: () => import('./build.ts'),
  },
  {
    name: 'load',
    summary: "restore a snapshot, or run an SQL file, into a target's destination database",
    group: 'Snapshots',
    arguments: [
      TARGET,
      {
        name: 'snapshot',
        description: 'index (0 is the newest) or id of a snapshot, or the path of an .sql file; default 0',
        required: false,
        complete: 'snapshot or file',
      },
    ],
    options: [
      { flags: '--destdb <url>', description: 'destination that wins over every configured one' },
      DRY_RUN,
      { flags: '--no-undo', description: 'keep no copy of the database that is replaced' },
      {
        flags: '--in-place',
        description: 'restore inside the destination, in one transaction; needs no second database',
      },
      ORIGINAL,
      { flags: '--no-drop', description: 'with a file: run it on the database as it is' },
      { flags: '--source', description: 'with a file: run it on the source database' },
      CPUS,
    ],
    examples: [
      { command: 'tool load app', does: 'the newest snapshot into the destination of "app"' },
      { command: 'tool load app 2 --dry-run', does: 'what loading the third newest would do' },
      { command: 'tool load app fixtures.sql --no-drop', does: 'an SQL file on the destination as it is' },
    ],
    json: 'events',
    writes: true,
    load: () => import('./load.ts'),
  },
  {
    name: 'push',
    summary: 'copy a snapshot to the bucket of its storage profile, only what is lacking there',
    group: 'Snapshots',
    arguments: [TARGET, SNAPSHOT],
    options: [ORIGINAL],
    examples: [
      { command: 'tool push app', does: 'the newest snapshot of "app"; again after an interruption, the rest' },
    ],
    json: 'events',
    writes: true,
    load: () => import('./push.ts'),
  },
  {
    name: 'pull',
    summary: 'copy a snapshot from the bucket to this machine, only what is lacking here',
    group: 'Snapshots',
    arguments: [TARGET, SNAPSHOT],
    options: [ORIGINAL],
    examples: [{ command: 'tool pull app 2', does: 'the third newest snapshot of "app"; load pulls by itself' }],
    json: 'events',
    writes: true,
    load: () => import('./pull.ts'),
  },
  {
    name: 'undo',
    summary: 'put the database that the last load replaced back',
    group: 'Snapshots',
    arguments: [TARGET],
    options: [{ flags: '--destdb <url>', description: 'the destination that was loaded with --destdb' }, DRY_RUN],
    examples: [{ command: 'tool undo app', does: 'the destination of "app" as it was before the last load' }],
    json: 'events',
    writes: true,
    load: () => import('./undo.ts'),
  },
  {
    name: 'diff',
    summary: 'what changed between two snapshots, or between a snapshot and the destination as it is now',
    group: 'Snapshots',
    arguments: [
      TARGET,
      { name: 'a', description: 'index or id of a snapshot', required: true, complete: 'snapshot' },
      {
        name: 'b',
        description: 'index or id of another one; default: the destination, compared by the rows of its tables',
        required: false,
        complete: 'snapshot',
      },
    ],
    options: [ORIGINAL],
    examples: [
      { command: 'tool diff app 1 0', does: 'what the newest snapshot has, and the one before had not' },
      { command: 'tool diff app 0', does: 'how far the destination has moved since' },
    ],
    json: 'document',
    load: () => import('./diff.ts'),
  },
  {
    name: 'export',
    summary: 'write a snapshot to one file, to hand it over without a bucket',
    group: 'Snapshots',
    arguments: [TARGET, SNAPSHOT],
    options: [
      { flags: '-o, --output <file>', description: 'the file to write; default: TARGET-SNAPSHOT.zip, here' },
      ORIGINAL,
    ],
    examples: [{ command: 'tool export app 0 -o app.zip', does: 'the newest snapshot of "app", as a plain zip' }],
    json: 'events',
    load: () => import('./export.ts'),
  },
  {
    name: 'import',
    summary: 'take a snapshot in that was exported',
    group: 'Snapshots',
    arguments: [{ name: 'file', description: 'what tool export has written', required: true }],
    options: [
      { flags: '--target <name>', description: 'the target that it becomes a snapshot of; default: as it was' },
    ],
    examples: [{ command: 'tool import app.zip', does: 'a snapshot as if it had been taken here' }],
    json: 'events',
    writes: true,
    load: () => import('./import.ts'),
  },
  {
    name: 'verify',
    summary: 're-read every byte of a snapshot against its checksums',
    group: 'Snapshots',
    arguments: [TARGET, SNAPSHOT],
    options: [
      { flags: '--remote', description: 'what is in the bucket, even where the snapshot is on this machine too' },
      {
        flags: '--sample <percent>',
        description: 'only so many of its objects, chosen at random',
        value: 'percentage',
      },
      ORIGINAL,
    ],
    examples: [
      { command: 'tool verify app 1', does: 'the second newest snapshot of "app"' },
      { command: 'tool verify app --remote --sample 10%', does: 'a tenth of the newest, fetched from the bucket' },
    ],
    json: 'events',
    load: () => import('./verify.ts'),
  },
  {
    name: 'rm',
    summary: 'remove a snapshot, and the space that no other snapshot needs',
    group: 'Snapshots',
    arguments: [TARGET, { ...SNAPSHOT, description: 'index (0 is the newest) or id of the snapshot', required: true }],
    options: [...PLACES, DRY_RUN],
    examples: [
      { command: 'tool rm app 3', does: 'removes the fourth newest snapshot of "app"' },
      { command: 'tool rm app 3 --local', does: 'the same on this machine only: the bucket keeps it' },
    ],
    json: 'events',
    writes: true,
    load: () => import('./rm.ts'),
  },
  {
    name: 'prune',
    summary: 'remove the snapshots that no rule keeps, and the space that none of the others needs',
    group: 'Snapshots',
    arguments: [{ ...TARGET, description: 'name of a target; default: every target', required: false }],
    options: [
      { flags: '--keep-last <n>', description: 'keep so many of the newest', value: 'count' },
      { flags: '--keep-within <age>', description: 'keep those younger than 12h, 30d, 8w, 6m, 1y', value: 'duration' },
      {
        flags: '--keep-daily <n>',
        description: 'keep the newest of each of the last n days that have any',
        value: 'count',
      },
      { flags: '--keep-weekly <n>', description: 'the same by weeks', value: 'count' },
      { flags: '--keep-monthly <n>', description: 'the same by months', value: 'count' },
      ...PLACES,
      DRY_RUN,
    ],
    examples: [
      { command: 'tool prune --keep-last 5 --keep-within 30d --dry-run', does: 'what would go, of every target' },
      {
        command: 'tool prune app --keep-daily 7 --keep-weekly 4',
        does: 'a week of days and a month of weeks of "app"',
      },
    ],
    json: 'events',
    writes: true,
    load: () => import('./prune.ts'),
  },
  {
    name: 'targets',
    summary: 'list the targets, and whether their databases answer',
    group: 'Look',
    arguments: [],
    options: [{ flags: '--no-check', description: 'connect to nothing' }],
    examples: [{ command: 'tool targets --json', does: 'all targets, for scripts' }],
    json: 'document',
    load: () => import('./targets.ts'),
  },
  {
    name: 'target',
    summary: "list a target's snapshots, newest first, those of this machine and those in the bucket",
    group: 'Look',
    arguments: [TARGET],
    options: [{ flags: '--original', description: 'of a share target also what was not sanitized' }],
    examples: [{ command: 'tool target app', does: 'the snapshots of "app"' }],
    json: 'document',
    load: () => import('./target.ts'),
  },
  {
    name: 'config init',
    summary: 'write a configuration with defaults and a fresh secret_key',
    group: 'Set up',
    arguments: [],
    options: [{ flags: '--force', description: 'overwrite the file that is there' }],
    examples: [{ command: 'tool config init --no-tui', does: 'writes the file and asks nothing' }],
    json: 'document',
    load: () => import('./config-init.ts'),
  },
  {
    name: 'config check',
    summary: 'every problem of the configuration at once, and the client tools found',
    group: 'Set up',
    arguments: [],
    options: [{ flags: '--offline', description: 'skip what needs a network' }],
    examples: [{ command: 'tool config check --json', does: 'all problems with line and column, for scripts' }],
    json: 'document',
    load: () => import('./config-check.ts'),
  },
  {
    name: 'demo',
    summary: 'try everything on a throw-away database with sample data',
    group: 'Set up',
    arguments: [],
    options: [],
    examples: [{ command: 'tool demo', does: 'starts a database of its own and opens the screens on it' }],
    json: 'events',
    load: () => import('./demo.ts'),
  },
  {
    name: 'completion',
    summary: 'print the completion script of a shell',
    group: 'Set up',
    arguments: [{ name: 'shell', description: 'the shell', required: true, choices: ['bash', 'zsh', 'fish'] }],
    options: [],
    examples: [{ command: 'source <(tool completion bash)', does: 'completes in this shell' }],
    json: 'document',
    load: () => import('./completion.ts'),
  },
  {
    name: '__complete',
    summary: 'what may follow a command line; called by the completion scripts',
    group: 'Set up',
    arguments: [{ name: 'words', description: 'the line so far', required: false, variadic: true }],
    options: [],
    examples: [],
    json: 'document',
    hidden: true,
    load: () => import('./complete.ts'),
  },
];

/** What the first words of commands of two words are about. */
export const FAMILIES: Record<string, string> = {
  config: 'write and check the configuration',
};

/** Flags that every command takes, at any place of the line. */
export const GLOBAL_OPTIONS: OptionSpec[] = [
  { flags: '--config <file>', description: 'configuration file to use' },
  { flags: '--json', description: 'JSON on standard output: a document, or an event a line' },
  { flags: '--no-tui', description: 'no screens and no live view' },
  { flags: '-y, --yes', description: 'answer every question with yes, as TOOL_NO_CONFIRM=true and CI=true do' },
  {
    flags: '--read-only',
    description: 'change no database and no snapshot: what would is refused, in the screens too',
  },
  { flags: '--debug', description: 'say which commands are run, and where an error came from' },
];
