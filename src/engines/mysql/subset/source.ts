import type { WarningEvent } from '../../../results/events.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { SubsetSource } from '../../facets/subset.ts';
import { createResourcePool } from '../../shared/run-together.ts';
import { sourceUnreadable } from '../../shared/source-unreadable.ts';
import { readServer } from '../catalog/introspect.ts';
import { readTables } from '../catalog/tables.ts';
import { connect } from '../connection/connect.ts';
import { EMPTY_QUERY } from '../connection/error-numbers.ts';
import { sourceWithoutDatabase, withExplainedErrors } from '../connection/explain-errors.ts';
import { asTable, quotePath, quoteText } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { SqlError, unless } from '../connection/session-errors.ts';
import { beginInstant } from '../dump/instant.ts';
import { makeSubset } from './build-subset.ts';
import { createIndex } from './destination.ts';
import { createFinder } from './finder.ts';
import { writtenValue } from './keys.ts';
import { type OpenSource, READING_SETTINGS } from './open-source.ts';
import { isKey, keyTable } from './rows.ts';
import { readSubsetCatalog, type SubsetCatalog, type SubsetTable } from './subset-catalog.ts';

export async function openSource(
  context: EngineContext,
  { url, cpus }: { url: DatabaseUrl; cpus: number },
): Promise<SubsetSource> {
  const { database } = url;
  if (database === null) throw sourceWithoutDatabase(url);
  const opened: MysqlSession[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(opened.map((session) => session.close()));
  };
  try {
    await using locking = await connect(context, url);
    while (opened.length < Math.max(1, cpus)) opened.push(await connect(context, url));
    const tables = (await readTables(locking, database)).map(({ name }) => name);
    const readers = await beginInstant(context, locking, { database, tables, readers: opened });
    const catalog = await readSubsetCatalog(locking, database);
    for (const reader of readers) {
      for (const setting of READING_SETTINGS) await reader.execute(setting).catch(unless([EMPTY_QUERY], null));
    }
    const pool = createResourcePool(readers);
    const withSession: OpenSource['withSession'] = (work) => withExplainedErrors({ context, url }, () => pool(work));
    const server = await readServer(locking);
    const open: OpenSource = { url, database, server, catalog, withSession, sessions: readers.length };
    return {
      facts: catalog.facts,
      superuserObjects: [],
      warnings: danglingWarnings(catalog),
      finder: async (graph, seed) => createFinder(graph, { database, catalog, withSession, seed }),
      createIndex,
      findRow: (table, key) => findRow(open, table, key),
      nameRow: (table, row) => nameRow(open, table, row),
      make: (run) => withExplainedErrors({ context, url: run.url }, () => makeSubset(context, open, run)),
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error instanceof SqlError ? sourceUnreadable(url, { cause: error, hint: RIGHTS_HINT }) : error;
  }
}

function danglingWarnings({ dangling }: SubsetCatalog): WarningEvent[] {
  const message = `Foreign keys to missing tables are ignored: ${dangling.join(', ')}`;
  return dangling.length === 0 ? [] : [{ event: 'warning', code: 'reference_dangling', message }];
}

const RIGHTS_HINT =
  'The user of subset.src_url needs the rights of a build: SELECT, SHOW VIEW, TRIGGER on the whole database.';

async function findRow({ database, catalog, withSession }: OpenSource, name: string, key: string[]) {
  const table = catalog.tables.get(name);
  if (!table || table.primaryKey.length !== key.length || key.length === 0) return null;
  const same = table.primaryKey.map((column, index) => `${writtenValue(column, 't')} = ${quoteText(key[index] ?? '')}`);
  const written = table.key.map((part, index) => `CAST(${part.out('t')} AS CHAR) AS c${index}`).join(', ');
  const [row] = await withSession((session) =>
    session.query<Record<string, string>>(
      `SELECT ${written} FROM ${asTable(quotePath(database, table.catalog.name), 't')} WHERE ${same.join(' AND ')}`,
    ),
  );
  return row ? table.numbers.numberOf(Object.values(row)) : null;
}

async function nameRow({ database, catalog, withSession }: OpenSource, name: string, row: number): Promise<string> {
  const table: SubsetTable | undefined = catalog.tables.get(name);
  if (!table) throw new Error(`the catalog has no table ${name}`);
  const key = table.numbers.keyOf(row);
  if (table.primaryKey.length === 0) return key.join(',');
  const written = table.primaryKey.map((column) => writtenValue(column, 't')).join(', ');
  const [found] = await withSession((session) =>
    session.query<{
      name: string;
    }>(`SELECT CONCAT_WS(',', ${written}) AS name FROM ${keyTable(table.key, [table.numbers.jsonOf(row)])}
      STRAIGHT_JOIN ${asTable(quotePath(database, table.catalog.name), 't')} ON ${isKey(table.key, 't')}`),
  );
  return found?.name ?? key.join(',');
}
