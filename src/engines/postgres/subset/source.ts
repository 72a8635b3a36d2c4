import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { SubsetSource } from '../../facets/subset.ts';
import { createResourcePool } from '../../shared/run-together.ts';
import { sourceUnreadable } from '../../shared/source-unreadable.ts';
import { readRemoteObjects, remoteText } from '../catalog/foreign-tables.ts';
import {
  readExtensions,
  readLocale,
  readReplication,
  readSchemas,
  replicationWarnings,
} from '../catalog/introspect.ts';
import { connect } from '../connection/connect.ts';
import { withExplainedErrors } from '../connection/explain-errors.ts';
import { quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import { SqlError } from '../connection/session-errors.ts';
import { findClientTools, toolsForServer } from '../connection/tools.ts';
import { readDatabaseSettings, settingsToKeep } from '../dump/dump-source.ts';
import { beginInstant } from '../dump/instant.ts';
import { readSuperuserObjects } from '../dump/superuser-objects.ts';
import { makeSubset } from './build-subset.ts';
import { createIndex } from './destination.ts';
import { createFinder } from './finder.ts';
import { largeObjectsWarning } from './large-objects.ts';
import { FURTHER_READING_SETTINGS, type OpenSource, READING_SETTINGS } from './open-source.ts';
import { assertRowNumbers, placeOf, rowNumber } from './rows.ts';
import { keyText, readSubsetCatalog } from './subset-catalog.ts';

/** Later transactions import the snapshot of the first one. */
export async function openSource(
  context: EngineContext,
  { url, cpus }: { url: DatabaseUrl; cpus: number },
): Promise<SubsetSource> {
  const installed = await findClientTools(context);
  const sessions: PostgresSession[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(sessions.map((session) => session.close()));
  };
  try {
    const first = await connect(context, url, { settings: READING_SETTINGS, tablesOnly: true });
    sessions.push(first);
    const [row] = await first.query<{ version: string; page: number }>(
      `SELECT split_part(current_setting('server_version'), ' ', 1) AS version, current_setting('block_size')::int AS page`,
    );
    const version = row?.version ?? '';
    const tools = toolsForServer(installed, version);
    // VACUUM FULL or TRUNCATE would move the rows.
    const snapshot = await beginInstant(first, null);
    const catalog = await readSubsetCatalog(first);
    assertRowNumbers(catalog.tables.values(), row?.page ?? 0);
    while (sessions.length < cpus) {
      const other = await connect(context, url, { tools, settings: FURTHER_READING_SETTINGS, tablesOnly: true });
      sessions.push(other);
      await other.execute('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      await other.execute(`SET TRANSACTION SNAPSHOT ${quoteText(snapshot)}`);
    }
    const replication = await readReplication(first);
    const remote = await readRemoteObjects(first);
    const pool = createResourcePool(sessions);
    const withSession: OpenSource['withSession'] = (work) => withExplainedErrors({ context, url }, () => pool(work));
    const open: OpenSource = {
      ...{ url, snapshot, tools, catalog, withSession },
      locale: await readLocale(first, tools.major < 15 ? tools.major : Number.parseInt(version, 10)),
      settings: settingsToKeep(await readDatabaseSettings(first), context.report),
      largeObjects: await countLargeObjects(first),
      remote,
      extensions: await readExtensions(first),
      schemas: await readSchemas(first),
    };
    const schemas = open.schemas.map(({ name }) => name);
    return {
      facts: catalog.facts,
      superuserObjects: await readSuperuserObjects(first, schemas),
      warnings: [
        ...largeObjectsWarning(open.largeObjects, catalog.facts.tables),
        ...(remoteText(remote) === '' ? [] : [remoteLeftOut(remote)]),
        ...replicationWarnings(replication).map(({ code, message }) => ({ code, message })),
      ],
      finder: (graph, seed) => createFinder(graph, { catalog, withSession, seed }),
      createIndex,
      findRow: (table, key) => findRow(open, table, key),
      nameRow: (table, number) => nameRow(open, table, number),
      make: (run) => withExplainedErrors({ context, url: run.url }, () => makeSubset(context, open, run)),
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error instanceof SqlError ? sourceUnreadable(url, { cause: error, hint: RIGHTS_HINT }) : error;
  }
}

function remoteLeftOut(remote: OpenSource['remote']): SubsetSource['warnings'][number] {
  const message = `Not created in the subset, with the objects that depend on them, because the rows are outside the database: ${remoteText(remote)}`;
  return { code: 'remote_tables_left_out', message };
}

const RIGHTS_HINT =
  'The user of subset.src_url needs SELECT on every table: GRANT pg_read_all_data TO … (PostgreSQL 14 or newer).';

async function countLargeObjects(session: PostgresSession): Promise<number> {
  const [row] = await session.query<{ count: number }>('SELECT count(*) FROM pg_largeobject_metadata');
  return row?.count ?? 0;
}

async function findRow({ catalog, withSession }: OpenSource, name: string, key: string[]): Promise<number | null> {
  const table = catalog.tables.get(name);
  if (!table || table.primaryKey.length !== key.length || key.length === 0) return null;
  const condition = table.primaryKey.map((column, index) => `${keyText(column)} = ${quoteText(key[index] ?? '')}`);
  const [row] = await withSession((session) =>
    session.query<{ oid: number; place: string }>(
      `SELECT tableoid::int8 AS oid, ctid::text AS place FROM ${table.fromNamed} WHERE ${condition.join(' AND ')}`,
    ),
  );
  const leaf = table.leaves.find(({ oid }) => oid === row?.oid);
  const [page, line] = row?.place.slice(1, -1).split(',') ?? [];
  return leaf ? rowNumber(leaf, { page: Number(page), line: Number(line) }) : null;
}

async function nameRow({ catalog, withSession }: OpenSource, name: string, number: number): Promise<string> {
  const table = catalog.tables.get(name);
  const { leaf, ctid } = placeOf(number, table?.leaves ?? []);
  if (!table || table.primaryKey.length === 0) return ctid;
  const key = table.primaryKey.map(keyText);
  const [row] = await withSession((session) =>
    session.query<{ key: string }>(
      `SELECT concat_ws(',', ${key.join(', ')}) AS key FROM ${leaf.from} WHERE ctid = ${quoteText(ctid)}`,
    ),
  );
  return row?.key ?? ctid;
}
