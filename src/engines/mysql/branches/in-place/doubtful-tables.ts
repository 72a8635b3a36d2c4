import { formatNumberOf } from '../../../../text/format.ts';
import type { BaseCopy } from '../../../facets/copies.ts';
import { type CatalogTable, readTables } from '../../catalog/tables.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { readAuxiliaryNames } from '../../server/server.ts';
import { findBaseRecord } from '../base/base-record.ts';
import { type ComparedTable, incomparableColumn } from './differing-rows.ts';
import { compareDefinitions, type SameDefinitions } from './same-definitions.ts';
import { findUnwritten, type TableStates, type Unwritten } from './unwritten-tables.ts';

export interface DatabaseToReset {
  /** The destination, or a branch of it. */
  database: string;
  destination: string;
  /** Its present base copy. */
  base: Pick<BaseCopy, 'snapshot' | 'loadedAt'>;
}

export interface DoubtfulTables extends SameDefinitions {
  /** The one to reset. */
  database: string;
  /** Database of the base copy, and `id` of its record. */
  base: string;
  id: string;
  /** The database, where it is that of a branch. */
  branch: string | undefined;
  /** Tables that may have other rows than the base copy, or have another counter. */
  compared: ComparedTable[];
  /** The others, which are proved to have its rows. */
  unwritten: TableStates;
}

/** Bytes up to which, and share of all bytes up to which, a comparison is tried: it takes at most two thirds of the time of a copy. */
const FEW_BYTES = 1024 * 1024 * 1024;
const FEW = 0.2;

/** Finds the tables that a reset in place compares, or why there is none: definitions differ, or a table does not permit it. */
export async function findDoubtfulTables(
  server: MysqlSession,
  { database, destination, base: { snapshot, loadedAt } }: DatabaseToReset,
  seen: Unwritten | null = null,
): Promise<DoubtfulTables | string> {
  const { of, base } = await readAuxiliaryNames(server, destination);
  const { record } = (await findBaseRecord(server, { database: base, of })) ?? {};
  if (record?.snapshot !== snapshot || record.loaded_at !== loadedAt) return 'the base copy is of another state';
  const cluster = await server.query<{ Value: string }>("SHOW VARIABLES LIKE 'wsrep_on'");
  if (cluster.some(({ Value: value }) => value === 'ON')) return 'a cluster locks tables on one server only';
  const same = await compareDefinitions(server, database, record);
  if (typeof same === 'string') return same;
  const catalog = await readTables(server, database);
  const recorded = new Map(record.tables.map((table) => [table.name, table]));
  const unfit = catalog.find(
    ({ name, engine, isVersioned }) => !recorded.has(name) || engine !== 'InnoDB' || isVersioned,
  );
  if (unfit || catalog.length !== record.definitions.tables.length)
    return `${unfit?.name ?? 'a table'} is no InnoDB table without versions`;
  const branch = database === destination ? undefined : database;
  const unwritten = await findUnwritten(server, {
    destination: database,
    database: base,
    base: record.id,
    branch,
    seen,
  });
  const isCompared = ({ name }: CatalogTable): boolean => !unwritten.has(name) || same.counters.has(name);
  const doubtful = catalog.filter(isCompared);
  const why = whyNotCompared(doubtful, same) ?? whyMany(doubtful, catalog);
  if (why !== null) return why;
  const compared = doubtful.map((table, at): ComparedTable => {
    const { rows = 0, checksum = null } = recorded.get(table.name) ?? {};
    return { ...table, base, database, rows, checksum, at };
  });
  const others = catalog.flatMap((table) => {
    const state = isCompared(table) ? undefined : unwritten.get(table.name);
    return state ? [[table.name, state] as const] : [];
  });
  return { ...same, database, base, branch, id: record.id, compared, unwritten: new Map(others) };
}

function whyNotCompared(tables: CatalogTable[], { searched }: SameDefinitions): string | null {
  for (const table of tables) {
    const { name, key } = table;
    if (key.length === 0) return `${name} may have changed, and has no primary key`;
    if (searched.has(name)) return `${name} may have changed, and has a FULLTEXT index`;
    const column = incomparableColumn(table);
    if (column) return `${name} may have changed, and has a column of type ${column.type}`;
  }
  return null;
}

function whyMany(doubtful: CatalogTable[], all: CatalogTable[]): string | null {
  const bytesOf = (tables: CatalogTable[]): number => tables.reduce((sum, { bytes }) => sum + bytes, 0);
  const bytes = bytesOf(doubtful);
  if (bytes <= FEW_BYTES || bytes <= FEW * bytesOf(all)) return null;
  return `${formatNumberOf(doubtful.length, 'table')} may have changed, which is too much to compare`;
}
