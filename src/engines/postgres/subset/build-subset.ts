import { join } from 'node:path';
import { redact } from '../../../process/redact.ts';
import { UserError } from '../../../runtime/errors.ts';
import { startStep, withStep } from '../../../runtime/events.ts';
import type { Relationship } from '../../../subset/graph.ts';
import { formatNumberOf } from '../../../text/format.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { BuildSubsetResult, SubsetRun } from '../../facets/subset.ts';
import { groupsOf } from '../../shared/groups.ts';
import { restoreFailed, withRightsHint } from '../../shared/restore-failed.ts';
import { countDanglingRows } from '../../shared/subset/dangling-rows.ts';
import { referenceOf } from '../../shared/subset/reference-of.ts';
import { connect } from '../connection/connect.ts';
import type { PostgresSession } from '../connection/session.ts';
import { findClientTools, toolsForArchive } from '../connection/tools.ts';
import { encodingSettings } from '../connection/url.ts';
import type { ArchiveEntry } from '../dump/archive-contents.ts';
import { runPgDump } from '../dump/run-pg-dump.ts';
import { createEventTriggers } from '../restore/event-triggers.ts';
import { inspectDestination } from '../restore/inspect-destination.ts';
import { type ArchiveToList, listArchive } from '../restore/list-archive.ts';
import { type DividedEntries, divideEntries, listsInTurn } from '../restore/lists-in-turn.ts';
import { type PgRestoreRun, runPgRestore } from '../restore/pg-restore.ts';
import { leaveOutRemote, leftOutWarnings } from '../restore/remote-objects.ts';
import { premadeSchemas } from '../restore/restore.ts';
import { restoreErrors } from '../restore/restore-errors.ts';
import { forceRowSecurity, liftForcedRowSecurity } from '../restore/rows/forced-row-security.ts';
import { loadThroughShadow, restoreSettings, type Shadow } from '../restore/shadow-load.ts';
import { copyRows } from './copy.ts';
import { createFinder, refers, refersTo } from './finder.ts';
import { finishDatabase } from './finish.ts';
import { copyLargeObjects } from './large-objects.ts';
import type { OpenSource } from './open-source.ts';
import type { Reference } from './subset-catalog.ts';

export async function makeSubset(context: EngineContext, source: OpenSource, run: SubsetRun) {
  const { report } = context;
  const { destination } = await inspectDestination(context, run.url);
  const archive = await dumpDefinitions(context, source, run.directory);
  const tools = toolsForArchive(await findClientTools(context), source.tools.version);
  const settings = { ...restoreSettings(destination.local, run.cpus), ...encodingSettings(source.locale) };
  const names = premadeSchemas(run.restoredBy, source.extensions);
  const premade = source.schemas.filter(({ name }) => names.includes(name));
  const made: Omit<BuildSubsetResult, 'replaced'> = { rows: new Map(), references: [] };

  const fill = async ({ url, owner }: Shadow) => {
    const restoring = { url, tools, archive, settings };
    const copied = startStep(report, 'copy', 'Copy the rows');
    const { entries, eventTriggers } = await listEntries(context, {
      tools,
      archive,
      source,
      premade,
    });
    await restoreSection(context, { ...restoring, entries, section: 'pre-data', jobs: 1 });
    await using session = await connect(context, url, { tools, settings });
    const forced = await liftForcedRowSecurity(session);
    const copying = { source, run: { ...run, url }, settings };
    made.rows = await copyRows(context, copying);
    const total = [...made.rows.values()].reduce((sum, rows) => sum + rows, 0);
    copied(`Copied ${formatNumberOf(total, 'row')}`);
    await copyLargeObjects(context, copying);

    const indexing = { step: 'index', label: 'Build indexes and constraints', done: 'Built indexes and constraints' };
    await withStep(report, indexing, async () => {
      for (const some of listsInTurn(entries)) {
        await restoreSection(context, { ...restoring, entries: some, section: 'post-data', jobs: run.cpus });
      }
    });

    const finishing = {
      step: 'finish',
      label: 'Set sequences, refresh views, gather statistics',
      done: 'Set sequences, refreshed views, gathered statistics',
    };
    await withStep(report, finishing, () => finishDatabase(context, { source, url, tools, settings }));

    const verifyStep = {
      step: 'prove',
      label: 'Verify foreign keys',
      done: (references: unknown[]) => `Verified ${formatNumberOf(references.length, 'foreign key')}: no dangling rows`,
    };
    made.references = await withStep(report, verifyStep, () => verifyReferences(session, { source, run }));
    await forceRowSecurity(session, forced);
    if (eventTriggers.length > 0) {
      await using owning = await connect(context, owner, { tools, settings });
      await createEventTriggers(context, owning, eventTriggers);
    }
  };
  const replaced = await loadThroughShadow(
    context,
    { ...run, locale: source.locale, settings: source.settings, extensions: source.extensions },
    (shadow) => fill(shadow).catch((error) => Promise.reject(withRightsHint(error, run.restoredBy))),
  );
  return { replaced, ...made };
}

