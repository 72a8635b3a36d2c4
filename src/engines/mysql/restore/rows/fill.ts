import * as v from 'valibot';
import type { Manifest } from '../../../../repository/manifest/manifest.ts';
import { UserError } from '../../../../runtime/errors.ts';
import { startStep } from '../../../../runtime/events.ts';
import { formatNumberOf } from '../../../../text/format.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { RestoreRun, TableWay } from '../../../facets/restore.ts';
import { checkDefinitions } from '../../catalog/definitions/check-definitions.ts';
import { refused } from '../../catalog/definitions/checked-definition.ts';
import { createCode, type Helper } from '../../catalog/definitions/code.ts';
import {
  type Code,
  type CodeDefinitions,
  type Definitions,
  definitionsSchema,
  type TableDefinition,
} from '../../catalog/definitions/definitions.ts';
import { withDanglingApart } from '../../catalog/definitions/foreign-keys.ts';
import { withSequencesOwn } from '../../catalog/definitions/sequence-defaults.ts';
import { withForeignKeys, withIndexes } from '../../catalog/definitions/statement-text.ts';
import { viewsNotCreated } from '../../catalog/definitions/view-needs.ts';
import { inCreationOrder } from '../../catalog/table-traits.ts';
import { connect } from '../../connection/connect.ts';
import { quoteName } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { SqlError } from '../../connection/session-errors.ts';
import { DEFINITIONS_FILE, type Details, detailsOf } from '../../details.ts';
import { type ArrivingDefinitions, assertPlanned, leaveOutRemote, readersOf, reportLeftOutViews } from '../left-out.ts';
import { failRestore } from '../restore-errors.ts';
import { alter, hasFewRows, type LoadTablesOptions, loadTables, makeTable } from './load-tables.ts';

export interface FillOptions extends Pick<RestoreRun, 'url' | 'plan' | 'cpus' | 'read'> {
  details: Details;
  definitions: Definitions;
  /** Tables of the snapshot that are not created. */
  leftOut: string[];
  /** The base copy that rows are taken from. */
  fromBase?: RowsFromBase | null;
  /** Creates code that the user of `url` may not. */
  helper?: Helper | null;
}

export interface RowsFromBase {
  /** Number of the tables that differ. */
  tables: number;
  /** Makes all tables with their rows. */
  fill(loading: LoadTablesOptions): Promise<TableWay[]>;
}

/** Reads the definitions to create from their object: checked, and without remote tables unless they are requested. */
export async function readDefinitionsFile(
  manifest: Manifest,
  read: RestoreRun['read'],
  { remoteTables = false }: Pick<RestoreRun, 'remoteTables'> = {},
): Promise<ArrivingDefinitions> {
  const file = manifest.files.find(({ name }) => name === DEFINITIONS_FILE);
  if (!file) throw new Error(`the manifest names no ${DEFINITIONS_FILE}`);
  const parts: Uint8Array[] = [];
  for await (const part of read(file)) parts.push(part);
  const parsed = parseDefinitions(Buffer.concat(parts).toString('utf8'));
  const { database, definitions_only: planned = [], data } = detailsOf(manifest);
  assertKnownRows(parsed, data);
  if (remoteTables) assertPlanned(parsed, planned);
  const arriving = leaveOutRemote(parsed, { remoteTables });
  const defined = new Set(parsed.tables.map(({ name }) => name));
  const undefinable = planned.filter(({ table, remote }) => remote && !defined.has(table));
  const wanted = new Set(remoteTables ? planned.map(({ table }) => table) : []);
  const checked = checkDefinitions(arriving.definitions, database, wanted);
  const definitions = withSequencesOwn(withDanglingApart(checked), database);
  return { definitions, leftOut: [...arriving.leftOut, ...undefinable] };
}

/** Every file of rows is one of a table that the definitions have. */
function assertKnownRows({ tables }: Definitions, data: Details['data']): void {
  const defined = new Set(tables.map(({ name }) => name));
  const unknown = Object.entries(data).find(([, { table }]) => !defined.has(table));
  if (!unknown) return;
  const [file, { table }] = unknown;
  throw refused({ what: `table ${table}` }, `the snapshot has rows of it (${file}), and no definition`);
}

function parseDefinitions(text: string): Definitions {
  try {
    return v.parse(definitionsSchema, JSON.parse(text));
  } catch (error) {
    throw new UserError('content_refused', `The snapshot's ${DEFINITIONS_FILE} is not valid`, {
      details: [error instanceof Error ? error.message : String(error)],
      hint: 'Nothing was changed. Build the snapshot again from a source you trust.',
    });
  }
}

/**
 * Fills an empty database: tables, their rows and indexes side by side, then what depends on several tables. The result
 * is the code that can be made.
 */
