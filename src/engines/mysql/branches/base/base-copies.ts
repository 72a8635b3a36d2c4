import { randomUUID } from 'node:crypto';
import { startStep } from '../../../../runtime/events.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { BaseCopies, BaseCopy } from '../../../facets/copies.ts';
import { restoreFailed } from '../../../shared/restore-failed.ts';
import { checkDefinitions } from '../../catalog/definitions/check-definitions.ts';
import type { Definitions } from '../../catalog/definitions/definitions.ts';
import { readDefinitions } from '../../catalog/definitions/read-definitions.ts';
import { withSequencesOwn } from '../../catalog/definitions/sequence-defaults.ts';
import { withForeignKeys, withIndexes } from '../../catalog/definitions/statement-text.ts';
import { traitsOf } from '../../catalog/table-traits.ts';
import { type CatalogTable, readSize } from '../../catalog/tables.ts';
import { connect } from '../../connection/connect.ts';
import { inSessions } from '../../connection/in-sessions.ts';
import { quoteName, tablesIn } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { withDatabase } from '../../connection/url.ts';
import type { BaseContents } from '../../restore/difference/contents.ts';
import { createSequences } from '../../restore/rows/fill.ts';
import { alter, makeTables } from '../../restore/rows/load-tables.ts';
import { analyzeTables } from '../../restore/statistics.ts';
import { BASE } from '../../server/names.ts';
import { databaseExists, readAuxiliaryNames } from '../../server/server.ts';
import type { Dependents } from '../../swap/exchange.ts';
import { writeRecord } from '../../swap/record.ts';
import { createShadowDatabase } from '../../swap/shadow-databases.ts';
import { type CopyRowsResult, copyRows } from '../copy-rows.ts';
import { provableStates, recordUnwritten } from '../in-place/unwritten-tables.ts';
import { checksumOf } from '../row-checksum.ts';
import { ownTables, readUpdated, WRITTEN, whyWritten } from './base-changes.ts';
import { type BaseRecord, findBaseRecord, readBaseRecord } from './base-record.ts';

/** Base copy and spare of a destination, each with whether a reset may use it. */
export async function findBaseCopies(server: MysqlSession, destination: string): Promise<BaseCopies> {
  const names = await readAuxiliaryNames(server, destination);
  const { of } = names;
  const { table, record = null } = (await findBaseRecord(server, { database: names.base, of })) ?? {};
  const exists = await databaseExists(server, destination);
  const written = record && (await whyWritten(server, names.base, record));
  const baseOutdated = written ?? (table === BASE && exists ? null : REPLACED);
  const base = record && (await describe(server, { name: names.base, record, outdated: baseOutdated }));
  const ofSpare = await readBaseRecord(server, { database: names.spare, table: BASE, of });
  if (!ofSpare) return { base, spare: null };
  const outdated =
    ofSpare.id === record?.id && baseOutdated === null ? await whyWritten(server, names.spare, ofSpare) : REPLACED;
  return { base, spare: await describe(server, { name: names.spare, record: ofSpare, outdated }) };
}

const REPLACED = 'the destination was replaced since that load, by another load, an undo or a rename';

interface CopyDescription {
  name: string;
  record: BaseRecord;
  outdated: string | null;
}

async function describe(server: MysqlSession, { name, record, outdated }: CopyDescription): Promise<BaseCopy> {
  const { snapshot, loaded_at: loadedAt, partial } = record;
  const closed = outdated !== WRITTEN;
  return { name, snapshot, loadedAt, partial, sizeBytes: await readSize(server, name), outdated, closed };
}

function copyChanged(database: string, table: string): Error {
  return restoreFailed(`The table ${table} of ${database} was changed since the load that made it`, []);
}

export interface BaseCopyOptions {
  spare: boolean;
  snapshot: string | null;
  partial: boolean;
  contents?: BaseContents;
  /** Tables of the present base copy that the new database was found to have as they are. */
  kept?: () => BaseRecord['tables'];
}

