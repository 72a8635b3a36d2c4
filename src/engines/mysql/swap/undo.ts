import { UserError } from '../../../runtime/errors.ts';
import { startStep } from '../../../runtime/events.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { ReplaceResult, UndoCopy } from '../../facets/restore.ts';
import { baseFollows } from '../branches/base/base-follows.ts';
import { type BranchMark, branchMarkText, parseBranchMark, withoutSwitch } from '../branches/branch-mark.ts';
import { assertRowsOf, type LastSwitch, lastSwitch, ownMark } from '../branches/last-switch.ts';
import { switchTables } from '../branches/switch-tables.ts';
import { readSize, tablesOf } from '../catalog/tables.ts';
import { connectToServer, withServer } from '../connection/connect.ts';
import { releasable } from '../connection/keep-alive.ts';
import type { MysqlSession } from '../connection/session.ts';
import { inspectDestination } from '../restore/inspect-destination.ts';
import { undoRows } from '../restore/only-rows/undo-rows.ts';
import { databaseExists, lockDestination, readAuxiliaryNames } from '../server/server.ts';
import { exchange, type Switch } from './exchange.ts';
import { assertNoForeignReferences } from './foreign-references.ts';
import { findUnsettled } from './journal.ts';
import type { Rename } from './journal-schema.ts';
import { settleAfterFailure, sweepLeftovers } from './leftovers.ts';
import { readRecord } from './record.ts';
import { planRowExchange } from './row-exchange.ts';
import { createShadowDatabase, undoCopyOf } from './shadow-databases.ts';
import { planMark, turnedBase } from './swap.ts';
import { type RowsOf, UNDO_COPY, type UndoCopyRecord, type UndoTable, undoCopySchema } from './undo-copy.ts';

/** Finds the undo copy of the last load, reset or switch; rejects when there is none. */
export async function findUndoCopy(context: EngineContext, url: DatabaseUrl): Promise<UndoCopy> {
  const { destination } = await inspectDestination(context, url);
  await using server = await connectToServer(context, url);
  const { name, replacedAt, sizeOf, rows } = await findReplaced(server, url);
  const tables = rows && { tables: rows.map((table) => table.name) };
  return { undoDatabase: name, replacedAt, sizeBytes: await readSize(server, sizeOf), destination, ...tables };
}

interface UndoCopyFacts {
  name: string;
  replacedAt: string;
  /** The database that has its tables now. */
  sizeOf: string;
  /** It has these rows only, of this branch. */
  rows?: UndoTable[] | undefined;
  rowsOf?: RowsOf | null | undefined;
}

async function findReplaced(server: MysqlSession, url: DatabaseUrl): Promise<UndoCopyFacts> {
  const destination = url.database ?? '';
  const reverted = await lastSwitch(server, destination);
  const { database } = reverted?.before ?? {};
  if (reverted && database) return { name: database, replacedAt: reverted.switchedAt, sizeOf: database };
  const { undo } = await readAuxiliaryNames(server, destination);
  // A swap that was interrupted after its tables moved: the command ends it first.
  const unsettled = await findUnsettled(server, destination);
  const replaced = unsettled?.journal.later?.find(({ to }) => to[0] === undo && to[1] !== UNDO_COPY);
  const record =
    unsettled && (await readRecord(server, { database: unsettled.work, table: UNDO_COPY, schema: undoCopySchema }));
  if (record) {
    const sizeOf = replaced?.from[0] ?? undo;
    return { name: undo, replacedAt: record.replaced_at, sizeOf, rows: record.rows, rowsOf: record.rows_of };
  }
  const { replaced_at: replacedAt, rows, rows_of: rowsOf } = await readUndoCopy(server, url);
  await assertRowsOf(server, url, rowsOf);
  return { name: undo, replacedAt, sizeOf: undo, rows, rowsOf };
}

/**
 * Swaps the destination with what is kept for it, so that undoing twice is as doing nothing. A branch that the
 * destination was switched to gets its own name again.
 */
