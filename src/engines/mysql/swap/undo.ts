import { UserError } from '../../../runtime/errors.ts';
import { startStep } from '../../../runtime/events.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { ReplaceResult, UndoCopy } from '../../facets/restore.ts';
import { baseFollows } from '../branches/base-follows.ts';
import { type BranchMark, branchMarkText, parseBranchMark, withoutSwitch } from '../branches/branch-mark.ts';
import { type LastSwitch, lastSwitch, ownMark } from '../branches/last-switch.ts';
import { takePlace } from '../branches/switch-tables.ts';
import { readSize, tablesOf } from '../catalog/tables.ts';
import { connectToServer } from '../connection/connect.ts';
import { releasable } from '../connection/keep-alive.ts';
import type { MysqlSession } from '../connection/session.ts';
import { inspectDestination } from '../restore/preflight.ts';
import { databaseExists, lockDestination, namesBeside } from '../server/server.ts';
import { exchange } from './exchange.ts';
import { refuseForeignReferences } from './foreign-references.ts';
import { findUnsettled } from './journal.ts';
import type { Rename } from './journal-schema.ts';
import { settleAfterFailure, sweepLeftovers } from './leftovers.ts';
import { readRecord } from './record.ts';
import { planRowExchange } from './row-exchange.ts';
import { createBeside, undoCopyOf } from './shadow-databases.ts';
import { planMark, turnedBase } from './swap.ts';
import { KEPT, type KeptRecord, keptSchema } from './undo-copy.ts';

/** Finds the undo copy of the last load, reset or switch; rejects when there is none. */
export async function findKept(context: EngineContext, url: DatabaseUrl): Promise<UndoCopy> {
  const { destination } = await inspectDestination(context, url);
  await using server = await connectToServer(context, url);
  const { name, replacedAt, sizeOf } = await findReplaced(server, url);
  return { undoDatabase: name, replacedAt, sizeBytes: await readSize(server, sizeOf), destination };
}

interface UndoCopyFacts {
  name: string;
  replacedAt: string;
  /** The database that has its tables now. */
  sizeOf: string;
}

async function findReplaced(server: MysqlSession, url: DatabaseUrl): Promise<UndoCopyFacts> {
  const destination = url.database ?? '';
  const reverted = await lastSwitch(server, destination);
  const { database } = reverted?.before ?? {};
  if (reverted && database) return { name: database, replacedAt: reverted.switchedAt, sizeOf: database };
  const { undo } = await namesBeside(server, destination);
  // A swap that was interrupted after its tables moved: the command ends it first.
  const unsettled = await findUnsettled(server, destination);
  const replaced = unsettled?.journal.later?.find(({ to }) => to[0] === undo && to[1] !== KEPT);
  const record = unsettled && (await readRecord(server, { database: unsettled.work, table: KEPT, schema: keptSchema }));
  if (record) return { name: undo, replacedAt: record.replaced_at, sizeOf: replaced?.from[0] ?? undo };
  const { replaced_at: replacedAt } = await readKept(server, url);
  return { name: undo, replacedAt, sizeOf: undo };
}

/**
 * Swaps the destination with what is kept for it, so that undoing twice is as doing nothing. A branch that the
 * destination was switched to gets its own name again.
 */
export async function undo(context: EngineContext, url: DatabaseUrl): Promise<ReplaceResult> {
  const { report } = context;
  const destination = url.database ?? '';
  const { signal, release } = releasable(context.signal);
  await using server = await connectToServer({ signal }, url, { several: true });
  const names = await namesBeside(server, destination);
  await lockDestination(server, destination);
  await sweepLeftovers(context, { server, url });
  const reverted = await lastSwitch(server, destination);
  if (reverted) return await revertSwitch(context, { server, url, begun: release, reverted });
  const kept = await readKept(server, url);
  const { code, grants } = kept;
  await refuseForeignReferences(server, destination);
  const swapped = startStep(report, 'swap', `Restore the previous ${destination}`);
  const made = !(await databaseExists(server, destination));
  const work = names.fresh();
  await createBeside(server, { name: work, destination, collations: code });
  const leaving = made ? [] : await tablesOf(server, destination);
  const arriving = (await tablesOf(server, names.undo)).filter((table) => table !== KEPT);
  const aside = (at: number): [string, string] => [work, `tool-aside-${at}`];
  const marks = await planKeptMark(server, { destination, work, kept });
  const renames: Rename[] = [
    ...leaving.map((table, at): Rename => ({ from: [destination, table], to: aside(at) })),
    ...arriving.map((table): Rename => ({ from: [names.undo, table], to: [destination, table] })),
    ...marks,
  ];
  const records: Rename[] = [
    { from: [names.undo, KEPT], to: [work, 'tool-retired'] },
    ...(made ? [] : [{ from: [work, KEPT], to: [names.undo, KEPT] } satisfies Rename]),
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

interface RevertRequest {
  server: MysqlSession;
  url: DatabaseUrl;
  begun: () => void;
  reverted: LastSwitch;
}

async function revertSwitch(
  context: EngineContext,
  { server, url, begun, reverted: { leaving, before } }: RevertRequest,
): Promise<ReplaceResult> {
  const { database, branch } = before;
  const destination = url.database ?? '';
  for (const own of [leaving.database, branch?.database]) if (own) await lockDestination(server, own);
  const kept = branch ? null : await readKept(server, url);
  const swapped = startStep(context.report, 'swap', `Restore the previous ${destination}`);
  const mark = branch ? branch.mark : keptMark(kept);
  const swapMs = await takePlace(context, {
    ...{ server, begun, url, leaving, keepsRights: false },
    from: { database, kept },
    mark: mark && { ...mark, database: branch?.database ?? mark.database },
    base: await baseFollows(server, destination, kept ? { kept } : { mark: mark ?? leaving }),
  });
  swapped(`Restored the previous ${destination}`);
  return { swapMs, undoDatabase: null };
}

/** The mark of what is kept, in whose place no switch can be reverted any more. */
function keptMark(kept: KeptRecord | null): BranchMark | null {
  const mark = kept?.mark ? parseBranchMark(kept.mark) : null;
  return mark && withoutSwitch(mark);
}

async function planKeptMark(
  server: MysqlSession,
  { destination, work, kept }: { destination: string; work: string; kept: KeptRecord },
): Promise<Rename[]> {
  const mark = keptMark(kept);
  if (!mark && !(await ownMark(server, destination))) return [];
  return planMark(server, { destination, work, retired: work, mark: mark && branchMarkText(mark) });
}

async function readKept(server: MysqlSession, url: DatabaseUrl): Promise<KeptRecord> {
  const destination = url.database ?? '';
  if ((await undoCopyOf(server, destination)) === 'ours') {
    const database = (await namesBeside(server, destination)).undo;
    const record: KeptRecord | null = await readRecord(server, { database, table: KEPT, schema: keptSchema });
    if (record) return record;
  }
  throw new UserError('nothing_to_undo', `No previous version of ${url.display} to restore`, {
    hint: 'The last load replaced nothing, or ran with --no-undo.',
  });
}
