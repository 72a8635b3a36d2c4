import { createWriteStream } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { bytesOfTable, type ManifestFile } from '../../../../repository/manifest/manifest.ts';
import { UserError } from '../../../../runtime/errors.ts';
import { startStep } from '../../../../runtime/events.ts';
import { formatNumberOf } from '../../../../text/format.ts';
import type { EngineContext } from '../../../engine-context.ts';
import { restoreFailed } from '../../../shared/restore-failed.ts';
import { connect } from '../../connection/connect.ts';
import { directAddress } from '../../connection/direct-address.ts';
import { quoteName } from '../../connection/quote.ts';
import { type ArchiveDetails, isTableData, withoutDependents } from '../../dump/archive.ts';
import type { ArchiveEntry } from '../../dump/archive-contents.ts';
import { analyze, earlyStatistics, TABLES, VIEWS } from '../../statistics/gather.ts';
import { STATISTICS_FILE } from '../../statistics/stored-file.ts';
import { statisticsToTakeOver } from '../../statistics/take-over.ts';
import { openMeanwhile } from '../../swap/swap-session.ts';
import { createEventTriggers } from '../event-triggers.ts';
import { failureHint } from '../failure-hint.ts';
import { listArchive } from '../list-archive.ts';
import { divideEntries, listsInTurn } from '../lists-in-turn.ts';
import { type RestoreSection, runPgRestore, unwantedSchemas } from '../pg-restore.ts';
import { leaveOutRemote, leftOutWarnings, type RemoteEntry } from '../remote-objects.ts';
import { restoreErrors, wentOn } from '../restore-errors.ts';
import { dataOf, pathOf } from './copy-commands.ts';
import { earlyIndexes } from './early-indexes.ts';
import type { Archive, FillRun } from './filling.ts';
import { liftForcedRowSecurity } from './forced-row-security.ts';
import { withIndexProgress } from './index-progress.ts';
import { loadTables } from './load-tables.ts';

export interface FillResult {
  /** Tables whose row level security is to be forced when their rows are counted. */
  forced: string[];
  leftOut: RemoteEntry[];
}

/**
 * Fills an empty database: definitions, then rows side by side, then indexes and constraints side by side. A session
 * that has no more rows to load begins with the indexes of tables that are complete.
 */
export async function fillDatabase(context: EngineContext, fill: FillRun): Promise<FillResult> {
  const { report } = context;
  const { plan, cpus } = fill;
  const archive = await fill.archive;
  await createExtensionSchemas(context, fill);

  const amount = formatNumberOf(plan.tables.length, 'table');
  const restored = startStep(report, 'restore', `Restore ${amount}`);
  await using opening = openMeanwhile(connect(context, fill.url, fill));
  await pgRestore(context, { fill, archive, section: 'pre-data', jobs: 1 });
  const session = await opening.session;
  const forced = await liftForcedRowSecurity(session);
  const indexes = earlyIndexes(archive.entries, fill);
  const gathers = gathersStatistics(fill);
  const stored = gathers && !fill.errors ? await statisticsToTakeOver(fill) : undefined;
  const early = gathers ? await earlyStatistics(session, stored) : undefined;
  await Promise.all([
    loadTables(context, fill, {
      address: await directAddress(context, fill.url),
      onLoaded: (tables) => early?.add(tables.map((table) => pathOf(dataOf(table, fill.details)))),
      meanwhile: (working, state) =>
        indexes.buildOne(state, (index) =>
          pgRestore(working, { fill, archive, entries: [index], section: 'post-data', jobs: 1 }),
        ),
    }),
    // Large objects and the values of sequences; tables go their own way.
    pgRestore(context, { fill, archive, entries: archive.entries.filter(isContent), section: 'data', jobs: 1 }),
  ]);
  restored(`Restored ${amount}`);

  const indexed = startStep(report, 'index', 'Build indexes and constraints');
  const sessions = sessionsFor(plan, cpus);
  // The queries of materialized views are planned with the statistics of the tables.
  const [views = [], rest = []] = [true, false].map((isView) =>
    indexes.rest().filter(({ text }) => text.startsWith('MATERIALIZED VIEW DATA ') === isView),
  );
  const build = (entries: ArchiveEntry[]): Promise<void> =>
    pgRestore(context, { fill, archive, entries, section: 'post-data', jobs: sessions });
  const entries = { all: archive.entries, rest };
  await withIndexProgress({ session, report, signal: context.signal, entries }, async () => {
    for (const some of sessions > 1 ? listsInTurn(rest) : [rest]) await build(some);
  });
  if (early) await analyze(context, { ...fill, sessions, early, stored }, TABLES);
  if (views.length > 0) {
    await build(views);
    if (early) await analyze(context, { ...fill, sessions, early }, VIEWS);
  }
  await restoreEventTriggers(context, fill, archive);
  indexed('Built indexes and constraints');
  return { forced, leftOut: archive.leftOut };
}

