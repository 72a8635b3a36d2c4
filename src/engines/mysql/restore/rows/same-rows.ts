import { createHash } from 'node:crypto';
import { restoreFailed } from '../../../shared/restore-failed.ts';
import { readColumns } from '../../catalog/columns.ts';
import { inDatabase } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { selectOf } from '../../dump/row-select.ts';

export interface DoubtfulTable {
  /** Name of the table in messages. */
  name: string;
  table: string;
  columns: string[];
  /** Warnings of the server about the rows. */
  doubts: string[];
  /** The rows as they were sent. */
  sent: AsyncIterable<Uint8Array>;
}

const DOUBTS_TOLD = 5;
const LINE_FEED = 10;

/**
 * Rejects when the server did not take every value as it is. What it warned of may as well be an expression of a check
 * or a generated column: only the rows themselves tell. They are compared in no order.
 */
export async function compareRows(session: MysqlSession, doubted: DoubtfulTable): Promise<void> {
  const sent = await digestOf(doubted.sent);
  const own = await readColumns(session, `TABLE_SCHEMA = DATABASE() AND ${inDatabase('TABLE_NAME', doubted.table)}`);
  const types = new Map(own.map(({ name, type }) => [name, type]));
  const columns = doubted.columns.map((name) => ({ name, type: types.get(name) ?? '', generated: false }));
  const [current] = await session.query<{ name: string }>('SELECT DATABASE() AS name');
  const select = selectOf(current?.name ?? '', { name: doubted.table, columns, key: [] }, null);
  await session.execute('SET character_set_results = NULL');
  const stored = await digestOf(session.text(select, () => {}));
  await session.execute('SET character_set_results = utf8mb4');
  if (stored === sent) return;
  throw restoreFailed(
    `The server does not take values of ${doubted.name} as they are`,
    doubted.doubts.slice(0, DOUBTS_TOLD),
  );
}

/** The same for the same rows in whatever order: the sums of the parts of each row's hash. */
async function digestOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  const sums = new Uint32Array(8);
  let hash = createHash('sha256');
  let rows = 0;
  for await (const part of content) {
    let start = 0;
    for (let end = part.indexOf(LINE_FEED); end !== -1; end = part.indexOf(LINE_FEED, start)) {
      const row = hash.update(part.subarray(start, end)).digest();
      for (let at = 0; at < sums.length; at += 1) sums[at] = (sums[at] as number) + row.readUInt32LE(4 * at);
      hash = createHash('sha256');
      rows += 1;
      start = end + 1;
    }
    hash.update(part.subarray(start));
  }
  return `${rows} ${sums.join(' ')}`;
}
