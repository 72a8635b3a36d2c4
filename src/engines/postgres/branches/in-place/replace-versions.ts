import { groupsOf } from '../../../shared/change-statements.ts';
import { restoreFailed } from '../../../shared/restore-failed.ts';
import { quoteName, quoteNumber, quoteText } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import type { ChangedVersions } from './find-changes.ts';
import { pathOf } from './missing-versions.ts';
import { quoteIds, type TableVersions } from './row-versions.ts';

/** Rows in a statement. */
const BATCH = 1000;

/** Deletes rows before others are inserted, since values may be unique; verifies the number of rows. */
export async function replaceVersions(
  session: PostgresSession,
  { table, deleted, inserted }: TableVersions & { table: ChangedVersions },
): Promise<void> {
  const path = pathOf(table);
  for (const ids of groupsOf(deleted, BATCH)) {
    await session.execute(`DELETE FROM ONLY ${path} WHERE ctid = ANY (${quoteIds(ids)})`);
  }
  const columns = await session.query<{ name: string }>(`
    SELECT attname AS name FROM pg_attribute
    WHERE attrelid = ${quoteNumber(table.oid)} AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum`);
  const names = columns.map(({ name }) => quoteName(name));
  for (const rows of groupsOf(inserted, BATCH)) {
    await session.execute(names.length === 0 ? emptyRows(path, rows) : filledRows(path, names, rows));
  }
  const [present] = await session.query<{ rows: number }>(`SELECT count(*) AS rows FROM ONLY ${path}`);
  if (present?.rows === table.rows) return;
  throw restoreFailed(`The rows of ${table.name} could not be reset`, [
    `${present?.rows ?? 0} rows are there, ${table.rows} should be`,
  ]);
}

function emptyRows(path: string, rows: string[]): string {
  return rows.map(() => `INSERT INTO ${path} DEFAULT VALUES`).join(';\n');
}

/** OFFSET keeps the server from reading a row once for each of its columns. */
function filledRows(path: string, names: string[], rows: string[]): string {
  return `INSERT INTO ${path} (${names.join(', ')}) OVERRIDING SYSTEM VALUE
    SELECT ${names.map((name) => `(r).${name}`).join(', ')}
    FROM (SELECT value::${path} AS r FROM json_array_elements_text(${quoteText(JSON.stringify(rows))}) AS value OFFSET 0) s`;
}
