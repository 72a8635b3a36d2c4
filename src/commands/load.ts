import { resolve } from 'node:path';
import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../cli/command.ts';
import { runPlanned } from '../cli/run-planned.ts';
import type { LoadRequest } from '../operations/load/planned-load.ts';
import { EXIT, UserError } from '../runtime/errors.ts';
import {
  ALLOW_UNTRUSTED,
  BUILT_AT,
  CPUS,
  DRY_RUN,
  ORIGINAL,
  TARGET,
  toSelector,
  UNVERIFIED_SOURCES,
} from './shared-options.ts';

const specification = {
  name: 'load',
  summary: "restore a snapshot, or run an SQL file, into a target's destination database",
  group: 'Snapshots',
  arguments: [
    TARGET,
    {
      name: 'snapshot',
      description: 'index (0 is the newest), latest, or id of a snapshot, or the path of an .sql file; default 0',
      required: false,
      complete: 'snapshot or file',
    },
  ],
  options: [
    { flags: '--destdb <url>', description: 'destination that wins over every configured one' },
    {
      flags: '--tables <names>',
      description:
        'only the rows of these tables and of the tables that they reference; with commas, repeatable, `*` for any letters',
      repeatable: true,
      complete: 'tables',
    },
    DRY_RUN,
    { flags: '--no-undo', description: 'keep no copy of the database that is replaced' },
    {
      flags: '--keep-base',
      description: 'keep a base copy, to which tool reset restores the destination',
    },
    { flags: '--no-keep-base', description: 'keep no base copy, although keep_base is set' },
    { flags: '--spare', description: 'keep a base copy and a spare, with which the next reset is a mere rename' },
    { flags: '--no-spare', description: 'keep no spare, although keep_spare is set' },
    { flags: '--full', description: 'load all tables, even where the base copy has most of them' },
    {
      flags: '--in-place',
      description: 'restore inside the destination, in one transaction; needs no second database',
    },
    {
      flags: '--keep-going',
      description: 'continue after errors, list missing objects, and do not swap if there are any',
    },
    { flags: '--accept-missing', description: 'with --keep-going: swap although something is missing' },
    {
      flags: '--drop-foreign-references',
      description: 'drop foreign keys of other databases that reference tables of the destination (MySQL, MariaDB)',
    },
    ORIGINAL,
    ...BUILT_AT,
    {
      flags: '--remote-tables',
      description: 'create tables whose rows are outside the database, too (foreign tables, FEDERATED and the like)',
    },
    {
      flags: '--allow-superuser',
      description: 'restore with the rights of the loading user, when the snapshot needs more than a temporary one has',
    },
    { flags: '--events', description: 'MySQL: let the events of the snapshot or file run in the destination' },
    { flags: '--no-drop', description: 'with a file: run it on the existing database' },
    { flags: '--source', description: 'with a file: run it on the source database' },
    UNVERIFIED_SOURCES,
    ALLOW_UNTRUSTED,
    CPUS,
  ],
  examples: [
    { command: 'tool load app', does: 'the newest snapshot into the destination of "app"' },
    { command: 'tool load app 2 --dry-run', does: 'what loading the third newest would do' },
    {
      command: 'tool load app --tables public.orders,public.invoice_*',
      does: 'these, and what they refer to; all other tables empty',
    },
    { command: 'tool load app --tag v2.4', does: 'the newest snapshot with this tag' },
    { command: 'tool load app --branch main', does: 'the newest snapshot that was built on the git branch main' },
    { command: 'tool load app --keep-base', does: 'the same as tool load app, with a base copy for tool reset' },
    { command: 'tool load app fixtures.sql --no-drop', does: 'an SQL file on the existing destination' },
  ],
  json: 'events',
  writes: true,
} as const satisfies CommandSpec;

export const loadCommand: CommandModule = { ...specification, run };

async function run(invocation: InvocationOf<typeof specification>): Promise<Outcome> {
  const { loadOperation } = await import('../operations/load/operation.ts');
  return runPlanned(invocation, loadOperation, { request: toRequest(invocation) });
}

function toRequest({ arguments: { target, snapshot }, options, cwd }: InvocationOf<typeof specification>): LoadRequest {
  const { drop, keepGoing, acceptMissing, dryRun: _, ...passed } = options;
  const { source, tables, remoteTables, allowSuperuser, keepBase, spare, full, branch, migration, tag } = passed;
  const file = snapshot !== undefined && /\.sql$/i.test(snapshot) ? resolve(cwd, snapshot) : undefined;
  if (file === undefined && (source || !drop)) throw needsFile(source ? '--source' : '--no-drop');
  if (file !== undefined && tables) throw needsSnapshot('--tables', snapshot ?? '');
  if (file !== undefined && keepGoing) throw needsSnapshot('--keep-going', snapshot ?? '');
  if (file !== undefined && remoteTables) throw needsSnapshot('--remote-tables', snapshot ?? '');
  if (file !== undefined && allowSuperuser) throw needsSnapshot('--allow-superuser', snapshot ?? '');
  if (file !== undefined && keepBase) throw needsSnapshot('--keep-base', snapshot ?? '');
  if (file !== undefined && full) throw needsSnapshot('--full', snapshot ?? '');
  if (file !== undefined && spare) throw needsSnapshot('--spare', snapshot ?? '');
  if (file !== undefined && branch !== undefined) throw needsSnapshot('--branch', snapshot ?? '');
  if (file !== undefined && migration !== undefined) throw needsSnapshot('--migration', snapshot ?? '');
  if (file !== undefined && tag !== undefined) throw needsSnapshot('--tag', snapshot ?? '');
  if (spare && keepBase === false) throw spareNeedsBase();
  if (acceptMissing && !keepGoing) throw needsKeepGoing();
  return {
    target,
    ...passed,
    ...(file !== undefined && { file, noDrop: !drop }),
    ...(file === undefined && snapshot !== undefined && { snapshot: toSelector(snapshot) }),
    ...(keepGoing && { keepGoing: acceptMissing ? 'swap' : 'inspect' }),
  };
}

function needsFile(flag: string): UserError {
  return new UserError(`${flag} is for SQL files, and no file was given`, {
    code: 'flag_needs_file',
    exit: EXIT.usage,
    hint: `tool load TARGET FILE.sql ${flag}`,
  });
}

function needsKeepGoing(): UserError {
  return new UserError('--accept-missing requires --keep-going', {
    code: 'flag_needs_flag',
    exit: EXIT.usage,
    hint: 'tool load TARGET --keep-going --accept-missing',
  });
}

function spareNeedsBase(): UserError {
  return new UserError('--spare and --no-keep-base exclude each other: a spare is made from the base copy', {
    code: 'usage',
    exit: EXIT.usage,
    hint: 'Leave one of them out.',
  });
}

function needsSnapshot(flag: string, file: string): UserError {
  return new UserError(`${flag} is for snapshots, and ${file} is an SQL file`, {
    code: 'flag_needs_snapshot',
    exit: EXIT.usage,
    hint: 'The content of an SQL file is unknown before it runs.',
  });
}