/** Not of rows that are to be changed: statistics have values of them. */
export function gathersStatistics({ beforeSwap, throwAway = false }: Pick<FillRun, 'beforeSwap' | 'throwAway'>) {
  return beforeSwap === undefined && !throwAway;
}

/** By the loading role, also where another one restores all else: only a superuser may create them. */
async function restoreEventTriggers(context: EngineContext, fill: FillRun, { eventTriggers }: Archive): Promise<void> {
  if (eventTriggers.length === 0) return;
  await using session = await connect(context, fill.owner, fill);
  await createEventTriggers(context, session, eventTriggers).catch((error) => {
    if (!(fill.errors && error instanceof UserError && error.code === 'restore_failed')) throw error;
    fill.errors.push([error.message, ...error.details].join(': '));
  });
}

/** The folder of the archive, within that of the run. */
export const ARCHIVE = 'archive';

/** Lays the archive out for pg_restore: its table of contents and large objects; chooses the entries to restore. */
export async function materialize(
  context: EngineContext,
  run: Pick<FillRun, 'manifest' | 'directory' | 'read' | 'tools' | 'details' | 'plan' | 'premade' | 'remoteTables'>,
): Promise<Archive> {
  const { manifest, directory, read, tools, details, plan, premade, remoteTables } = run;
  const archive = join(directory, ARCHIVE);
  await mkdir(archive);
  const files = manifest.files.filter(({ name }) => name !== STATISTICS_FILE);
  for (const file of files) await writeOut(read(file), join(archive, file.name));
  await assertListedFiles(archive, files);
  const listed = await listArchive(context, { tools, archive });
  const able = withoutDependents(listed, isLeftOut(details.left_out));
  const planned = details.definitions_only;
  const arriving = leaveOutRemote(able, { remoteTables, schemas: plan.schemas, planned });
  for (const warning of leftOutWarnings(arriving.leftOut, details)) context.report(warning);
  const entries = arriving.entries.filter(
    (entry) => !isTableData(entry) && isWanted(entry, { details, plan, premade }),
  );
  return { directory: archive, ...divideEntries(entries), leftOut: arriving.leftOut };
}

/**
 * Kinds that pg_restore never counts among the data, whatever the version: whoever is not among them may be large objects,
 * values of sequences, or what a later version brings.
 */
const DEFINITION =
  /^(TABLE|TABLE ATTACH|INDEX|INDEX ATTACH|CONSTRAINT|FK CONSTRAINT|CHECK CONSTRAINT|DEFAULT|SEQUENCE|SEQUENCE OWNED BY|VIEW|FUNCTION|TYPE|TRIGGER|EXTENSION|SCHEMA|ENCODING|STDSTRINGS|SEARCHPATH|DATABASE|COMMENT) (-|\S)/;

function isContent({ text }: ArchiveEntry): boolean {
  return !DEFINITION.test(text) || /^(SEQUENCE SET|COMMENT - (BLOB|LARGE OBJECT)) /.test(text);
}

/** Files that list large objects. pg_restore would read any file of this machine that such a list names. */
const BLOB_LIST = /^blobs(_\d+)?\.toc$/;
const BLOB_LINES = /^(\d+ blob_\d+\.dat\n)*$/;