/** Tables of a new base copy; it has those of the present one besides that are kept. */
export interface MadeBase {
  database: string;
  kept: string[];
}

interface MakeCopiesRequest {
  url: DatabaseUrl;
  /** The complete database beside the destination. */
  shadow: string;
  base: BaseCopyOptions;
  dependents: Dependents;
}

/** Makes a database with the rows of the new one, and the record of everything else; the swap gives it its name. */
export async function createBase(
  context: EngineContext,
  server: MysqlSession,
  { url, shadow, base, dependents: { code, definers, histograms } }: MakeCopiesRequest,
): Promise<MadeBase> {
  const destination = url.database ?? '';
  const { of, base: name, shadow: newName } = await readAuxiliaryNames(server, destination);
  const created = startStep(context.report, 'base', `Create the base copy ${name}`);
  const read = await readDefinitions(server, shadow, () => {});
  // A snapshot may spell names otherwise than the server.
  const { tables, sequences } = withSequencesOwn(read, shadow);
  const definitions: Definitions = { ...code, tables, sequences };
  const to = newName();
  await createShadowDatabase(server, { name: to, destination, collations: code });
  const shadowUrl = withDatabase(url, to);
  // Before the rows are compared: a later write to the new database is seen by a reset in place.
  const early = await provableStates(server, shadow);
  const kept = new Map((base.kept?.() ?? []).map((table) => [table.name, table]));
  const made = ownTables(definitions).filter(({ name: table }) => !kept.has(table));
  const own = made.map((table) => ({ ...table, indexes: [], foreignKeys: [] }));
  await makeWithoutDefaults(context, server, { url: shadowUrl, definitions: { ...definitions, tables: own } });
  const compare = async (session: MysqlSession, { table, checksum }: CopiedTable): Promise<void> => {
    if (checksum !== (await checksumOf(session, shadow, { ...table, checksum })))
      throw restoreFailed(`The base copy has other rows than the load in ${table.name}`, []);
  };
  const late: CopiedTable[] = [];
  const rows = await copyRows(context, {
    url,
    from: shadow,
    to,
    tables: own.map((table) => ({ name: table.name, checksum: null })),
    async copied(session, table, { checksum }) {
      if (early.has(table.name)) await compare(session, { table, checksum });
      else late.push({ table, checksum });
    },
  });
  // By now there is evidence for most of the others, too. Tables that were compared before keep theirs.
  const states = new Map([...(await provableStates(server, shadow)), ...early]);
  await inSessions(context, { url: withDatabase(url, shadow), queue: late, work: compare });
  const record: Omit<BaseRecord, 'read_at' | 'tables'> = {
    ...{ of, id: randomUUID(), snapshot: base.snapshot, partial: base.partial, definitions, definers, histograms },
    loaded_at: context.clock().toISOString(),
    ...(base.contents && { contents: base.contents }),
  };
  await writeCopyRecord(server, { database: to, record, rows, kept: [...kept.values()] });
  await recordUnwritten(server, { database: to, base: record.id, states });
  created(`Created the base copy ${name}`);
  return { database: to, kept: [...kept.keys()] };
}

interface CopiedTable {
  table: CatalogTable;
  checksum: string;
}

/** A default from a sequence would name the database in which the table was made. */
async function makeWithoutDefaults(
  context: EngineContext,
  server: MysqlSession,
  { url, definitions }: { url: DatabaseUrl; definitions: Definitions },
): Promise<void> {
  const { defaults = [], sequences, tables } = definitions;
  await using session = await connect(context, url);
  if (defaults.length > 0) await createSequences(session, definitions);
  await makeTables(context, { url, cpus: SESSIONS, definitions: tables });
  if (defaults.length === 0) return;
  const own = new Map((await readColumns(server, url.database ?? '')).map((each) => [each.name, each.columns]));
  for (const [table, columns] of own) {
    const drops = columns.map((column) => `ALTER COLUMN ${quoteName(column)} DROP DEFAULT`);
    await session.execute(`ALTER TABLE ${quoteName(table)} ${drops.join(', ')}`);
  }
  for (const { name } of sequences) await session.execute(`DROP SEQUENCE ${quoteName(name)}`);
}