async function dumpDefinitions(context: EngineContext, source: OpenSource, directory: string): Promise<string> {
  const archive = join(directory, 'definitions');
  const result = await runPgDump(context, {
    ...{ url: source.url, tools: source.tools, snapshot: source.snapshot, archive },
    settings: encodingSettings(source.locale),
    flags: ['--schema-only', '--no-owner'],
  });
  if (result.exitCode === 0) return archive;
  throw new UserError('dump_failed', `pg_dump failed on the definitions of ${source.url.display}`, {
    details: redact(result.stderr).trim().split('\n').slice(-20),
    hint: 'The destination is unchanged.',
  });
}

/** Lists what is restored of the definitions. */
async function listEntries(
  context: EngineContext,
  { source, premade, ...archive }: ArchiveToList & { source: OpenSource; premade: OpenSource['schemas'] },
): Promise<DividedEntries> {
  const { entries, leftOut } = leaveOutRemote(await listArchive(context, archive));
  for (const warning of leftOutWarnings(leftOut, source.remote)) context.report(warning);
  const isPremade = ({ oid, text }: ArchiveEntry): boolean =>
    text.startsWith('SCHEMA ') && premade.some((schema) => schema.oid === oid);
  return divideEntries(entries.filter((entry) => !isPremade(entry)));
}

async function restoreSection(context: EngineContext, run: PgRestoreRun): Promise<void> {
  const errors = restoreErrors(await runPgRestore(context, run));
  if (errors.length > 0) throw restoreFailed(`pg_restore failed on the ${run.section} of the subset`, errors);
}

function verifyReferences(session: PostgresSession, { source, run }: { source: OpenSource; run: SubsetRun }) {
  const { catalog, withSession } = source;
  const orphansOf = (reading: PostgresSession, all: Relationship[]): Promise<number[]> =>
    countOrphans(
      reading,
      all.map(({ id }) => referenceOf(catalog, id)),
    );
  return countDanglingRows(run, {
    inSubset: (all) => orphansOf(session, all),
    inSource: async (one) => (await withSession((reading) => orphansOf(reading, [one])))[0] ?? 0,
    finder: () => createFinder(run.plan.graph, { catalog, withSession, seed: 0 }),
  });
}

/** References per statement: fewer round trips. */
const BATCH_REFERENCES = 100;

async function countOrphans(session: PostgresSession, references: Reference[]): Promise<number[]> {
  const counts: number[] = [];
  for (const some of groupsOf(references, BATCH_REFERENCES)) {
    const queries = some.map(orphansQuery);
    const rows = await session.query<{ index: number; orphans: number }>(
      queries.map((query, index) => `SELECT ${index} AS index, (${query}) AS orphans`).join(' UNION ALL '),
    );
    counts.push(...rows.toSorted((a, b) => a.index - b.index).map(({ orphans }) => orphans));
  }
  return counts;
}

function orphansQuery(reference: Reference): string {
  const { from, to, code } = reference;
  // Only an excluded reference may have code, and is null.
  if (code !== null) return `SELECT count(*) FROM ${from} f WHERE ${refers(reference)}`;
  return `SELECT count(*) FROM ${from} f WHERE ${refers(reference)}
    AND NOT EXISTS (SELECT FROM ${to} p WHERE ${refersTo(reference, { own: 'f', other: 'p' })})`;
}
