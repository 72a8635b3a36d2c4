import type { ManifestTable } from '../../../../repository/manifest/manifest.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { DifferencePlan, RestoreRun, TableWay } from '../../../facets/restore.ts';
import { restoreFailed } from '../../../shared/restore-failed.ts';
import { type ComparedTables, compareTables, type TableDifference } from '../../../shared/rows/compare-tables.ts';
import { whyWritten } from '../../branches/base/base-changes.ts';
import { type BaseRecord, readBaseRecord } from '../../branches/base/base-record.ts';
import { type CopyRowsResult, copyRows } from '../../branches/copy-rows.ts';
import type { TableDefinition } from '../../catalog/definitions/definitions.ts';
import { connect } from '../../connection/connect.ts';
import { quoteName } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { BASE } from '../../server/names.ts';
import { readAuxiliaryNames } from '../../server/server.ts';
import type { RowsFromBase } from '../rows/fill.ts';
import {
  alter,
  dataOf,
  LOADING_SETTINGS,
  type LoadTablesOptions,
  loadTables,
  rowsOf,
  verifyDoubts,
} from '../rows/load-tables.ts';
import { counterOf } from '../stored-table.ts';
import { earlierTables } from './contents.ts';
import { compareContents, keyOf } from './plan-difference.ts';
import { replaceRows } from './replace-rows.ts';

/** The base copy that the tables of a load are taken from. */
export interface FromBase {
  /** The user of the load, who may read the base copy. */
  url: DatabaseUrl;
  name: string;
  record: BaseRecord;
  planned: DifferencePlan;
  earlier: RestoreRun['earlier'] | undefined;
  /** The definitions of the snapshot, before the load divides them. */
  definitions: TableDefinition[];
}

/** Finds the base copy of a plan, under the lock; rejects where it is no longer the planned one. */
export async function openBase(
  server: MysqlSession,
  opening: Pick<FromBase, 'url' | 'planned' | 'earlier' | 'definitions'>,
): Promise<FromBase> {
  const { url, planned } = opening;
  const { of, base: name } = await readAuxiliaryNames(server, url.database ?? '');
  const record = await readBaseRecord(server, { database: name, table: BASE, of });
  const isPlanned = record?.loaded_at === planned.loadedAt && record.snapshot === planned.snapshot;
  if (record && isPlanned && (await whyWritten(server, name, record)) === null) return { ...opening, name, record };
  throw restoreFailed(`The base copy ${name} is no longer that of the plan`, [], 'Run the load again.');
}

/** Returns what fills the tables of a load; `onReused` gets the tables of the base copy that are taken as they are. */
export function rowsFromBase(
  context: EngineContext,
  from: FromBase,
  onReused: (tables: BaseRecord['tables']) => void,
): RowsFromBase {
  return {
    tables: from.planned.ways.length,
    async fill(loading) {
      const { ways, reused } = await fillDifference(context, loading, from);
      onReused(reused);
      return ways;
    },
  };
}

/**
 * Makes the tables of a load from those of the base copy: rows are copied by the server, those that differ are replaced
 * by their keys, and tables that must be are loaded whole.
 */
