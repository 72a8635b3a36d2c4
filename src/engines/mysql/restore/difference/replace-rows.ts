import type { ManifestTable } from '../../../../repository/manifest/manifest.ts';
import { restoreFailed } from '../../../shared/restore-failed.ts';
import type { TableDifference } from '../../../shared/rows/compare-tables.ts';
import { asTable, quoteName } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';
import type { Details } from '../../details.ts';
import { countRows } from '../only-rows/references.ts';
import { loadRows } from '../rows/load-tables.ts';
import type { UsableKey } from './usable-key.ts';

export interface Replacement extends TableDifference {
  table: ManifestTable;
  key: UsableKey;
  data: Details['data'][string];
  localInfile: boolean;
}

/** Keys of the rows that differ; only this session sees it. */
const TOUCHED = quoteName('tool-touched');

/**
 * Replaces rows of a table in the database of the session, in one transaction: those that only the base copy has are
 * deleted before others are inserted, since two keys of different text can be equal. As many rows as were found must be
 * deleted, and exactly the keys of the snapshot be there afterwards. Resolves with what the server warns of.
 */
export async function replaceRows(session: MysqlSession, replacement: Replacement): Promise<string[]> {
  const { table, key, removed, added, data, localInfile } = replacement;
  const path = quoteName(data.table);
  const columns = key.columns.map((name, at) => `${quoteName(name)} AS k${at}`).join(', ');
  const isSame = key.columns.map((name, at) => `t.${quoteName(name)} = s.k${at}`).join(' AND ');
  const rows = { name: table.name, localInfile };
  // Before the transaction, which a definition would end. Some servers take no table without a primary key.
  await session.execute(
    `CREATE TEMPORARY TABLE ${TOUCHED} (place BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY) SELECT ${columns}, 0 AS is_old FROM ${asTable(path)} LIMIT 0`,
  );
  try {
    const keys = await loadRows(session, {
      ...rows,
      rows: {
        table: 'tool-touched',
        columns: [...key.columns.map((_, at) => `k${at}`), 'is_old'],
        texts: key.columns.flatMap((name, at) => (data.texts.includes(name) ? [`k${at}`] : [])),
        content: chunks(keysOf(replacement)),
      },
    });
    await session.execute('START TRANSACTION');
    const deleted =
      removed.length === 0
        ? 0
        : (
            await session.execute(
              `DELETE t FROM ${TOUCHED} s STRAIGHT_JOIN ${asTable(path, 't')} ON ${isSame} WHERE s.is_old = 1`,
            )
          ).rows;
    const inserted = await loadRows(session, {
      ...rows,
      rows: { ...data, content: chunks(added.map((row) => `${row}\n`)), inTransaction: true },
    });
    const distinct = key.columns.map((_, at) => `k${at}`).join(', ');
    const present = await countRows(
      session,
      `SELECT COUNT(*) AS amount FROM (SELECT DISTINCT ${distinct} FROM ${TOUCHED}) s STRAIGHT_JOIN ${asTable(path, 't')} ON ${isSame}`,
    );
    const lines = [
      ...(deleted === removed.length ? [] : [`${deleted} rows deleted, ${removed.length} differ`]),
      ...(inserted.loaded === added.length ? [] : [`${inserted.loaded} rows inserted, ${added.length} differ`]),
      ...(present === added.length ? [] : [`${present} of ${added.length} keys found`]),
    ];
    if (lines.length > 0) {
      const hint = 'The base copy is not what its snapshot says. To load all tables, add --full.';
      throw restoreFailed(`The rows of ${table.name} could not be replaced`, lines, hint);
    }
    await session.execute('COMMIT');
    return [...keys.doubts, ...inserted.doubts];
  } finally {
    await session.execute(`DROP TEMPORARY TABLE IF EXISTS ${TOUCHED}`).catch(() => {});
  }
}

/** Rows with the keys of those to delete and of those to insert. */
function* keysOf({ key, data, removed, added }: Replacement): Generator<string> {
  const places = key.columns.map((name) => data.columns.indexOf(name));
  const keyIn = (row: string): string => {
    const values = row.split('\t');
    return places.map((place) => values[place]).join('\t');
  };
  for (const row of removed) yield `${keyIn(row)}\t1\n`;
  for (const row of added) yield `${keyIn(row)}\t0\n`;
}

const CHUNK_CHARACTERS = 256 * 1024;

async function* chunks(lines: Iterable<string>): AsyncGenerator<Buffer> {
  let chunk = '';
  for (const line of lines) {
    chunk += line;
    if (chunk.length < CHUNK_CHARACTERS) continue;
    yield Buffer.from(chunk, 'latin1');
    chunk = '';
  }
  if (chunk !== '') yield Buffer.from(chunk, 'latin1');
}