async function readColumns(server: MysqlSession, database: string): Promise<{ name: string; columns: string[] }[]> {
  const rows = await server.query<{ table_: string; name: string }>(
    `SELECT TABLE_NAME AS table_, COLUMN_NAME AS name FROM information_schema.COLUMNS WHERE ${tablesIn(database)} AND COLUMN_DEFAULT LIKE '%val(%'`,
  );
  return [...Map.groupBy(rows, ({ table_ }) => table_)].map(([name, columns]) => ({
    name,
    columns: columns.map((column) => column.name),
  }));
}

const SESSIONS = 4;

interface CopyRecord {
  database: string;
  record: Omit<BaseRecord, 'read_at' | 'tables'>;
  rows: Map<string, CopyRowsResult>;
  kept?: BaseRecord['tables'];
}

export async function writeCopyRecord(server: MysqlSession, { database, record, rows, kept = [] }: CopyRecord) {
  const { readAt, updated } = await readUpdated(server, database);
  const copies = [...rows].map(([name, copied]) => ({ name, ...copied, updated: updated.get(name) ?? null }));
  const tables = [...kept, ...copies];
  const value: BaseRecord = { ...record, read_at: readAt, tables };
  await writeRecord(server, { database, table: BASE, value });
}

interface FillCopyRequest {
  url: DatabaseUrl;
  /** An empty database. */
  to: string;
  base: { name: string; record: BaseRecord };
  /** A spare is filled last, so that the server knows when its tables were written to. */
  rowsLast: boolean;
}

/** Tables, rows, indexes and foreign keys as after the load; rejects when the base copy has other rows by now. */
export async function fillFromBase(
  context: EngineContext,
  { url, to, base: { name, record }, rowsLast }: FillCopyRequest,
): Promise<Map<string, CopyRowsResult>> {
  const traits = [...traitsOf(record.definitions.tables)];
  const remote = traits.flatMap(([table, { storage }]) => (storage === 'remote' ? [table] : []));
  const definitions = checkDefinitions(record.definitions, null, new Set(remote));
  const shadowUrl = withDatabase(url, to);
  await using session = await connect(context, shadowUrl);
  await session.execute('SET foreign_key_checks = 0');
  await createSequences(session, definitions);
  const rowsOf = new Map(record.tables.map((table) => [table.name, table]));
  const isSmall = ({ name: table }: { name: string }): boolean => (rowsOf.get(table)?.rows ?? 0) <= FEW_ROWS;
  const tables = withForeignKeys(
    definitions.tables.map((table) => (rowsLast || isSmall(table) ? withIndexes(table) : table)),
  );
  await makeTables(context, { url: shadowUrl, cpus: SESSIONS, definitions: tables });
  const addKeys = async (): Promise<void> => {
    for (const { name: table, foreignKeys } of tables) {
      if (foreignKeys.length > 0) await alter(session, table, foreignKeys);
    }
  };
  if (rowsLast) await addKeys();
  const indexes = new Map(tables.map((table) => [table.name, table.indexes]));
  const copied = await copyRows(context, {
    ...{ url, from: name, to, tables: record.tables },
    async copied(copying, table, { rows, checksum }) {
      const before = rowsOf.get(table.name);
      if (before?.checksum == null || checksum !== before.checksum || rows !== before.rows)
        throw copyChanged(name, table.name);
      for (const clauses of indexes.get(table.name) ?? []) await alter(copying, table.name, clauses);
    },
  });
  if (!rowsLast) await addKeys();
  await analyzeTables(context, { url: shadowUrl, sessions: SESSIONS, histograms: record.histograms });
  return copied;
}

/** Tables up to which indexes are made with the table. */
const FEW_ROWS = 2000;
