import * as v from 'valibot';
import { formatNumberOf } from '../../../amounts.ts';
import { EXIT, UserError } from '../../../errors.ts';
import { bytesOfTable, type Manifest } from '../../../snapshots/manifest.ts';
import type { EngineContext, RestoreRun } from '../../engine.ts';
import { checkDefinitions } from '../check-definitions.ts';
import { createCode } from '../code.ts';
import { connect } from '../connection/connect.ts';
import { quoteName, type Session, SqlError } from '../connection/session.ts';
import {
  type CodeDefinitions,
  type Definitions,
  definitionsSchema,
  type TableDefinition,
  withForeignKeys,
  withIndexes,
} from '../definitions.ts';
import { DEFINITIONS_FILE, type Details, detailsOf } from '../details.ts';
import { withDanglingApart } from '../foreign-keys.ts';
import { viewsNotCreated } from '../invalid-views.ts';
import { type Client, loadByProgram } from '../program/load-program.ts';
import { withSequencesOwn } from '../sequence-defaults.ts';
import { alter, loadTables } from './load-tables.ts';
import { restoreFailed } from './restore-failed.ts';

export interface Filling extends Pick<RestoreRun, 'url' | 'plan' | 'jobs' | 'read'> {
  details: Details;
  definitions: Definitions;
  /** Loads the rows of a snapshot that the vendor's program has written. */
  client?: Client | null;
}

/** The snapshot's definitions, from their object. */
export async function readDefinitionsFile(manifest: Manifest, read: RestoreRun['read']): Promise<Definitions> {
  const file = manifest.files.find(({ name }) => name === DEFINITIONS_FILE);
  if (!file) throw new Error(`the manifest names no ${DEFINITIONS_FILE}`);
  const parts: Uint8Array[] = [];
  for await (const part of read(file)) parts.push(part);
  const definitions = parseDefinitions(Buffer.concat(parts).toString('utf8'));
  const { database } = detailsOf(manifest);
  checkDefinitions(definitions, database);
  return withSequencesOwn(withDanglingApart(definitions), database);
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
 * Fills an empty database: tables, their rows and indexes side by side, then what depends on several tables. The result
 * is the code that can be made.
 */
export async function fillDatabase(context: EngineContext, fill: Filling): Promise<CodeDefinitions> {
  const { report } = context;
  const { url, plan, definitions } = fill;
  const amount = formatNumberOf(plan.tables.length, 'table');
  report({ event: 'step', step: 'restore', state: 'started', label: `Restore ${amount}` });
  await using session = await connect(context, url);
  await session.execute('SET foreign_key_checks = 0');
  const tables = withForeignKeys(withRowsToCome(definitions.tables, fill));
  await createTables(session, { ...definitions, tables });
  if (fill.client) {
    await loadByProgram(context, { ...fill, client: fill.client, definitions: tables });
  } else {
    const [server] = await session.query<{ allowed: number }>('SELECT @@local_infile AS allowed');
    await loadTables(context, { ...fill, definitions: tables, localInfile: server?.allowed === 1 });
  }
  report({ event: 'step', step: 'restore', state: 'done', label: `Restored ${amount} and their indexes` });

  report({ event: 'step', step: 'index', state: 'started', label: 'Make foreign keys, views, routines and triggers' });
  const code = await createDependents(context, session, { ...definitions, tables });
  report({ event: 'step', step: 'index', state: 'done', label: 'Made foreign keys, views, routines and triggers' });
  return code;
}

/** Up to so many bytes go into indexes row by row as fast as the indexes are built afterwards. */
const FEW_BYTES = 256 * 1024;

/** A table that stays empty, or nearly so, or is filled by a client, gets its indexes when it is made. */
function withRowsToCome(tables: TableDefinition[], { plan, details, client }: Filling): TableDefinition[] {
  if (client) return tables.map(withIndexes);
  const few = [...plan.empty, ...plan.tables.filter((table) => bytesOfTable(table) <= FEW_BYTES)];
  const names = new Set(few.map(({ file }) => details.data[file.name]?.table));
  return tables.map((table) => (names.has(table.name) ? withIndexes(table) : table));
}

/** What depends on several tables; events are not made, since they would run. The result is the code that can be made. */
export async function createDependents(
  { report }: Pick<EngineContext, 'report'>,
  session: Session,
  definitions: Definitions,
): Promise<CodeDefinitions> {
  for (const { name, foreignKeys } of definitions.tables) {
    if (foreignKeys.length > 0) await alter(session, name, foreignKeys);
  }
  const left = await createCode(session, { ...definitions, events: [], defaults: [] }, 'mine').catch((error) => {
    throw error instanceof SqlError
      ? restoreFailed('A view, routine or trigger cannot be made', [error.message])
      : error;
  });
  for (const warning of viewsNotCreated(left)) report(warning);
  return { ...definitions, views: definitions.views.filter((view) => !left.includes(view)) };
}

export async function createTables(session: Session, { sequences, tables }: Definitions): Promise<void> {
  try {
    // A column's default may draw from a sequence.
    for (const { name, create, next } of sequences) {
      await session.execute(create);
      await session.execute(`DO SETVAL(${quoteName(name)}, ${BigInt(next)}, 0)`);
    }
    for (const { create } of tables) await session.execute(create);
  } catch (error) {
    throw error instanceof SqlError ? restoreFailed('A table cannot be made', [error.message]) : error;
  }
}
