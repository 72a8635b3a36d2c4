import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bytesOfTable, type ManifestTable } from '../../../../repository/manifest/manifest.ts';
import { UserError } from '../../../../runtime/errors.ts';
import { startStep } from '../../../../runtime/events.ts';
import { formatNumberOf } from '../../../../text/format.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { DifferencePlan, TableWay } from '../../../facets/restore.ts';
import { restoreFailed } from '../../../shared/restore-failed.ts';
import type { ComparedTables } from '../../../shared/rows/compare-tables.ts';
import { runTogether } from '../../../shared/run-together.ts';
import { connect } from '../../connection/connect.ts';
import type { PostgresSession } from '../../connection/session.ts';
import { SqlError } from '../../connection/session-errors.ts';
import { CONTENTS, digestDefinitions } from '../../dump/archive-contents.ts';
import { analyze, analyzeTablesOf, VIEWS } from '../../statistics/gather.ts';
import { disableEventTriggers } from '../event-triggers.ts';
import { dataOf } from '../rows/copy-commands.ts';
import { type FillResult, gathersStatistics, pgRestore } from '../rows/fill.ts';
import type { Archive, FillRun } from '../rows/filling.ts';
import { liftForcedRowSecurity } from '../rows/forced-row-security.ts';
import { loadTables } from '../rows/load-tables.ts';
import { replaceRows } from './replace-rows.ts';
import { findReplacements, type Replacement } from './replaceable.ts';
import { type SetAsideObjects, type SetAsideRelation, setAside } from './set-aside.ts';

/** Content from which building an index is worth more than the statements that it takes. */
const LARGE_BYTES = 8 * 1024 * 1024;

/**
 * Loads the tables that differ into a copy of the base copy, and what depends on their rows: foreign keys are verified,
 * materialized views refreshed, sequences set.
 */
export async function fillDifference(
  context: EngineContext,
  fill: FillRun,
  { planned, compared }: { planned: DifferencePlan; compared: Promise<ComparedTables> },
): Promise<DifferenceResult> {
  const { report } = context;
  const { plan } = fill;
  const wanted = new Set(planned.tables);
  const tables = plan.tables.filter(({ name }) => wanted.has(name));
  const quiet = { ...context, report: () => {} };
  const archive = await fill.archive;
  await verifyDefinitions(archive, fill);
  const amount = formatNumberOf(tables.length, 'table');
  const restored = startStep(report, 'restore', `Load ${amount} that differ from the base copy`);
  const differences = await compared;
  const prepared = await prepare(quiet, fill, { tables, compared: differences });
  const { aside, forced, eventTriggers, replacements, whole } = prepared;
  await replaceRows(context, fill, replacements);
  await Promise.all([
    loadTables(context, { ...fill, plan: { ...plan, tables: whole } }),
    restoreEntries(context, { fill, archive, section: 'data', kind: 'SEQUENCE SET' }),
  ]);
  restored(`Loaded ${amount}${replacements.length > 0 ? `, ${replacements.length} of them by rows` : ''}`);
  const indexed = startStep(report, 'index', 'Build indexes and constraints');
  await buildIndexes(context, fill, aside.indexes);
  await finish(context, fill, [...aside.foreignKeys, ...aside.triggers]);
  const gathering = { ...fill, sessions: Math.min(fill.cpus, tables.length) };
  const gathers = gathersStatistics(fill);
  if (gathers)
    await analyzeTablesOf(
      context,
      gathering,
      [...whole, ...replacements.filter(changesStatistics).map(({ table }) => table)].map((table) =>
        relationOf(table, fill),
      ),
    );
  await restoreEntries(context, { fill, archive, section: 'post-data', kind: 'MATERIALIZED VIEW DATA' });
  if (gathers) await analyze(context, gathering, VIEWS);
  await finish(context, { ...fill, url: fill.owner }, eventTriggers);
  indexed('Built indexes and constraints');
  return { forced, leftOut: archive.leftOut, ways: waysOf(planned, prepared) };
}

export interface DifferenceResult extends FillResult {
  ways: TableWay[];
}

/** Share of rows from which the statistics of the base copy are gathered again, as the autovacuum does. */
const CHANGED_SHARE = 0.1;

function changesStatistics({ table, removed, added }: Replacement): boolean {
  return removed.length + added.length > CHANGED_SHARE * table.rows;
}

/** Returns how each table was loaded, which may differ from the plan. */
function waysOf({ ways }: DifferencePlan, { replacements, reasons }: Preparation): TableWay[] {
  const replaced = new Map(replacements.map((one) => [one.table.name, one]));
  return ways.map(({ table, way, reason, bytes }): TableWay => {
    const { removed, added } = replaced.get(table) ?? {};
    if (!removed || !added) return { table, way: 'whole', reason: reasons.get(table) ?? reason, bytes };
    return { table, way, reason, bytes, changed: { deleted: removed.length, inserted: added.length } };
  });
}