async function fillDifference(
  context: EngineContext,
  loading: LoadTablesOptions,
  { url, name, record, planned, earlier, definitions }: FromBase,
): Promise<{ ways: TableWay[]; reused: BaseRecord['tables'] }> {
  const { plan, details } = loading;
  const byName = new Map(definitions.map((table) => [table.name, table]));
  const indexes = new Map(loading.definitions.map((table) => [table.name, table.indexes]));
  const differing = new Map(planned.ways.map((way) => [way.table, way]));
  assertAsPlanned({ ...loading, definitions }, record, differing);
  const compared = await compareTables(context, {
    ...{ planned, tables: plan.tables, read: loading.read, most: MOST },
    rows: (read, { file }) => rowsOf({ read, details }, file),
    async earlier() {
      const found = planned.snapshot === null ? null : await earlier?.(planned.snapshot);
      return found ? earlierTables(found) : null;
    },
  });
  const replaced = new Map(compared.differences.map((one) => [one.table.name, one]));
  const whole = plan.tables.filter(({ name: table }) => differing.has(table) && !replaced.has(table));
  await loadTables(context, { ...loading, plan: { ...plan, tables: whole } });
  const left = new Set(whole.map(({ name: table }) => table));
  const fromBase = new Map(
    plan.tables.filter((table) => !left.has(table.name)).map((table) => [dataOf(loading, table).table, table]),
  );
  const before = new Map(record.tables.map((table) => [table.name, table]));
  await copyRows(context, {
    ...{ url, from: name, to: loading.url.database ?? '' },
    tables: [...fromBase.keys()].map((table) => ({ name: table, checksum: before.get(table)?.checksum ?? null })),
    async copied(session, { name: copied }, found) {
      assertAsRecorded(name, { table: copied, found, before: before.get(copied) });
      const [table, definition] = [fromBase.get(copied), byName.get(copied)];
      if (!table || !definition) throw new Error(`the load has no table ${copied}`);
      const difference = replaced.get(table.name);
      const key = difference ? keyOf(table, { details, byName }) : null;
      if (difference && !key) throw new Error(`${table.name} has no key`);
      if (difference && key?.isPrimary) await replaceIn(context, { loading, difference, key, definition });
      for (const clauses of indexes.get(copied) ?? []) await alter(session, copied, clauses);
      if (difference && key && !key.isPrimary) await replaceIn(context, { loading, difference, key, definition });
    },
  });
  return {
    ways: planned.ways.map((way) => wayOf(way, compared, replaced.get(way.table))),
    reused: record.tables.filter(({ name: table, updated }) => {
      const taken = fromBase.get(table);
      // One that was written to within the second of its record is copied again: its time would prove nothing later.
      const isProved = updated === null || updated < record.read_at;
      return taken !== undefined && !differing.has(taken.name) && isProved;
    }),
  };
}

/** The rows are replaced before the indexes are built. Figures: test/bench/README.md. */
const MOST = { removed: 0.25, added: 0.5 };

/** The definitions were verified with their file, and may be others than those of the plan. */
function assertAsPlanned(
  { plan, details, definitions }: LoadTablesOptions,
  record: BaseRecord,
  ways: Map<string, TableWay>,
): void {
  const { contents } = record;
  const { tables } = plan;
  const compared = contents && compareContents({ record, contents, details, definitions, tables });
  const isSame = ({ name }: ManifestTable): boolean => compared?.sameColumns.has(name) ?? false;
  const unplanned = tables.filter((table) =>
    ways.get(table.name)?.way === 'whole'
      ? false
      : !isSame(table) || (!ways.has(table.name) && compared?.differing.includes(table)),
  );
  if (unplanned.length === 0) return;
  const names = unplanned.map(({ name }) => name);
  throw restoreFailed('Tables are no longer as when the load was planned', names, 'Run the load again.');
}

interface RecordedCopy {
  table: string;
  found: CopyRowsResult;
  before: BaseRecord['tables'][number] | undefined;
}

function assertAsRecorded(database: string, { table, found, before }: RecordedCopy): void {
  if (before && before.checksum === found.checksum && before.rows === found.rows) return;
  const hint = 'To load all tables, add --full.';
  throw restoreFailed(`The table ${table} of ${database} was changed since the load that made it`, [], hint);
}

interface TableReplacement {
  loading: LoadTablesOptions;
  difference: TableDifference;
  key: NonNullable<ReturnType<typeof keyOf>>;
  definition: TableDefinition;
}

/** With the rights of the user that restores the content. */
async function replaceIn(
  { signal }: Pick<EngineContext, 'signal'>,
  { loading, difference, key, definition }: TableReplacement,
): Promise<void> {
  const { table } = difference;
  const data = dataOf(loading, table);
  await using session = await connect({ signal }, loading.url);
  for (const setting of LOADING_SETTINGS) await session.execute(setting);
  const doubts = await replaceRows(session, { ...difference, key, data, localInfile: loading.localInfile });
  await verifyDoubts(session, { loading, table, doubts });
  // Rows of the base copy may have had higher values.
  const counter = counterOf(definition.create);
  if (counter !== '1' || /\bAUTO_INCREMENT\b/.test(definition.create)) {
    await session.execute(`ALTER TABLE ${quoteName(data.table)} AUTO_INCREMENT = ${BigInt(counter)}`);
  }
}

function wayOf(way: TableWay, { whole }: ComparedTables, difference: TableDifference | undefined): TableWay {
  const { table, reason, bytes } = way;
  if (!difference) return { table, way: 'whole', reason: whole.get(table) ?? reason, bytes };
  const changed = { deleted: difference.removed.length, inserted: difference.added.length };
  return { table, way: 'rows', reason, bytes, changed };
}