export async function undo(context: EngineContext, url: DatabaseUrl): Promise<ReplaceResult> {
  const { report } = context;
  const destination = url.database ?? '';
  const { rows, rowsOf } = await withServer(context, url, (reading) => findReplaced(reading, url));
  if (rows) return await undoRows(context, { url, tables: rows, rowsOf });
  const { signal, release } = releasable(context.signal);
  await using server = await connectToServer({ signal }, url, { several: true });
  const names = await readAuxiliaryNames(server, destination);
  await lockDestination(server, destination);
  await sweepLeftovers(context, { server, url });
  const reverted = await lastSwitch(server, destination);
  if (reverted) return await revertSwitch(context, { server, url, begun: release, reverted });
  const undoCopy = await readUndoCopy(server, url);
  const { code, grants } = undoCopy;
  await assertNoForeignReferences(server, destination);
  const swapped = startStep(report, 'swap', `Restore the previous ${destination}`);
  const made = !(await databaseExists(server, destination));
  const work = names.shadow();
  await createShadowDatabase(server, { name: work, destination, collations: code });
  const leaving = made ? [] : await tablesOf(server, destination);
  const arriving = (await tablesOf(server, names.undo)).filter((table) => table !== UNDO_COPY);
  const aside = (at: number): [string, string] => [work, `tool-aside-${at}`];
  const marks = await planUndoCopyMark(server, { destination, work, undoCopy });
  const renames: Rename[] = [
    ...leaving.map((table, at): Rename => ({ from: [destination, table], to: aside(at) })),
    ...arriving.map((table): Rename => ({ from: [names.undo, table], to: [destination, table] })),
    ...marks,
  ];
  const records: Rename[] = [
    { from: [names.undo, UNDO_COPY], to: [work, 'tool-retired'] },
    ...(made ? [] : [{ from: [work, UNDO_COPY], to: [names.undo, UNDO_COPY] } satisfies Rename]),
  ];
  const turned = await turnedBase(server, destination);
  const back = leaving.map((table, at): Rename => ({ from: aside(at), to: [names.undo, table] }));
  try {
    const tables = { leaving, arriving };
    const rows = made
      ? null
      : await planRowExchange(server, { destination, other: names.undo, work, keep: true, ...tables });
    const swapMs = await exchange(context, {
      server,
      begun: release,
      url,
      work,
      renames,
      later: [...records, ...back, ...turned],
      rows: { exchange: rows, later: [...records, ...turned, ...marks] },
      made,
      code,
      definers: 'theirs',
      keep: !made,
      obsolete: made ? names.undo : null,
      obsoleteAfter: [],
      ...(grants && { grants }),
    });
    swapped(`Restored the previous ${destination}`);
    return { swapMs, undoDatabase: made ? null : names.undo };
  } catch (error) {
    await server.close();
    throw await settleAfterFailure(context, url, error);
  }
}

interface RevertRequest extends Pick<Switch, 'server' | 'url' | 'begun'> {
  reverted: LastSwitch;
}

async function revertSwitch(
  context: EngineContext,
  { server, url, begun, reverted: { leaving, before } }: RevertRequest,
): Promise<ReplaceResult> {
  const { database, branch } = before;
  const destination = url.database ?? '';
  for (const own of [leaving.database, branch?.database]) if (own) await lockDestination(server, own);
  const undoCopy = branch ? null : await readUndoCopy(server, url);
  const swapped = startStep(context.report, 'swap', `Restore the previous ${destination}`);
  const mark = branch ? branch.mark : undoCopyMark(undoCopy);
  const swapMs = await switchTables(context, {
    ...{ server, begun, url, leaving, keepsRights: false },
    from: { database, undoCopy },
    mark: mark && { ...mark, database: branch?.database ?? mark.database },
    base: await baseFollows(server, destination, undoCopy ? { undoCopy } : { mark: mark ?? leaving }),
  });
  swapped(`Restored the previous ${destination}`);
  return { swapMs, undoDatabase: null };
}

/** The mark of what is kept, in whose place no switch can be reverted any more. */
function undoCopyMark(undoCopy: UndoCopyRecord | null): BranchMark | null {
  const mark = undoCopy?.mark ? parseBranchMark(undoCopy.mark) : null;
  return mark && withoutSwitch(mark);
}

async function planUndoCopyMark(
  server: MysqlSession,
  { destination, work, undoCopy }: { destination: string; work: string; undoCopy: UndoCopyRecord },
): Promise<Rename[]> {
  const mark = undoCopyMark(undoCopy);
  if (!mark && !(await ownMark(server, destination))) return [];
  return planMark(server, { destination, work, retired: work, mark: mark && branchMarkText(mark) });
}

async function readUndoCopy(server: MysqlSession, url: DatabaseUrl): Promise<UndoCopyRecord> {
  const destination = url.database ?? '';
  if ((await undoCopyOf(server, destination)) === 'ours') {
    const database = (await readAuxiliaryNames(server, destination)).undo;
    const record: UndoCopyRecord | null = await readRecord(server, {
      database,
      table: UNDO_COPY,
      schema: undoCopySchema,
    });
    if (record) return record;
  }
  throw new UserError('nothing_to_undo', `No previous version of ${url.display} to restore`, {
    hint: 'The last load replaced nothing, or ran with --no-undo.',
  });
}
