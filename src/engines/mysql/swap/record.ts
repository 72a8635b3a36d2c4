import * as v from 'valibot';
import { tableExists } from '../catalog/tables.ts';
import { NO_SUCH_KEY } from '../connection/error-numbers.ts';
import { asTable, quotePath, quoteText } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { unless } from '../connection/session-errors.ts';

export interface RecordPlace {
  database: string;
  table: string;
}

/** With a key, which a server may require (`sql_require_primary_key`). */
const COLUMNS = '(id TINYINT NOT NULL PRIMARY KEY, json LONGTEXT NOT NULL) ENGINE = InnoDB CHARACTER SET utf8mb4';

/** Writes one JSON value into a new table, by one statement: a killed program leaves no table without a value. */
export async function writeRecord(server: MysqlSession, { database, table, value }: RecordPlace & { value: unknown }) {
  const json = quoteText(JSON.stringify(value));
  await server.execute(`CREATE TABLE ${quotePath(database, table)} ${COLUMNS} SELECT 1 AS id, ${json} AS json`);
}

/** An empty table is not a record. */
export async function makeRecordTable(server: MysqlSession, { database, table }: RecordPlace): Promise<void> {
  await server.execute(`CREATE TABLE ${quotePath(database, table)} ${COLUMNS}`);
}

/** `ER_BAD_FIELD_ERROR`, `ER_NO_SUCH_TABLE`: another table of this name, or none; or a view. */
const NOT_A_RECORD = [1054, 1146, NO_SUCH_KEY];

/** `null` when there is no such table, or when what it holds is no such value: then somebody else made it. */
export async function readRecord<const Schema extends v.GenericSchema>(
  server: MysqlSession,
  { database, table, schema }: RecordPlace & { schema: Schema },
): Promise<v.InferOutput<Schema> | null> {
  if (!(await tableExists(server, database, table))) return null;
  const select = `SELECT json FROM ${asTable(quotePath(database, table))} LIMIT 2`;
  const rows = await server.query<{ json: string }>(select).catch(unless(NOT_A_RECORD, []));
  const [row] = rows;
  if (!row || rows.length > 1) return null;
  return parseRecord(schema, row.json);
}

/** `null` for any other text. */
export function parseRecord<const Schema extends v.GenericSchema>(schema: Schema, text: string) {
  try {
    const parsed = v.safeParse(schema, JSON.parse(text));
    return parsed.success ? parsed.output : null;
  } catch {
    return null;
  }
}
