import { bytesOfTable, type ManifestTable } from '../../../../repository/manifest/manifest.ts';
import { UserError } from '../../../../runtime/errors.ts';
import type { EngineContext } from '../../../engine-context.ts';
import { restoreProgress } from '../../../shared/bytes-progress.ts';
import { restoreFailed } from '../../../shared/restore-failed.ts';
import { runTogether } from '../../../shared/run-together.ts';
import { connect } from '../../connection/connect.ts';
import { connectionEnvironment } from '../../connection/url.ts';
import type { WireAddress } from '../../connection/wire-login.ts';
import { profile } from '../../profile.ts';
import { batches } from './batches.ts';
import { COPY_FLAGS, COPY_SETTINGS, copyCommands, copyStatement, dataOf, pathOf } from './copy-commands.ts';
import { type Batch, openRowLoader } from './direct-rows.ts';
import type { RowsSoFar } from './early-indexes.ts';
import { assertFed, checkTags, copyCounts, feedTables, rowsDiffer, textOf } from './feed-tables.ts';
import type { FillRun } from './filling.ts';

/** Work beside the rows. */
interface LoadOptions {
  /** Work of a session that finds no more rows to load; resolves with `false` when there is none. */
  meanwhile?: (context: EngineContext, state: RowsSoFar) => Promise<boolean>;
  /** Takes tables that have all of their rows. */
  onLoaded?: (tables: ManifestTable[]) => void;
  /** For connections of our own; psql loads the rows without it. */
  address?: WireAddress | null;
}

/** Loads the rows, several tables or parts of one at once, the largest first, each straight from its compressed object. */
export async function loadTables(
  context: EngineContext,
  fill: FillRun,
  { meanwhile = async () => false, onLoaded = () => {}, address = null }: LoadOptions = {},
): Promise<void> {
  const { plan, cpus } = fill;
  const queue = batches(plan.tables, fill);
  const loaded = new Map<ManifestTable, number>();
  /** Tables of which a part could not be loaded. */
  const refused = new Set<ManifestTable>();
  const progress = restoreProgress(context.report, plan.tables, profile.rows.endBytes);
  let bytesLeft = plan.tables.reduce((sum, table) => sum + bytesOfTable(table), 0);
  const onBytes = (table: string, bytes: number): void => {
    bytesLeft -= bytes;
    progress(table, bytes);
  };
  const state: RowsSoFar = {
    isLoaded: (table) => loaded.get(table) === table.rows && !refused.has(table),
    bytesLeft: () => bytesLeft,
  };
  const worker = async (signal: AbortSignal): Promise<void> => {
    await loadRows(signal);
    while (!signal.aborted && (await meanwhile({ ...context, signal }, state)));
  };
  const loadRows = async (signal: AbortSignal): Promise<void> => {
    using loader = address && (await openRowLoader({ ...context, signal }, { fill, address }));
    for (let batch = queue.shift(); batch && !signal.aborted; batch = queue.shift()) {
      if (batch.some(({ table }) => refused.has(table))) continue;
      const read = new Map<string, number>();
      const onRead = (current: string, bytes: number): void => {
        read.set(current, (read.get(current) ?? 0) + bytes);
        onBytes(current, bytes);
      };
      const outcome = await (loader
        ? loader.load(batch, onRead)
        : loadBatch({ ...context, signal }, { fill, batch, onBytes: onRead }));
      if (Array.isArray(outcome)) {
        for (const [at, { table }] of batch.entries()) loaded.set(table, (loaded.get(table) ?? 0) + (outcome[at] ?? 0));
        onLoaded(batch.map(({ table }) => table).filter(state.isLoaded));
        continue;
      }
      if (!fill.errors) throw outcome;
      // The batch is one transaction: which of its tables can be loaded shows one at a time.
      for (const [table, bytes] of read) onBytes(table, -bytes);
      if (batch.length > 1) {
        queue.unshift(...batch.map((rows) => [rows]));
        continue;
      }
      for (const { table, isWhole } of batch) if (!isWhole) refused.add(table);
      fill.errors.push([outcome.message, ...outcome.details].join(': '));
    }
  };
  await runTogether(
    context.signal,
    Array.from({ length: Math.min(cpus, queue.length) }, () => worker),
  );
  checkSums(loaded, refused);
  await emptyTables(context, fill, refused);
}

/** A batch knows how many rows it must have only of whole tables. */
function checkSums(loaded: Map<ManifestTable, number>, refused: Set<ManifestTable>): void {
  const lines = [...loaded]
    .filter(([table, rows]) => !refused.has(table) && rows !== table.rows)
    .map(([{ name, rows }, sum]) => rowsDiffer(name, { loaded: sum, expected: rows }));
  if (lines.length > 0) throw restoreFailed('Not all rows were loaded', lines);
}

/** A table has all of its rows or none. */
async function emptyTables(
  context: EngineContext,
  { url, tools, settings, details }: FillRun,
  tables: Set<ManifestTable>,
): Promise<void> {
  if (tables.size === 0) return;
  await using session = await connect(context, url, { tools, settings });
  for (const table of tables) await session.execute(`TRUNCATE ONLY ${pathOf(dataOf(table, details))}`);
}

/** Exit codes of psql when the server has refused a command: an argument, or a line of its input. */
const REFUSED_BY_SERVER = new Set<number | null>([1, 3]);

/**
 * One psql for the batch, in one transaction. Resolves with the numbers of rows, or with what the server has refused: then
 * it has loaded nothing.
 */
async function loadBatch(context: EngineContext, { fill, batch, onBytes }: Batch): Promise<number[] | UserError> {
  const { url, tools, details, settings } = fill;
  const connection = connectionEnvironment(url, { ...settings, ...COPY_SETTINGS });
  const commands = copyCommands(
    batch.map((rows) => copyStatement(rows, details)),
    tools,
  );
  const args = [...COPY_FLAGS, '--single-transaction', ...commands.args, ...connection.args];
  const { signal } = context;
  const child = context.runner.start({ file: tools.psql, ...connection, args }, { signal });
  const said = textOf(child.stdout);
  const feeding = feedTables({ read: fill.read, batch, child, onBytes, commands });
  const [fed, ended] = await Promise.allSettled([feeding, child.ended]);
  // One COPY has ended for each table before the one that failed.
  const current = batch[copyCounts(said()).length] ?? batch[0];
  try {
    assertFed({ fed, ended, details, what: `The rows of ${current?.table.name} could not be loaded` });
  } catch (error) {
    const refused = ended.status === 'fulfilled' && REFUSED_BY_SERVER.has(ended.value.exitCode);
    if (refused && error instanceof UserError && error.code === 'restore_failed') return error;
    throw error;
  }
  return checkTags(said(), batch);
}
