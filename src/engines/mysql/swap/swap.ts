import { startStep } from '../../../runtime/events.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { ReplaceResult, RestoreRun } from '../../facets/restore.ts';
import { copyRemains } from '../../shared/swap-incomplete.ts';
import type { MadeBase } from '../branches/base/base-copies.ts';
import { baseCopyState } from '../branches/base/base-record.ts';
import { branchMarkText, withoutSwitch } from '../branches/branch-mark.ts';
import { ownMark } from '../branches/last-switch.ts';
import type { Collations } from '../catalog/introspect.ts';
import { tablesOf } from '../catalog/tables.ts';
import { MARK } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { BASE, BRANCH, OUTDATED, RETIRED } from '../server/names.ts';
import { createDatabase, databaseExists, readAuxiliaryNames } from '../server/server.ts';
import { isAsMarked } from './change-mark.ts';
import { exchange, type RowsInstead, type Switch } from './exchange.ts';
import type { Rename } from './journal-schema.ts';
import { planRowExchange } from './row-exchange.ts';
import {
  createShadowDatabase,
  dropAuxiliaryDatabase,
  readMarkText,
  undoCopyOf,
  writeMark,
} from './shadow-databases.ts';
import { UNDO_COPY } from './undo-copy.ts';

export interface Swap extends Switch {
  /** The database beside the destination that holds the complete tables. */
  shadow: string;
  undo: boolean;
  /** Keeps what is replaced all the same, unless it is known to be as then. */
  unchangedSince?: RestoreRun['unchangedSince'];
  /** The database beside the destination that becomes its base copy, whether the present one remains, or none does. */
  base: MadeBase | 'present' | null;
  branch?: BranchSwap | undefined;
}

/** A branch with the destination's name is made or replaced. */
export interface BranchSwap {
  /** The destination that it is a branch of. */
  of: string;
  mark: string;
  /** Rejects when the database exists. */
  onlyNew?: (() => Error) | undefined;
}

/**
 * Gives the shadow tables the destination's place by renames in one statement: at every moment the destination's tables
 * are the old ones or the new ones. What is replaced is kept, or dropped after.
 */
export async function swapDatabases(context: EngineContext, swap: Swap): Promise<ReplaceResult> {
  const { server, url, shadow, code, unchangedSince } = swap;
  // What is replaced can be looked at only when nobody writes to it any more.
  const undo = swap.undo || unchangedSince !== undefined;
  const destination = url.database ?? '';
  const names = await readAuxiliaryNames(server, destination);
  const made = !(await databaseExists(server, destination));
  const { branch } = swap;
  if (branch?.onlyNew && !made) throw branch.onlyNew();
  const keep = undo && !made;
  const swapped = startStep(context.report, 'swap', `Switch ${destination} to the restored database`);
  if (keep && !(await databaseExists(server, names.undo))) {
    await createDatabase(server, { name: names.undo, collations: code });
  }
  // Before the journal's own tables are made, which stay there.
  const arriving = await tablesOf(server, shadow);
  const leaving = made ? [] : await tablesOf(server, destination);
  const undoTables = keep ? await tablesOf(server, names.undo) : [];
  // Not the shadow database: names of foreign keys, which move with their tables, are unique in a database.
  const retired = names.shadow();
  const branchOf = branch?.of;
  await createShadowDatabase(server, { name: retired, destination, collations: code, branchOf });
  const present = await ownMark(server, destination);
  const mark = branch?.mark ?? (present && branchMarkText({ ...withoutSwitch(present), snapshot: null }));
  const marks = mark === null ? [] : await planMark(server, { destination, work: shadow, retired, mark });
  const renames: Rename[] = [
    ...leaving.map((table, at): Rename => ({ from: [destination, table], to: [retired, `old-${at}`] })),
    ...arriving.map((table): Rename => ({ from: [shadow, table], to: [destination, table] })),
    ...marks,
  ];
  // The destination is complete without these.
  const later: Rename[] = keep
    ? [
        ...undoTables.map((table, at): Rename => ({ from: [names.undo, table], to: [shadow, `kept-${at}`] })),
        ...leaving.map((table, at): Rename => ({ from: [retired, `old-${at}`], to: [names.undo, table] })),
        { from: [shadow, UNDO_COPY], to: [names.undo, UNDO_COPY] },
      ]
    : [];
  // An older undo copy goes only when the caller wants none: a destination that was missing replaces nothing.
  const obsolete = undo || made || (await undoCopyOf(server, destination)) !== 'ours' ? null : names.undo;
  const older = { database: names.undo, tables: undoTables.filter((table) => table !== UNDO_COPY) };
  const plan = { destination, other: shadow, work: shadow, leaving, arriving, keep, older };
  // Rows that move are writes.
  const byRows = made || unchangedSince !== undefined ? null : await planRowExchange(server, plan);
  // The older undo copy, or what has taken its rows, becomes the new one.
  const moved = byRows?.keeper === shadow ? arriving : [];
  const rows: RowsInstead = {
    exchange: byRows,
    later: keep
      ? [
          ...(moved.length > 0 ? undoTables : undoTables.filter((table) => table === UNDO_COPY)).map(
            (table, at): Rename => ({ from: [names.undo, table], to: [retired, `kept-${at}`] }),
          ),
          ...moved.map((table): Rename => ({ from: [shadow, table], to: [names.undo, table] })),
          { from: [shadow, UNDO_COPY], to: [names.undo, UNDO_COPY] },
        ]
      : [],
  };
  const base = await planBase(context, server, { destination, made: swap.base, collations: code });
  rows.later.push(...base.renames, ...marks);
  later.push(...base.renames);
  const obsoleteAfter = [retired, ...base.obsolete];
  const way = { work: shadow, renames, later, rows, made, keep, obsolete, obsoleteAfter };
  const swapMs = await exchange(context, { ...swap, ...way });
  swapped(`Switched ${destination} to the restored database`);
  if (swap.undo || !keep) return { swapMs, undoDatabase: keep ? names.undo : null };
  const drops = await isAsMarked(server, names.undo, unchangedSince);
  if (!drops) context.report(copyRemains(destination, names.undo));
  const dropped = drops && (await dropAuxiliaryDatabase(context, server, { name: names.undo, destination }));
  return { swapMs, undoDatabase: dropped ? null : names.undo };
}

