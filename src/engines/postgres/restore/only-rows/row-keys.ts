import { filesOfTable, type ManifestTable } from '../../../../repository/manifest/manifest.ts';
import { release } from '../../../../repository/objects/release.ts';
import { UserError } from '../../../../runtime/errors.ts';
import type { RestoreRun, RowKeys } from '../../../facets/restore.ts';
import { notByKey } from '../../../shared/rows/only-rows.ts';
import { quoteName, quoteText } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import { SqlError } from '../../connection/session-errors.ts';
import type { ArchiveDetails } from '../../dump/archive.ts';
import { dataOf } from '../rows/copy-commands.ts';
import { storedRows } from '../rows/stored-rows.ts';
import { pathOf } from './statements.ts';

/** Types of which equal values have one text. */
const EXACT = new Set(['smallint', 'integer', 'bigint', 'uuid', 'text', 'character varying']);

export interface KeysRequest {
  tables: ManifestTable[];
  details: ArchiveDetails;
  /** The text of a person. */
  keys: string[];
}

/** Finds the column of the primary key, and the keys in the text that rows have. */
export async function readRowKeys(session: PostgresSession, { tables, details, keys }: KeysRequest): Promise<RowKeys> {
  const [table, ...others] = tables;
  if (!table || others.length > 0) throw notByKey('Keys are of one table', 'Name one table.');
  const data = dataOf(table, details);
  if (data.root) throw notByKey(`${table.name} is loaded through its partitioned table`, 'Leave --rows out.');
  const found = await session.query<{ name: string; type: string; exact: boolean }>(`
    SELECT a.attname AS name, format_type(a.atttypid, NULL) AS type, coalesce(l.collisdeterministic, true) AS exact
    FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey::int2[])
      LEFT JOIN pg_collation l ON l.oid = a.attcollation
    WHERE i.indisprimary AND i.indrelid = ${quoteText(pathOf(data))}::regclass AND array_position(i.indkey::int2[], a.attnum) < i.indnkeyatts`);
  const [column, ...more] = found;
  if (!column) throw notByKey(`${table.name} has no primary key`, 'Leave --rows out.');
  if (more.length > 0) {
    const names = found.map(({ name }) => name).join(', ');
    throw notByKey(`The primary key of ${table.name} has several columns: ${names}`, 'Leave --rows out.');
  }
  if (!EXACT.has(column.type) || !column.exact) {
    throw notByKey(`Keys of type ${column.type} cannot be compared by their text`, 'Leave --rows out.');
  }
  return { column: column.name, values: await asStored(session, keys, column.type) };
}

async function asStored(session: PostgresSession, keys: string[], type: string): Promise<string[]> {
  const foreign = keys.find((key) => !PRINTABLE.test(key));
  if (foreign !== undefined) throw notByKey(`The key ${JSON.stringify(foreign)} is not ASCII`, 'Leave --rows out.');
  try {
    const rows = await session.query<{ value: string }>(
      `SELECT (value::${type})::text AS value FROM json_array_elements_text(${quoteText(JSON.stringify(keys))}) AS value`,
    );
    return [...new Set(rows.map(({ value }) => value))];
  } catch (error) {
    if (!(error instanceof SqlError)) throw error;
    throw new UserError('usage', `A key of --rows is no ${type}`, { details: [error.message], hint: 'Correct it.' });
  }
}

const PRINTABLE = /^[\x20-\x7e]+$/;

export function keyCondition({ column, values }: RowKeys): string {
  return `${quoteName(column)} IN (${values.map(quoteText).join(', ')})`;
}

interface KeyedRows {
  read: RestoreRun['read'];
  table: ManifestTable;
  columns: string[];
  keys: RowKeys;
}

/** The stored rows with these keys, in the text of COPY. */
export async function readKeyedRows({ read, table, columns, keys }: KeyedRows): Promise<string[]> {
  const place = columns.indexOf(keys.column);
  const wanted = new Set(keys.values.map((value) => value.replaceAll('\\', '\\\\')));
  const found: string[] = [];
  for (const file of filesOfTable(table)) {
    let rest = '';
    for await (const chunk of storedRows(read, { table: table.name, file })) {
      const lines = (rest + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1')).split('\n');
      release(chunk);
      rest = lines.pop() ?? '';
      found.push(...lines.filter((line) => wanted.has(line.split('\t')[place] ?? '')));
    }
  }
  return found;
}