async function assertListedFiles(archive: string, files: ManifestFile[]): Promise<void> {
  for (const { name } of files.filter((file) => BLOB_LIST.test(file.name))) {
    if (BLOB_LINES.test(await readFile(join(archive, name), 'latin1'))) continue;
    throw new UserError(
      'content_refused',
      `The list of large objects ${name} is refused: it names files outside the snapshot`,
      { hint: 'pg_dump never writes such a list, so it was forged or damaged. Do not trust the snapshot.' },
    );
  }
}

async function writeOut(content: AsyncIterable<Uint8Array>, path: string): Promise<void> {
  const output = createWriteStream(path, { flags: 'wx', mode: 0o600 });
  await pipeline(content, output);
}

/** Not the schemas that are in the snapshot but not wanted now. */
function isWanted(
  { oid, text }: ArchiveEntry,
  { details, plan, premade }: Pick<FillRun, 'details' | 'plan' | 'premade'>,
): boolean {
  const made = details.schemas.filter(({ name }) => premade?.includes(name));
  if (text.startsWith('SCHEMA ') && made.some((schema) => oid === schema.oid)) return false;
  return !unwantedSchemas(details, plan.schemas).some(
    (schema) =>
      (oid === schema.oid && text.startsWith('SCHEMA ')) ||
      text.startsWith(`COMMENT - SCHEMA ${schema.name.replaceAll(/[\r\n]/g, ' ')} `),
  );
}

/** An extension may live in a schema that is not part of the snapshot. */
async function createExtensionSchemas(context: EngineContext, { url, tools, details, plan }: FillRun): Promise<void> {
  const made = new Set([...plan.schemas, 'public', 'pg_catalog']);
  const needed = [...new Set(details.extensions.map(({ schema }) => schema))].filter((schema) => !made.has(schema));
  if (needed.length === 0) return;
  await using session = await connect(context, url, { tools });
  for (const schema of needed) await session.execute(`CREATE SCHEMA IF NOT EXISTS ${quoteName(schema)}`);
}

/** A further session begins to pay off for so many bytes, or so many tables. */
const BYTES_OF_SESSION = 16 * 1024 * 1024;
const TABLES_OF_SESSION = 100;

export function sessionsFor({ tables, empty }: Pick<FillRun['plan'], 'tables' | 'empty'>, cpus: number): number {
  const bytes = tables.reduce((sum, table) => sum + bytesOfTable(table), 0);
  const count = tables.length + empty.length;
  return Math.min(cpus, 1 + Math.floor(Math.max(bytes / BYTES_OF_SESSION, count / TABLES_OF_SESSION)));
}

interface Section {
  fill: FillRun;
  archive: Archive;
  /** Default: all. */
  entries?: ArchiveEntry[];
  section: RestoreSection['section'];
  jobs: number;
}

export async function pgRestore(
  context: EngineContext,
  { fill, archive, entries = archive.entries, section, jobs }: Section,
): Promise<void> {
  if (entries.length === 0) return;
  const { url, tools, settings, details, plan } = fill;
  const without = unwantedSchemas(details, plan.schemas).map(({ name }) => name);
  const result = await runPgRestore(context, {
    ...{ url, tools, settings, section, entries, without, jobs },
    archive: archive.directory,
  });
  const errors = restoreErrors(result);
  if (errors.length > 0 && fill.errors && wentOn(result)) fill.errors.push(...errors);
  else if (errors.length > 0)
    throw restoreFailed(
      `pg_restore failed on the ${section} of snapshot ${fill.manifest.id}`,
      errors,
      failureHint(errors, details),
    );
}

/**
 * Returns a predicate for entries of an archive that are objects the snapshot leaves out, without the objects that
 * depend on them.
 */
function isLeftOut(leftOut: ArchiveDetails['left_out']): (entry: ArchiveEntry) => boolean {
  const byOid = Map.groupBy(
    leftOut.filter(({ oid }) => oid !== 0),
    ({ oid }) => oid,
  );
  const servers = leftOut.filter(({ kind }) => kind === 'server').map(({ name }) => ` SERVER ${name} `);
  return ({ class: catalog, oid, text }) =>
    (byOid.get(oid) ?? []).some((object) => object.class === undefined || object.class === catalog) ||
    // It has no oid, and is not said to depend on its server.
    (text.startsWith('USER MAPPING ') && servers.some((server) => text.includes(server)));
}
