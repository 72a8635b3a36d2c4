import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bytesOfTable, type ManifestTable } from '../../../../repository/manifest/manifest.ts';
import { UserError } from '../../../../runtime/errors.ts';
import { startStep } from '../../../../runtime/events.ts';
import { formatNumberOf } from '../../../../text/format.ts';
import type { EngineContext } from '../../../engine-context.ts';
import { restoreFailed } from '../../../shared/restore-failed.ts';
import { runTogether } from '../../../shared/run-together.ts';
import { connect } from '../../connection/connect.ts';
import type { PsqlSession } from '../../connection/session.ts';
import { SqlError } from '../../connection/session-errors.ts';
import { CONTENTS } from '../../dump/archive-contents.ts';
import { digestDefinitions } from '../../dump/definitions-digest.ts';
import { disableEventTriggers } from '../event-triggers.ts';
import { dataOf } from '../rows/copy-commands.ts';
import { type FillResult, gathersStatistics, pgRestore } from '../rows/fill.ts';
import type { Archive, FillRun } from '../rows/filling.ts';
import { liftForcedRowSecurity } from '../rows/forced-row-security.ts';
import { loadTables } from '../rows/load-tables.ts';
import { analyzeTablesOf, analyzeViews } from '../statistics.ts';
import { type SetAsideObjects, type SetAsideRelation, setAside } from './set-aside.ts';

/** Content from which building an index is worth more than the statements that it takes. */
const LARGE_BYTES = 8 * 1024 * 1024;

/**
 * Loads the tables that differ into a copy of the base copy, and what depends on their rows: foreign keys are verified,
 * materialized views refreshed, sequences set.
 */
export async function fillDifference(context: EngineContext, fill: FillRun, names: string[]): Promise<FillResult> {
  const { report } = context;
  const { plan } = fill;
  const wanted = new Set(names);
  const tables = plan.tables.filter(({ name }) => wanted.has(name));
  const quiet = { ...context, report: () => {} };
  const archive = await fill.archive;
  await verifyDefinitions(archive, fill);
  const amount = formatNumberOf(tables.length, 'table');
  const restored = startStep(report, 'restore', `Load ${amount} that differ from the base copy`);
  const { aside, forced, eventTriggers } = await prepare(quiet, fill, tables);
  await Promise.all([
    loadTables(context, { ...fill, plan: { ...plan, tables } }),
    restoreEntries(context, { fill, archive, section: 'data', kind: 'SEQUENCE SET' }),
  ]);
  restored(`Loaded ${amount}`);
  const indexed = startStep(report, 'index', 'Build indexes and constraints');
  await buildIndexes(context, fill, aside.indexes);
  await finish(context, fill, [...aside.foreignKeys, ...aside.triggers]);
  const gathering = { ...fill, sessions: Math.min(fill.cpus, tables.length) };
  const gathers = gathersStatistics(fill);
  if (gathers)
    await analyzeTablesOf(
      context,
      gathering,
      tables.flatMap((table) => relationsOf(table, fill)),
    );
  await restoreEntries(context, { fill, archive, section: 'post-data', kind: 'MATERIALIZED VIEW DATA' });
  if (gathers) await analyzeViews(context, gathering);
  await finish(context, { ...fill, url: fill.owner }, eventTriggers);
  indexed('Built indexes and constraints');
  return { forced, leftOut: archive.leftOut };
}

/** The manifest only states the digest by which the base copy was chosen. */
async function verifyDefinitions({ directory }: Archive, { details, manifest }: FillRun): Promise<void> {
  if (digestDefinitions(await readFile(join(directory, CONTENTS))) === details.definitions) return;
  throw new UserError(
    'archive_refused',
    `The definitions in snapshot ${manifest.id} are not those that its manifest states`,
    { hint: 'The snapshot was forged or damaged. Do not trust it.' },
  );
}

interface Preparation {
  aside: SetAsideObjects;
  forced: string[];
  eventTriggers: string[];
}

async function prepare(context: EngineContext, fill: FillRun, tables: ManifestTable[]): Promise<Preparation> {
  const { url, tools, settings } = fill;
  await using session = await connect(context, url, { tools, settings });
  const eventTriggers = await disableAsOwner(context, fill);
  const forced = await liftForcedRowSecurity(session);
  const aside = await setAside(
    session,
    tables.flatMap((table) => relationsOf(table, fill)),
  );
  return { aside, forced, eventTriggers };
}

/** The event triggers are the loading role's, also where another one restores all else. */
async function disableAsOwner(context: EngineContext, { owner, tools, settings }: FillRun): Promise<string[]> {
  await using session = await connect(context, owner, { tools, settings });
  return await disableEventTriggers(session);
}

function relationsOf(table: ManifestTable, { details }: FillRun): SetAsideRelation[] {
  const { schema, table: name, root } = dataOf(table, details);
  const large = bytesOfTable(table) >= LARGE_BYTES;
  const own = { schema, table: name, tree: false, large };
  return root ? [own, { ...root, tree: true, large }] : [own];
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

async function executeDefinition(session: PsqlSession, { manifest }: FillRun, statement: string): Promise<void> {
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
  const lines = (await readFile(archive.list, 'utf8')).split('\n');
  const wanted = lines.filter((line) => new RegExp(`^\\d+; \\d+ \\d+ ${kind} `).test(line));
  if (wanted.length === 0) return;
  const list = `${archive.list}.${section}`;
  await writeFile(list, `${wanted.join('\n')}\n`, { flag: 'wx', mode: 0o600 });
  await pgRestore(context, { fill, archive: { ...archive, list }, section, jobs: 1 });
}