export async function fillDatabase(context: EngineContext, fill: FillOptions): Promise<FilledDatabase> {
  const { report } = context;
  const { url, plan, definitions, leftOut } = fill;
  const { fromBase = null } = fill;
  const amount = formatNumberOf(fromBase ? fromBase.tables : plan.tables.length, 'table');
  const what = fromBase ? `${amount} that differ from the base copy` : amount;
  const restored = startStep(report, 'restore', `${fromBase ? 'Load' : 'Restore'} ${what}`);
  await using session = await connect(context, url);
  await session.execute('SET foreign_key_checks = 0');
  const tables = withForeignKeys(withRowsToCome(definitions.tables, fill));
  await createSequences(session, definitions);
  let ways: TableWay[] | null = null;
  const [server] = await session.query<{ allowed: number }>('SELECT @@local_infile AS allowed');
  const loading = { ...fill, definitions: tables, localInfile: server?.allowed === 1 };
  if (fromBase) ways = await fromBase.fill(loading);
  else await loadTables(context, loading);
  const byRows = ways?.filter(({ way }) => way === 'rows').length ?? 0;
  restored(
    fromBase
      ? `Loaded ${amount}${byRows > 0 ? `, ${byRows} of them by rows` : ''}`
      : `Restored ${amount} and their indexes`,
  );

  const indexed = startStep(report, 'index', 'Create foreign keys, views, routines and triggers');
  const code = await createDependents(context, session, {
    definitions: { ...definitions, tables },
    leftOut,
    helper: fill.helper ?? null,
  });
  indexed('Created foreign keys, views, routines and triggers');
  return { code, ways };
}

export interface FilledDatabase {
  code: CodeDefinitions;
  /** The way of each table that differs; `null` for a full load. */
  ways: TableWay[] | null;
}

/** A table that stays empty, or nearly so, gets its indexes when it is made. */
function withRowsToCome(tables: TableDefinition[], { plan, details }: FillOptions): TableDefinition[] {
  const few = [...plan.empty, ...plan.tables.filter(hasFewRows)];
  const names = new Set(few.map(({ file }) => details.data[file.name]?.table));
  return tables.map((table) => (names.has(table.name) ? withIndexes(table) : table));
}

/**
 * Creates foreign keys, views and other code; but no events, since they would run. Returns the code that can be
 * created: views on tables that are left out may be impossible to create.
 */
export async function createDependents(
  context: Pick<EngineContext, 'report'>,
  session: MysqlSession,
  { definitions, leftOut, helper = null }: { definitions: Definitions; leftOut: string[]; helper?: Helper | null },
): Promise<CodeDefinitions> {
  const referring = definitions.tables.filter(({ foreignKeys }) => foreignKeys.length > 0);
  const { views: allViews, routines, triggers } = definitions;
  const total = referring.length + allViews.length + routines.length + triggers.length;
  const tell = (done: number): void =>
    context.report({ event: 'progress', step: 'index', done, total, unit: 'objects' });
  for (const [at, { name, foreignKeys }] of referring.entries()) {
    await alter(session, name, foreignKeys);
    tell(at + 1);
  }
  const doubtful = readersOf(definitions.views, leftOut);
  const views = definitions.views.filter((view) => !doubtful.includes(view));
  const code = { ...definitions, views, events: [], defaults: [] };
  const failed = failRestore('Cannot create a view, routine or trigger');
  const left = await createCode(session, code, { definers: 'mine', helper }).catch(failed);
  for (const warning of viewsNotCreated(left)) context.report(warning);
  const impossible = await createPossible(
    session,
    {
      ...definitions,
      ...{ routines: [], triggers: [], events: [], dangling: [], defaults: [] },
      views: doubtful,
    },
    helper,
  );
  reportLeftOutViews(context, impossible);
  if (total > 0) tell(total);
  const missing = [...left, ...impossible];
  const { tables: _, sequences: __, ...rest } = definitions;
  return { ...rest, views: definitions.views.filter((view) => !missing.includes(view)) };
}

/** Creates the views that can be created, in whatever order they need; returns the others. */
async function createPossible(session: MysqlSession, code: CodeDefinitions, helper: Helper | null): Promise<Code[]> {
  let left = code.views;
  for (let before = left.length + 1; left.length < before; ) {
    before = left.length;
    const failed: Code[] = [];
    for (const view of left) {
      const outcome = await createCode(session, { ...code, views: [view] }, { definers: 'mine', helper }).catch(
        (error) => {
          if (!(error instanceof SqlError)) throw error;
          return [view];
        },
      );
      failed.push(...outcome);
    }
    left = failed;
  }
  return left;
}

/** One after the other, with `foreign_key_checks = 0`. */
export async function createTables(session: MysqlSession, definitions: Definitions): Promise<void> {
  await createSequences(session, definitions);
  for (const table of inCreationOrder(definitions.tables).flat()) await makeTable(session, table);
}

/** Before tables, since the default of a column may draw from one. */
export async function createSequences(session: MysqlSession, { sequences }: Pick<Definitions, 'sequences'>) {
  const failed = failRestore('A sequence cannot be made');
  for (const { name, create, next } of sequences) {
    await session.execute(create).catch(failed);
    await session.execute(`DO SETVAL(${quoteName(name)}, ${BigInt(next)}, 0)`).catch(failed);
  }
}
