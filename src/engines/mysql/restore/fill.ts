import * as v from 'valibot';
import { formatNumberOf } from '../../../amounts.ts';
import { EXIT, UserError } from '../../../errors.ts';
import type { Manifest } from '../../../snapshots/manifest.ts';
import type { EngineContext, RestoreRun } from '../../engine.ts';
import { checkDefinitions } from '../check-definitions.ts';
import { createCode } from '../code.ts';
import { connect } from '../connection/connect.ts';
import { quoteName, type Session, SqlError } from '../connection/session.ts';
import {
  type Code,
  type CodeDefinitions,
  type Definitions,
  definitionsSchema,
  type TableDefinition,
  withIndexes,
} from '../definitions.ts';
import { DEFINITIONS_FILE, type Details, detailsOf } from '../details.ts';
import { kindsOf } from '../table-kind.ts';
import { type Arriving, leaveOutRemote, readersOf, refuseUnplanned } from './left-out.ts';
import { alter, loadTables } from './load-tables.ts';
import { restoreFailed } from './restore-failed.ts';

export interface Filling extends Pick<RestoreRun, 'url' | 'plan' | 'jobs' | 'read'> {
  details: Details;
  definitions: Definitions;
  /** Tables of the snapshot that are not created. */
  leftOut: string[];
}

/** What of the snapshot's definitions is created, from their object: checked, and without remote tables unless they are wanted. */
export async function readDefinitionsFile(
  manifest: Manifest,
  read: RestoreRun['read'],
  { remoteTables = false }: Pick<RestoreRun, 'remoteTables'> = {},
): Promise<Arriving> {
  const file = manifest.files.find(({ name }) => name === DEFINITIONS_FILE);
  if (!file) throw new Error(`the manifest names no ${DEFINITIONS_FILE}`);
  const parts: Uint8Array[] = [];
  for await (const part of read(file)) parts.push(part);
  const parsed = parseDefinitions(Buffer.concat(parts).toString('utf8'));
  const { database, definitions_only: planned = [] } = detailsOf(manifest);
  if (remoteTables) refuseUnplanned(parsed, planned);
  const arriving = leaveOutRemote(parsed, { remoteTables });
  const defined = new Set(parsed.tables.map(({ name }) => name));
  const undefinable = planned.filter(({ table, remote }) => remote && !defined.has(table));
  checkDefinitions(arriving.definitions, database, new Set(remoteTables ? planned.map(({ table }) => table) : []));
  return { ...arriving, leftOut: [...arriving.leftOut, ...undefinable] };
}

function parseDefinitions(text: string): Definitions {
  try {
    return v.parse(definitionsSchema, JSON.parse(text));
  } catch (error) {
    throw new UserError(`The snapshot's ${DEFINITIONS_FILE} is not valid`, {
      code: 'definition_refused',
      exit: EXIT.refused,
      details: [error instanceof Error ? error.message : String(error)],
      hint: 'Nothing was changed. Build the snapshot again from a source you trust.',
    });
  }
}

/**
 * Fills an empty database: tables, their rows and indexes side by side, then what depends on several tables. Returns
 * the views that cannot be created without tables that are left out.
 */
export async function fillDatabase(context: EngineContext, fill: Filling): Promise<Code[]> {
  const { report } = context;
  const { url, plan, definitions, leftOut } = fill;
  const amount = formatNumberOf(plan.tables.length, 'table');
  report({ event: 'step', step: 'restore', state: 'started', label: `Restore ${amount}` });
  await using session = await connect(context, url);
  await session.execute('SET foreign_key_checks = 0');
  const tables = withRowsToCome(definitions.tables, fill);
  await createTables(session, { ...definitions, tables });
  const [server] = await session.query<{ allowed: number }>('SELECT @@local_infile AS allowed');
  await loadTables(context, { ...fill, definitions: tables, localInfile: server?.allowed === 1 });
  report({ event: 'step', step: 'restore', state: 'done', label: `Restored ${amount} and their indexes` });

  report({ event: 'step', step: 'index', state: 'started', label: 'Make foreign keys, views, routines and triggers' });
  const views = await createDependents(session, definitions, leftOut);
  report({ event: 'step', step: 'index', state: 'done', label: 'Made foreign keys, views, routines and triggers' });
  return views;
}

/** A table that stays empty gets its indexes when it is made: nobody comes to it again. */
function withRowsToCome(tables: TableDefinition[], { plan, details }: Filling): TableDefinition[] {
  const empty = new Set(plan.empty.map(({ file }) => details.data[file.name]?.table));
  return tables.map((table) => (empty.has(table.name) ? withIndexes(table) : table));
}

/**
 * What depends on several tables; events are not made, since they would run. Returns the views that cannot be created
 * without tables that are left out.
 */
export async function createDependents(session: Session, definitions: Definitions, leftOut: string[]): Promise<Code[]> {
  for (const { name, foreignKeys } of definitions.tables) {
    if (foreignKeys.length > 0) await alter(session, name, foreignKeys);
  }
  const doubtful = readersOf(definitions.views, leftOut);
  const views = definitions.views.filter((view) => !doubtful.includes(view));
  await createCode(session, { ...definitions, views, events: [] }, 'mine').catch((error) => {
    throw error instanceof SqlError
      ? restoreFailed('A view, routine or trigger cannot be made', [error.message])
      : error;
  });
  return createPossible(session, { ...definitions, routines: [], triggers: [], events: [], views: doubtful });
}

/** Creates the views that can be created, in whatever order they need; returns the others. */
async function createPossible(session: Session, code: CodeDefinitions): Promise<Code[]> {
  let left = code.views;
  for (let before = left.length + 1; left.length < before; ) {
    before = left.length;
    const failed: Code[] = [];
    for (const view of left) {
      await createCode(session, { ...code, views: [view] }, 'mine').catch((error) => {
        if (!(error instanceof SqlError)) throw error;
        failed.push(view);
      });
    }
    left = failed;
  }
  return left;
}

export async function createTables(session: Session, { sequences, tables }: Definitions): Promise<void> {
  try {
    // A column's default may draw from a sequence.
    for (const { name, create, next } of sequences) {
      await session.execute(create);
      await session.execute(`DO SETVAL(${quoteName(name)}, ${BigInt(next)}, 0)`);
    }
    // What MERGE tables list comes before them.
    const kinds = kindsOf(tables);
    const isMerged = ({ name }: TableDefinition): boolean => kinds.get(name) === 'merged';
    for (const { create } of tables.filter((table) => !isMerged(table))) await session.execute(create);
    for (const { create } of tables.filter(isMerged)) await session.execute(create);
  } catch (error) {
    throw error instanceof SqlError ? restoreFailed('A table cannot be made', [error.message]) : error;
  }
}
