import { resolve } from 'node:path';
import { defineCommand, type Invocation } from '../cli/command.ts';
import { requestOf, runPlanned } from '../cli/run-planned.ts';
import { toSelector } from '../text/snapshot-selector.ts';
import { ALLOW_SUPERUSER, ALLOW_UNTRUSTED, CPUS, DRY_RUN, NO_AUTOSAVE, ORIGINAL, TARGET } from './shared-options.ts';
import { excludeEachOther, flagOf, requiresFlag, wrongUsage } from './wrong-usage.ts';

export const loadCommand = defineCommand({
  name: 'load',
  summary: "restore a snapshot, or run an SQL file, into a target's destination database",
  group: 'Snapshots',
  arguments: [
    TARGET,
    {
      name: 'snapshot',
      description: 'snapshot, or path of an .sql file; default 0',
      required: false,
      complete: 'snapshot or file',
    },
  ],
  options: [
    { flags: '--destdb <url>', description: 'destination instead of the configured one' },
    {
      flags: '--tables <names>',
      description:
        'load only these tables and the rows they reference; comma-separated, repeatable, * matches any characters',
      repeatable: true,
      complete: 'tables',
    },
    { flags: '--only', description: 'with --tables: replace only their rows, in the present destination' },
    DRY_RUN,
    { flags: '--no-undo', description: 'keep no undo copy' },
    NO_AUTOSAVE,
    {
      flags: '--keep-base',
      description: 'keep a base copy for tool reset',
    },
    { flags: '--spare', description: 'keep a base copy and a spare, for an instant next reset' },
    { flags: '--no-after-load', description: 'skip the configured steps (after_load)' },
    { flags: '--full', description: 'load all tables, not only differences from the base copy' },
    {
      flags: '--in-place',
      description: 'restore inside the destination, in one transaction (PostgreSQL)',
    },
    {
      flags: '--keep-going',
      description: 'continue after errors and list what is missing; replace the destination only if nothing is',
    },
    {
      flags: '--accept-missing',
      description: 'with --keep-going: replace the destination even if objects are missing',
    },
    ORIGINAL,
    {
      flags: '--remote-tables',
      description: 'also create tables with rows outside the database (foreign tables, FEDERATED)',
    },
    ALLOW_SUPERUSER,
    { flags: '--events', description: 'keep events enabled in the destination (MySQL, MariaDB)' },
    { flags: '--no-drop', description: 'with an SQL file: run it on the existing destination, without a new database' },
    { flags: '--source', description: 'with an SQL file: run it on the source database' },
    ALLOW_UNTRUSTED,
    CPUS,
  ],
  examples: [
    { command: 'tool load app', does: 'restore the newest snapshot' },
    { command: 'tool load app 2 --dry-run', does: 'print the plan for the third newest' },
    {
      command: 'tool load app --tables public.orders,public.invoice_*',
      does: 'load these tables and their references; leave others empty',
    },
    {
      command: 'tool load app --tables public.orders --only',
      does: 'replace the rows of this table in the present destination',
    },
    { command: 'tool load app#v2.4', does: 'restore the newest snapshot with this tag' },
    { command: 'tool load app@main', does: 'restore the newest snapshot of git branch main' },
    {
      command: 'tool load --from postgres://db/shop --to postgres://dev/shop',
      does: 'build a snapshot of a database and restore it, without a configuration',
    },
    { command: 'tool load app --keep-base', does: 'keep a base copy for tool reset' },
    { command: 'tool load app fixtures.sql --no-drop', does: 'run an SQL file on the existing destination' },
  ],
  json: 'events',
  writes: true,
  async run(invocation) {
    const { drop, keepGoing, acceptMissing, snapshot, ...passed } = requestOf(invocation);
    const { source } = passed;
    const file =
      snapshot !== undefined && /^[^@#+].*\.sql$/i.test(snapshot) ? resolve(invocation.cwd, snapshot) : undefined;
    if (file === undefined && (source || !drop)) {
      const flag = source ? '--source' : '--no-drop';
      throw requiresFlag(flag, 'an SQL file', `tool load TARGET FILE.sql ${flag}`);
    }
    const ofSnapshots = OF_SNAPSHOTS.find((name) => (invocation.options[name] ?? false) !== false);
    if (file !== undefined && ofSnapshots) {
      throw wrongUsage(`${flagOf(ofSnapshots)} cannot be used with an SQL file: ${snapshot}`, {
        code: 'flag_needs_flag',
        hint: 'The content of an SQL file is unknown before it runs.',
      });
    }
    if (acceptMissing && !keepGoing) {
      throw requiresFlag('--accept-missing', '--keep-going', 'tool load TARGET --keep-going --accept-missing');
    }
    assertOnlyAllowed(invocation.options);
    if (invocation.globals.from !== undefined && file === undefined && snapshot === undefined && !passed.only) {
      await buildFirst(invocation);
    }
    const { loadOperation } = await import('../operations/load/operation.ts');
    const { summaryText } = await import('../presentation/shapes/summary.ts');
    const { unsavedTargetText } = await import('../operations/configuration/text.ts');
    return runPlanned(invocation, loadOperation, {
      request: {
        ...passed,
        ...(file !== undefined && { file, noDrop: !drop }),
        ...(file === undefined && snapshot !== undefined && { snapshot: toSelector(snapshot) }),
        ...(keepGoing && { keepGoing: acceptMissing ? 'swap' : 'inspect' }),
      },
      async text(result, plan) {
        const summary = summaryText(loadOperation.summary(result, plan));
        return invocation.globals.from === undefined ? summary : `${summary}\n${unsavedTargetText()}`;
      },
    });
  },
});

type LoadInvocation = Pick<Invocation, 'context' | 'confirm' | 'canConfirm' | 'cwd' | 'tableOptions'> & {
  arguments: { target: string };
  options: { dryRun?: boolean; cpus?: number; destdb?: string };
};

/** Builds the snapshot of `--from`, unless the destination is refused. */
async function buildFirst({ arguments: { target }, options, ...invocation }: LoadInvocation): Promise<void> {
  const { dryRun, cpus, destdb } = options;
  const { assertDestination } = await import('../operations/load/destination.ts');
  await assertDestination(await invocation.context(), { target, destdb }).catch(async (thrown: unknown) => {
    const { withProjectDatabase } = await import('../operations/configuration/project-database.ts');
    throw await withProjectDatabase(thrown, invocation.cwd);
  });
  if (dryRun) return;
  const { throwUnasked } = await import('../cli/confirm.ts');
  if (!invocation.canConfirm) throwUnasked();
  const { buildOperation } = await import('../operations/build/operation.ts');
  const request = { target, ...(cpus !== undefined && { cpus }) };
  await runPlanned({ ...invocation, options: {} }, buildOperation, { request });
}

type Options = Readonly<Record<string, unknown>>;

/** --only replaces rows and nothing else, so that what makes or fills a database has no meaning. */
function assertOnlyAllowed(options: Options): void {
  if (!options.only) return;
  if (options.tables === undefined) {
    throw requiresFlag('--only', '--tables', 'tool load TARGET --tables NAMES --only');
  }
  const other = NOT_WITH_ONLY.find((name) => (options[name] ?? false) !== false);
  if (other) throw excludeEachOther('--only', flagOf(other));
}

const NOT_WITH_ONLY = ['inPlace', 'keepGoing', 'remoteTables', 'keepBase', 'spare', 'full', 'events'];

const OF_SNAPSHOTS = [
  ...(['tables', 'only', 'keepGoing', 'remoteTables', 'allowSuperuser', 'keepBase', 'full', 'spare'] as const),
];
