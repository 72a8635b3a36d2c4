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

/** Every command that works, in the order of the help. */
export const COMMANDS: CommandSpec[] = [
  {
    name: 'build',
    summary: "take a snapshot of a target's source database",
    group: 'Snapshots',
    arguments: [TARGET],
    options: [
      { flags: '--note <text>', description: 'a note to keep with the snapshot' },
      { flags: '--no-sanitize', description: 'leave the sanitization out, where the target has a query for it' },
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
    name: 'sanitize',
    summary: 'run the sanitization query on a copy of a snapshot, and store the result beside the original',
    group: 'Snapshots',
    arguments: [TARGET, SNAPSHOT],
    options: [
      { flags: '-n, --new', description: 'take a new snapshot first' },
      { flags: '-e, --ephemeral', description: 'in a throw-away database; also when there is no sanitize.dst_url' },
      { flags: '--strict', description: 'publish nothing while columns that look personal are as they were' },
      { flags: '--suggest', description: 'print a first query for such columns, and store nothing' },
      DRY_RUN,
      { flags: '--no-undo', description: 'keep no copy of the database that is replaced' },
      CPUS,
    ],
    examples: [
      { command: 'tool sanitize app', does: 'the sanitized copy of the newest snapshot of "app"' },
      {
        command: 'tool sanitize app --dry-run',
        does: 'which query it would be, its statements, and where it would run',
      },
      { command: 'tool sanitize app --suggest > sanitize.sql', does: 'a first query, to read and edit' },
    ],
    json: 'events',
    writes: true,
    load: () => import('./sanitize.ts'),
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
    name: 'verify',
    summary: 're-read every byte of a snapshot against its checksums',
    group: 'Snapshots',
    arguments: [TARGET, SNAPSHOT],
    options: [ORIGINAL],
    examples: [{ command: 'tool verify app 1', does: 'the second newest snapshot of "app"' }],
    json: 'events',
    load: () => import('./verify.ts'),
  },
  {
    name: 'rm',
    summary: 'remove a snapshot, and the space that no other snapshot needs',
    group: 'Snapshots',
    arguments: [TARGET, { ...SNAPSHOT, description: 'index (0 is the newest) or id of the snapshot', required: true }],
    options: [DRY_RUN],
    examples: [{ command: 'tool rm app 3', does: 'removes the fourth newest snapshot of "app"' }],
    json: 'events',
    writes: true,
    load: () => import('./rm.ts'),
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
    summary: "list a target's snapshots, newest first",
    group: 'Look',
    arguments: [TARGET],
    options: [],
    examples: [{ command: 'tool target app', does: 'the snapshots of "app"' }],
    json: 'document',
    load: () => import('./target.ts'),
  },
  {
    name: 'config init',
    summary: 'write a configuration with defaults and a fresh secret_key',
    group: 'Set up',
    arguments: [],
    options: [
      { flags: '--force', description: 'overwrite the file that is there' },
      { flags: '--keychain', description: "keep the secret_key in the system's keychain" },
    ],
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
    name: 'config show',
    summary: 'the configuration in force, each value with where it comes from; secrets masked',
    group: 'Set up',
    arguments: [],
    options: [],
    examples: [{ command: 'tool config show --json', does: 'every value with its origin, for scripts' }],
    json: 'document',
    load: () => import('./config-show.ts'),
  },
  {
    name: 'config schema',
    summary: 'print the JSON Schema of the configuration file, for editors',
    group: 'Set up',
    arguments: [],
    options: [],
    examples: [{ command: 'tool config schema', does: 'what editors complete and validate the file with' }],
    json: 'document',
    load: () => import('./config-schema.ts'),
  },
  {
    name: 'config encrypt',
    summary: 'encrypt sensitive values of the configuration file where they stand',
    group: 'Set up',
    arguments: [
      { name: 'keys', description: 'keys to encrypt; default all that are sensitive', required: false, variadic: true },
    ],
    options: [{ flags: '--dry-run', description: 'say which, change nothing' }],
    examples: [
      { command: 'tool config encrypt', does: 'all passwords, tokens and keys that are plain' },
      { command: 'tool config encrypt storage_profiles.team.secret_key', does: 'this one' },
    ],
    json: 'document',
    load: () => import('./config-encrypt.ts'),
  },
  {
    name: 'config decrypt',
    summary: 'print one value of the configuration, decrypted',
    group: 'Set up',
    arguments: [{ name: 'key', description: 'key of the value', required: true }],
    options: [],
    examples: [{ command: 'tool config decrypt authtoken', does: 'the token in plain' }],
    json: 'document',
    load: () => import('./config-decrypt.ts'),
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
  config: 'write, check, show and encrypt the configuration',
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
  { flags: '--debug', description: 'say which commands are run, keep a log, and show where an error came from' },
];
