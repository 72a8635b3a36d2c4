import type { ReferenceResult } from '../../../results/subset-results.ts';
import { startStep, withStep } from '../../../runtime/events.ts';
import { formatNumberOf } from '../../../text/format.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { BuildSubsetResult, SubsetRun } from '../../facets/subset.ts';
import { withRightsHint } from '../../shared/restore-failed.ts';
import { countDanglingRows } from '../../shared/subset/dangling-rows.ts';
import { referenceOf } from '../../shared/subset/reference-of.ts';
import { checkDefinitions } from '../catalog/definitions/check-definitions.ts';
import type { Definitions } from '../catalog/definitions/definitions.ts';
import { withEventsDisabled } from '../catalog/definitions/events.ts';
import { withDanglingApart } from '../catalog/definitions/foreign-keys.ts';
import { withSequencesOwn } from '../catalog/definitions/sequence-defaults.ts';
import { withIndexes } from '../catalog/definitions/statement-text.ts';
import { collationsIn, featuresOf } from '../catalog/features.ts';
import { readHistograms } from '../catalog/histograms.ts';
import { assertNoNameCollision, readNameCase } from '../catalog/name-case.ts';
import { readReadable } from '../catalog/rights/readable.ts';
import { connect, connectToServer } from '../connection/connect.ts';
import { asTable, quotePath } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { withDatabase } from '../connection/url.ts';
import { inspectDestination } from '../restore/inspect-destination.ts';
import { leaveOutRemote, remoteWarnings } from '../restore/left-out.ts';
import { assertSameFlavour } from '../restore/preflight.ts';
import { loadThroughShadow, type Shadow } from '../restore/restore.ts';
import { createDependents, createTables } from '../restore/rows/fill.ts';
import { analyzeTables } from '../restore/statistics.ts';
import { createTemporaryUser } from '../restore/temporary-user.ts';
import type { Dependents } from '../swap/exchange.ts';
import { copyRows } from './copy.ts';
import { createFinder, refers, refersTo } from './finder.ts';
import type { OpenSource } from './open-source.ts';
import type { Reference } from './subset-catalog.ts';

export async function makeSubset(context: EngineContext, source: OpenSource, run: SubsetRun) {
  const { report } = context;
  const { server, collations } = await inspectDestination(context, run.url);
  const read = await readSourceDefinitions(context, source);
  const { definitions: arriving, leftOut } = leaveOutRemote(read.definitions);
  for (const warning of remoteWarnings(leftOut, { created: false })) report(warning);
  // Definitions of one server become statements of another.
  const checked = checkDefinitions(arriving, source.database);
  const definitions = withSequencesOwn(withDanglingApart(checked), source.database);
  const { flavour } = source.server;
  const features = featuresOf(flavour, definitions);
  assertSameFlavour({ flavour, features, collations: collationsIn(definitions) }, { server, collations });
  await assertDistinctNames(context, run.url, definitions);
  const made: Omit<BuildSubsetResult, 'replaced'> = { rows: new Map(), references: [] };

  const fill = async ({ shadow, server: destination, context: running }: Shadow): Promise<Dependents> => {
    const creation = { url: run.url, builtHere: true, shadow };
    await using user =
      run.restoredBy.user === 'temporary' ? await createTemporaryUser(running, destination, creation) : null;
    const url = user?.url ?? withDatabase(run.url, shadow);
    await using session = await connect(running, url);
    await session.execute('SET foreign_key_checks = 0');
    const copied = startStep(report, 'copy', 'Copy the rows');
    const tables = definitions.tables.map((table) =>
      rowsToCome(run, `${source.database}.${table.name}`) <= FEW_ROWS ? withIndexes(table) : table,
    );
    await createTables(session, { ...definitions, tables });
    made.rows = await copyRows(running, { source, run: { ...run, url }, definitions: tables });
    const total = [...made.rows.values()].reduce((sum, rows) => sum + rows, 0);
    copied(`Copied ${formatNumberOf(total, 'row')}, and built their indexes`);

    const making = {
      step: 'index',
      label: 'Create foreign keys, views, routines and triggers',
      done: 'Created foreign keys, views, routines and triggers',
    };
    const code = await withStep(report, making, () =>
      createDependents(context, session, {
        definitions,
        leftOut: leftOut.map(({ table }) => table),
        helper: user?.helper ?? null,
      }),
    );

    const { histograms } = read;
    const finishing = { step: 'finish', label: 'Gather statistics', done: 'Gathered statistics' };
    await withStep(report, finishing, async () => {
      await analyzeTables(running, { url, sessions: run.cpus, histograms });
    });

    const verifyStep = {
      step: 'prove',
      label: 'Verify foreign keys',
      done: (references: unknown[]) => `Verified ${formatNumberOf(references.length, 'foreign key')}: no dangling rows`,
    };
    made.references = await withStep(report, verifyStep, () =>
      verifyReferences(session, { source, run, database: shadow }),
    );
    return {
      code: withEventsDisabled(code),
      definers: run.url.parameters.definer === 'keep' ? 'theirs' : 'mine',
      histograms,
    };
  };
  const replaced = await loadThroughShadow(context, { ...run, collations: definitions }, (shadow) =>
    fill(shadow).catch((error) => Promise.reject(withRightsHint(error, run.restoredBy))),
  );
  return { replaced, ...made };
}