/** The manifest only states the digest by which the base copy was chosen. */
async function verifyDefinitions({ directory }: Archive, { details, manifest }: FillRun): Promise<void> {
  if (digestDefinitions(await readFile(join(directory, CONTENTS))) === details.definitions) return;
  throw new UserError(
    'content_refused',
    `The definitions in snapshot ${manifest.id} are not those that its manifest states`,
    { hint: 'The snapshot was forged or damaged. Do not trust it.' },
  );
}

interface Preparation {
  aside: SetAsideObjects;
  forced: string[];
  eventTriggers: string[];
  replacements: Replacement[];
  /** Tables that are loaded whole, and the reasons for those that were planned otherwise. */
  whole: ManifestTable[];
  reasons: Map<string, string>;
}

async function prepare(
  context: EngineContext,
  fill: FillRun,
  { tables, compared }: { tables: ManifestTable[]; compared: ComparedTables },
): Promise<Preparation> {
  const { url, tools, settings } = fill;
  await using session = await connect(context, url, { tools, settings });
  const eventTriggers = await disableAsOwner(context, fill);
  const forced = await liftForcedRowSecurity(session);
  const found = await findReplacements(session, compared.differences, fill.details);
  const { replacements } = found;
  const replaced = new Set(replacements.map(({ table }) => table));
  const whole = tables.filter((table) => !replaced.has(table));
  const aside = await setAside(session, [
    ...whole.flatMap((table) => wholeRelations(table, fill)),
    ...replacements.map((one) => replacedRelation(one, fill)),
  ]);
  return { aside, forced, eventTriggers, replacements, whole, reasons: new Map([...compared.whole, ...found.whole]) };
}

/** The event triggers are the loading role's, also where another one restores all else. */
async function disableAsOwner(context: EngineContext, { owner, tools, settings }: FillRun): Promise<string[]> {
  await using session = await connect(context, owner, { tools, settings });
  return await disableEventTriggers(session);
}

function relationOf(table: ManifestTable, { details }: FillRun): Pick<SetAsideRelation, 'schema' | 'table'> {
  const { schema, table: name, root } = dataOf(table, details);
  return root ?? { schema, table: name };
}

/** With the partitioned table that its rows go through. */
function wholeRelations(table: ManifestTable, { details }: FillRun): SetAsideRelation[] {
  const { schema, table: name, root } = dataOf(table, details);
  const facts = { large: bytesOfTable(table) >= LARGE_BYTES, whole: true };
  const own = { schema, table: name, ...facts };
  return root ? [own, { ...root, tree: true, ...facts }] : [own];
}

function replacedRelation({ table, removed, added, turn }: Replacement, fill: FillRun): SetAsideRelation {
  return { ...relationOf(table, fill), deletes: removed.length > 0, ...(added.length > 0 && { turn }) };
}

async function buildIndexes(context: EngineContext, fill: FillRun, statements: string[]): Promise<void> {
  const queue = [...statements];
  const worker = async (signal: AbortSignal): Promise<void> => {
    await using session = await connect({ ...context, signal }, fill.url, fill);
    for (let next = queue.shift(); next !== undefined && !signal.aborted; next = queue.shift()) {
      await executeDefinition(session, fill, next);
    }
  };
  const workers = Array.from({ length: Math.min(fill.cpus, queue.length) }, () => worker);
  await runTogether(context.signal, workers);
}

async function finish(context: EngineContext, fill: FillRun, statements: string[]): Promise<void> {
  if (statements.length === 0) return;
  await using session = await connect(context, fill.url, fill);
  for (const statement of statements) await executeDefinition(session, fill, statement);
}

async function executeDefinition(session: PostgresSession, { manifest }: FillRun, statement: string): Promise<void> {
  try {
    await session.execute(statement);
  } catch (error) {
    if (!(error instanceof SqlError)) throw error;
    const hint = 'To load all tables instead of those that differ from the base copy, add --full.';
    throw restoreFailed(`A constraint or index of snapshot ${manifest.id} cannot be built`, [error.message], hint);
  }
}

interface Entries {
  fill: FillRun;
  archive: Archive;
  section: 'data' | 'post-data';
  kind: 'SEQUENCE SET' | 'MATERIALIZED VIEW DATA';
}

/** Restores the entries of one kind, of those that the load restores. */
async function restoreEntries(context: EngineContext, { fill, archive, section, kind }: Entries): Promise<void> {
  const entries = archive.entries.filter(({ text }) => text.startsWith(`${kind} `));
  await pgRestore(context, { fill, archive, entries, section, jobs: 1 });
}
