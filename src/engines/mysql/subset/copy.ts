import { createRowSet } from '../../../subset/row-set.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { SubsetRun } from '../../facets/subset.ts';
import { type CopiedAmount, copyProgress } from '../../shared/bytes-progress.ts';
import type { TableDefinition } from '../catalog/definitions/definitions.ts';
import { nonGeneratedColumns, TEXT_TYPES } from '../catalog/tables.ts';
import { connect } from '../connection/connect.ts';
import { inSessions } from '../connection/in-sessions.ts';
import { asTable, quoteName, quotePath } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { alter, LOADING_SETTINGS, loadRows } from '../restore/rows/load-tables.ts';
import { compareRows } from '../restore/rows/same-rows.ts';
import { howTo } from './finder.ts';
import type { OpenSource } from './open-source.ts';
import { batchesOf, isKey, joinedBy, keyTable } from './rows.ts';
import type { SubsetTable } from './subset-catalog.ts';

export interface SubsetCopyOptions {
  source: OpenSource;
  run: SubsetRun;
  definitions: TableDefinition[];
}

interface Task {
  table: SubsetTable;
  rows: number;
}

/**
 * Pipes rows from one session to another, several tables at a time; indexes follow the rows. Returns rows by table.
 */
export async function copyRows(context: EngineContext, copying: SubsetCopyOptions): Promise<Map<string, number>> {
  const { source, run, definitions } = copying;
  const indexes = new Map(definitions.map((definition) => [definition.name, definition.indexes]));
  const queue = tasksOf(copying);
  const onMoved = copyProgress(context.report, new Map(queue.map(({ table, rows }) => [table.name, rows])));
  const counts = new Map<string, number>();
  await inSessions(context, {
    ...{ url: run.url, queue, sessions: source.sessions },
    async prepare(session) {
      for (const setting of LOADING_SETTINGS) await session.execute(setting);
    },
    async work(session, { table }) {
      const [server] = await session.query<{ allowed: number }>('SELECT @@local_infile AS allowed');
      const own = nonGeneratedColumns(table.catalog);
      const { name } = table;
      const into = { table: table.catalog.name, columns: own.map((column) => column.name) };
      const loaded = await source.withSession(async (reading) => {
        const content = contentOf(reading, { copying, table, onMoved: (moved) => onMoved(name, moved) });
        const texts = own.filter(({ type }) => TEXT_TYPES.has(type)).map((column) => column.name);
        const localInfile = server?.allowed === 1;
        const rows = await loadRows(session, { name, localInfile, rows: { ...into, texts, content } });
        if (rows.doubts.length > 0) {
          const sent = contentOf(reading, { copying, table, onMoved: () => {} });
          await compareRows(session, { name, ...into, doubts: rows.doubts, sent });
        }
        return rows.loaded;
      });
      counts.set(name, loaded);
      for (const clauses of indexes.get(table.catalog.name) ?? []) await alter(session, table.catalog.name, clauses);
    },
  });
  await buildOthers(context, copying, counts);
  return counts;
}

function tasksOf({ source: { catalog }, run: { plan, collected } }: SubsetCopyOptions): Task[] {
  return [...catalog.tables.values()]
    .flatMap((table): Task[] => {
      const all = plan.rules.get(table.name) === 'copy';
      const rows = all ? (plan.graph.tables.get(table.name)?.rows ?? 0) : (collected.taken.get(table.name)?.size ?? 0);
      return all || rows > 0 ? [{ table, rows }] : [];
    })
    .sort((a, b) => b.rows - a.rows);
}

async function buildOthers(
  context: EngineContext,
  { source, run, definitions }: SubsetCopyOptions,
  copied: Map<string, number>,
): Promise<void> {
  await using session = await connect(context, run.url);
  for (const { name, indexes } of definitions) {
    if (copied.has(`${source.database}.${name}`)) continue;
    for (const clauses of indexes) await alter(session, name, clauses);
  }
}

interface Content {
  copying: SubsetCopyOptions;
  table: SubsetTable;
  onMoved: (moved: CopiedAmount) => void;
}

/** Approximate bytes of rows in one SELECT. */
const BATCH_BYTES = 32 * 1024 * 1024;

async function* contentOf(session: MysqlSession, { copying: { source, run }, table, onMoved }: Content) {
  const { catalog, key, numbers } = table;
  const nulled = run.plan.nulled.get(table.name);
  const values = nonGeneratedColumns(catalog).map(({ name, type }) => {
    if (nulled?.has(name)) return 'NULL';
    // The server rounds FLOAT values as text.
    return type === 'float' ? `t.${quoteName(name)} + 0e0` : `t.${quoteName(name)}`;
  });
  const path = asTable(quotePath(source.database, catalog.name), 't');
  const select = `SELECT ${values.join(', ')} FROM`;
  async function* rowsOf(query: string): AsyncGenerator<Uint8Array> {
    let rows = 0;
    const count = (): void => {
      rows += 1;
    };
    for await (const block of session.text(query, count)) {
      onMoved({ rows, bytes: block.length });
      rows = 0;
      yield block;
    }
  }
  if (run.plan.rules.get(table.name) === 'copy') return yield* rowsOf(`${select} ${path}`);
  const most = Math.max(1, Math.floor((BATCH_BYTES * Math.max(1, catalog.rows)) / Math.max(1, catalog.bytes)));
  for (const keys of batchesOf(run.collected.taken.get(table.name) ?? createRowSet(), numbers, most)) {
    const query = `${select} ${keyTable(key, keys)} STRAIGHT_JOIN ${path} ON ${isKey(key, 't')}`;
    yield* rowsOf(joinedBy(howTo(table), query));
  }
}