/** Below this an index grows with its rows as fast as it is built afterwards. */
const FEW_ROWS = 5000;

function rowsToCome({ plan, collected }: SubsetRun, table: string): number {
  const isWhole = plan.rules.get(table) === 'copy';
  return (isWhole ? plan.graph.tables.get(table)?.rows : collected.taken.get(table)?.size) ?? 0;
}

async function assertDistinctNames(
  context: EngineContext,
  url: SubsetRun['url'],
  { tables, sequences, views, triggers }: Definitions,
): Promise<void> {
  await using session = await connectToServer(context, url);
  const [names, ofTriggers] = [[...tables, ...sequences, ...views], triggers].map((some) =>
    some.map(({ name }) => name),
  );
  assertNoNameCollision(await readNameCase(session, names ?? []), names ?? []);
  assertNoNameCollision(await readNameCase(session, ofTriggers ?? []), ofTriggers ?? [], 'triggers');
}

async function readSourceDefinitions(context: EngineContext, { url, server, catalog }: OpenSource) {
  await using session = await connect(context, url);
  const tables = [...catalog.tables.values()].map((table) => table.catalog);
  const { definitions } = await readReadable(context, session, { url, server, tables });
  return { definitions, histograms: await readHistograms(session, url.database ?? '') };
}

function verifyReferences(
  session: MysqlSession,
  { source, run, database }: { source: OpenSource; run: SubsetRun; database: string },
): Promise<ReferenceResult[]> {
  const { catalog, withSession } = source;
  return countDanglingRows(run, {
    async inSubset(all) {
      const counts: number[] = [];
      for (const { id } of all) counts.push(await countOrphans(session, referenceOf(catalog, id), database));
      return counts;
    },
    inSource: ({ id }) => withSession((reading) => countOrphans(reading, referenceOf(catalog, id), source.database)),
    finder: async () => createFinder(run.plan.graph, { database: source.database, catalog, withSession, seed: 0 }),
  });
}

async function countOrphans(session: MysqlSession, reference: Reference, database: string): Promise<number> {
  const { from, to } = reference;
  const same = refersTo(reference, { own: 'f', other: 'p' });
  const [row] = await session.query<{ orphans: number | string }>(`
    SELECT COUNT(*) AS orphans FROM ${asTable(quotePath(database, from.catalog.name), 'f')} WHERE ${refers(reference)}
    AND NOT EXISTS (SELECT 1 FROM ${asTable(quotePath(database, to.catalog.name), 'p')} WHERE ${same})`);
  return Number(row?.orphans ?? 0);
}