/** The mark of a branch changes with its tables. */
export async function planMark(
  server: MysqlSession,
  { destination, work, retired, mark }: { destination: string; work: string; retired: string; mark: string | null },
): Promise<Rename[]> {
  if (mark !== null) await writeMark(server, { database: work, table: BRANCH, comment: mark });
  const present = await readMarkText(server, destination);
  return [
    ...(present === null ? [] : [{ from: [destination, MARK], to: [retired, 'old-mark'] } satisfies Rename]),
    ...(mark === null ? [] : [{ from: [work, BRANCH], to: [destination, MARK] } satisfies Rename]),
  ];
}

/**
 * The tables of a new base copy take their place with the renames that end the swap, whole or not at all; the `obsolete`
 * databases are to be dropped when it is over.
 */
export async function planBase(
  context: EngineContext,
  server: MysqlSession,
  { destination, made, collations }: { destination: string; made: Swap['base']; collations: Collations },
) {
  if (made === 'present') return { renames: [], obsolete: [] };
  const { of, base, spare, shadow } = await readAuxiliaryNames(server, destination);
  const state = await baseCopyState(server, { database: base, of });
  const present = state === 'whole' ? await tablesOf(server, base) : [];
  const record = present.find((table) => table === BASE || table === OUTDATED);
  if (made === null) {
    const retire: Rename[] = record ? [{ from: [base, record], to: [base, RETIRED] }] : [];
    return { renames: retire, obsolete: record ? [spare, base] : [spare] };
  }
  if (state === 'remains') await dropAuxiliaryDatabase(context, server, { name: base, destination });
  if (state !== 'whole') await createDatabase(server, { name: base, collations });
  const old = shadow();
  const kept = new Set(made.kept);
  if (record) await createShadowDatabase(server, { name: old, destination, collations });
  return {
    renames: [
      ...present
        .filter((table) => !kept.has(table))
        .map((table, at): Rename => ({ from: [base, table], to: [old, `base-${at}`] })),
      ...(await tablesOf(server, made.database)).map(
        (table): Rename => ({ from: [made.database, table], to: [base, table] }),
      ),
    ],
    obsolete: [spare, made.database, ...(record ? [old] : [])],
  };
}

/** A reset to a base copy of the replaced database is as wrong as it is right when that is put back. */
export async function turnedBase(server: MysqlSession, destination: string): Promise<Rename[]> {
  const { of, base } = await readAuxiliaryNames(server, destination);
  if ((await baseCopyState(server, { database: base, of })) !== 'whole') return [];
  const present = await tablesOf(server, base);
  return present.includes(BASE)
    ? [{ from: [base, BASE], to: [base, OUTDATED] }]
    : [{ from: [base, OUTDATED], to: [base, BASE] }];
}
