import type { Definitions } from '../../catalog/definitions/definitions.ts';
import { traitsOf } from '../../catalog/table-traits.ts';
import { readTables } from '../../catalog/tables.ts';
import { quoteText, tablesIn } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { isPartitioned } from '../in-place/same-definitions.ts';
import { findUnwritten } from '../in-place/unwritten-tables.ts';
import { checksumOf } from '../row-checksum.ts';
import type { BaseRecord } from './base-record.ts';

export const WRITTEN = 'its tables were changed since that load';

export function ownTables({ tables }: Definitions): Definitions['tables'] {
  const traits = traitsOf(tables);
  return tables.filter(({ name }) => traits.get(name)?.storage === 'own');
}

/**
 * Returns why the tables no longer match the record, by the server's update times alone; `null` when these show no
 * change. `haveRows` reads the rows.
 */
export async function whyWritten(server: MysqlSession, database: string, { tables }: BaseRecord) {
  const { updated } = await readUpdated(server, database);
  const isAsBefore = (table: BaseRecord['tables'][number]): boolean => {
    const now = updated.get(table.name);
    return now === null || now === table.updated;
  };
  return tables.every(isAsBefore) ? null : WRITTEN;
}

/**
 * Engines whose update time changes only with a write. With others, such as ARCHIVE, it changes when a file is read or
 * flushed.
 */
const KNOWS_UPDATES = ['InnoDB', 'MyISAM', 'Aria'].map(quoteText).join(', ');

/**
 * Reads the server's clock, in seconds, and by table the time of its last write; `null` when the server has forgotten it,
 * as after a restart.
 */
export async function readUpdated(server: MysqlSession, database: string) {
  // First: a write within the second in which the times were read is then not of an earlier second than the clock.
  const [clock] = await server.query<{ now: string }>('SELECT CAST(NOW(0) AS CHAR) AS now');
  const rows = await server.query<{ name: string; updated: string | null }>(
    `SELECT TABLE_NAME AS name, IF(ENGINE IN (${KNOWS_UPDATES}), CAST(UPDATE_TIME AS CHAR), NULL) AS updated FROM information_schema.TABLES WHERE ${tablesIn(database)}`,
  );
  return { readAt: clock?.now ?? '', updated: new Map(rows.map(({ name, updated }) => [name, updated])) };
}

interface SpareTables {
  /** The database of the tables, and the one of the spare's record. */
  database: string;
  of: string;
  record: BaseRecord;
}

/** Reports whether the tables of a spare still contain the rows of its record: those that are not proved to be unwritten are read. */
export async function haveRows(server: MysqlSession, { database, of, record }: SpareTables): Promise<boolean> {
  const unwritten = await findUnwritten(server, { destination: database, database: of, base: record.id });
  const doubtful = record.tables.filter(({ name }) => !unwritten.has(name));
  if (doubtful.length === 0) return true;
  const partitioned = new Set(record.definitions.tables.filter(isPartitioned).map(({ name }) => name));
  const catalog = new Map((await readTables(server, database)).map((table) => [table.name, table]));
  for (const { name, checksum } of doubtful) {
    const table = catalog.get(name);
    // A sum says nothing about the partitions that rows are in.
    if (!table || partitioned.has(name) || (await checksumOf(server, database, { ...table, checksum })) !== checksum)
      return false;
  }
  return true;
}
