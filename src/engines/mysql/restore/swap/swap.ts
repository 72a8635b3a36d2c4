import { performance } from 'node:perf_hooks';
import { redact } from '../../../../process/redact.ts';
import { startStep } from '../../../../runtime/events.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { Replaced } from '../../../facets/restore.ts';
import { ownMark } from '../../branches/leave.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { withDatabase } from '../../connection/url.ts';
import { checkCode } from '../../definitions/check-definitions.ts';
import type { Definers } from '../../definitions/code.ts';
import type { CodeDefinitions } from '../../definitions/definitions.ts';
import { readBelongings } from '../../definitions/foreign-keys.ts';
import { listCode } from '../../definitions/read-definitions.ts';
import { type Collations, readServer } from '../../introspect.ts';
import { readNameCase } from '../../name-case.ts';
import { BASE, BRANCH, besideNames, OUTDATED, RETIRED } from '../../names.ts';
import { MARK, quotePath, tablesIn } from '../../quote.ts';
import { createDatabase, databaseExists, destinationName, mayNotCreate, verifyLock } from '../../server/server.ts';
import { baseCopyNames, baseCopyState, readBaseRecord } from '../base-record.ts';
import { createBeside, dropBeside, readMarkText, undoCopyOf, writeMark } from '../beside.ts';
import { branchMarkText, withoutSwitch } from '../branch-mark.ts';
import { maySetDefiner } from '../definers.ts';
import { dropStatement, foreignReferences, refuseForeignReferences } from '../foreign-references.ts';
import { grantsOf, planGrants, type RoutineGrant } from '../grants.ts';
import { KEPT, type KeptRecord } from '../kept.ts';
import { journalRename, settle, writeJournal } from './journal.ts';
import { type Journal, MOVED, PENDING } from './journal-schema.ts';
import { switchedIncompletely } from './leftovers.ts';
import { planLocks } from './plan-locks.ts';
import { makeRecordTable, writeRecord } from './record.ts';
import { planRowExchange, type RowExchange } from './row-exchange.ts';
import { refuseLongPacket, sendSwap } from './send-swap.ts';
import { type Rename, type SwapProgram, swapStatements } from './swap-packet.ts';
import { tidyBodies } from './tidy-bodies.ts';
import { tryCode } from './try-code.ts';

export interface Swap {
  /** One that takes several statements in a packet. */
  server: MysqlSession;
  /** Called when nothing may interrupt the session any more. */
  begun: () => void;
  url: DatabaseUrl;
  /** The database beside the destination that holds the complete tables. */
  fresh: string;
  /** What belongs to them. */
  code: CodeDefinitions;
  definers: Definers;
  /** Keeps what is replaced. */
  undo: boolean;
  /** The database beside the destination that becomes its base copy, whether the present one remains, or none does. */
  base: string | 'kept' | null;
  /** Drops foreign keys of other databases that reference tables of the destination. */
  dropForeignReferences: boolean;
  branch?: BranchSwap | undefined;
}

/** A branch with the destination's name is made or replaced. */
export interface BranchSwap {
  /** The destination that it is a branch of. */
  of: string;
  /** The comment of its mark. */
  mark: string;
  /** Rejects when the database exists. */
  onlyNew?: (() => Error) | undefined;
}

/**
 * Gives the fresh tables the destination's place by renames in one statement: at every moment the destination's tables
 * are the old ones or the new ones. What is replaced is kept, or dropped after.
 */
export async function swapDatabases(context: EngineContext, swap: Swap): Promise<Replaced> {
  const { server, url, fresh, code, undo } = swap;
  const destination = url.database ?? '';
  const names = besideNames(await destinationName(server, destination));
  const made = !(await databaseExists(server, destination));
  const { branch } = swap;
  if (branch?.onlyNew && !made) throw branch.onlyNew();
  const keep = undo && !made;
  const swapped = startStep(context.report, 'swap', `Switch ${destination} to the restored database`);
  if (keep && !(await databaseExists(server, names.undo))) {
    await createDatabase(server, { name: names.undo, collations: code });
  }
  // Before the journal's own tables are made, which stay there.
  const arriving = await tablesOf(server, fresh);
  const leaving = made ? [] : await tablesOf(server, destination);
  const kept = keep ? await tablesOf(server, names.undo) : [];
  // Not the fresh one: names of foreign keys, which move with their tables, are unique in a database.
  const retired = names.fresh();
  const branchOf = branch?.of;
  await createBeside(server, { name: retired, destination, collations: code, branchOf });
  const present = await ownMark(server, destination);
  const mark = branch?.mark ?? (present && branchMarkText({ ...withoutSwitch(present), snapshot: null }));
  const marks = mark === null ? [] : await planMark(server, { destination, work: fresh, retired, mark });
  const renames: Rename[] = [
    ...leaving.map((table, at): Rename => ({ from: [destination, table], to: [retired, `old-${at}`] })),
    ...arriving.map((table): Rename => ({ from: [fresh, table], to: [destination, table] })),
    ...marks,
  ];
  // The destination is complete without these.
  const later: Rename[] = keep
    ? [
        ...kept.map((table, at): Rename => ({ from: [names.undo, table], to: [fresh, `kept-${at}`] })),
        ...leaving.map((table, at): Rename => ({ from: [retired, `old-${at}`], to: [names.undo, table] })),
        { from: [fresh, KEPT], to: [names.undo, KEPT] },
      ]
    : [];
  // An older undo copy goes only when the caller wants none: a destination that was missing replaces nothing.
  const obsolete = undo || made || (await undoCopyOf(server, destination)) !== 'ours' ? null : names.undo;
  const older = { database: names.undo, tables: kept.filter((table) => table !== KEPT) };
  const plan = { destination, other: fresh, work: fresh, leaving, arriving, keep, older };
  const byRows = made ? null : await planRowExchange(server, plan);
  // The older undo copy, or what has taken its rows, becomes the new one.
  const moved = byRows?.keeper === fresh ? arriving : [];
  const rows: RowsInstead = {
    exchange: byRows,
    later: keep
      ? [
          ...(moved.length > 0 ? kept : kept.filter((table) => table === KEPT)).map(
            (table, at): Rename => ({ from: [names.undo, table], to: [retired, `kept-${at}`] }),
          ),
          ...moved.map((table): Rename => ({ from: [fresh, table], to: [names.undo, table] })),
          { from: [fresh, KEPT], to: [names.undo, KEPT] },
        ]
      : [],
  };
  const base = await planBase(context, server, { destination, made: swap.base, collations: code });
  rows.later.push(...base.renames, ...marks);
  later.push(...base.renames);
  const obsoleteAfter = [retired, ...base.obsolete];
  const way = { work: fresh, renames, later, rows, made, keep, obsolete, obsoleteAfter };
  const swapMs = await exchange(context, { ...swap, ...way });
  swapped(`Switched ${destination} to the restored database`);
  return { swapMs, undoDatabase: keep ? names.undo : null };
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

interface PlannedBase {
  renames: Rename[];
  /** Databases to drop when the swap is over. */
  obsolete: string[];
}

/** The tables of a new base copy take their place with the renames that end the swap, whole or not at all. */
export async function planBase(
  context: EngineContext,
  server: MysqlSession,
  { destination, made, collations }: { destination: string; made: Swap['base']; collations: Collations },
): Promise<PlannedBase> {
  if (made === 'kept') return { renames: [], obsolete: [] };
  const { of, base, spare } = await baseCopyNames(server, destination);
  const state = await baseCopyState(server, { database: base, of });
  const present = state === 'whole' ? await tablesOf(server, base) : [];
  const record = present.find((table) => table === BASE || table === OUTDATED);
  if (made === null) {
    const retire: Rename[] = record ? [{ from: [base, record], to: [base, RETIRED] }] : [];
    return { renames: retire, obsolete: record ? [spare, base] : [spare] };
  }
  if (state === 'remains') await dropBeside(context, server, { name: base, destination });
  if (state !== 'whole') await createDatabase(server, { name: base, collations });
  const old = besideNames(of).fresh();
  if (record) await createBeside(server, { name: old, destination, collations });
  return {
    renames: [
      ...present.map((table, at): Rename => ({ from: [base, table], to: [old, `base-${at}`] })),
      ...(await tablesOf(server, made)).map((table): Rename => ({ from: [made, table], to: [base, table] })),
    ],
    obsolete: [spare, made, ...(record ? [old] : [])],
  };
}

/** A reset to a base copy of the replaced database is as wrong as it is right when that is put back. */
export async function turnedBase(server: MysqlSession, destination: string): Promise<Rename[]> {
  const { of, base } = await baseCopyNames(server, destination);
  if ((await baseCopyState(server, { database: base, of })) !== 'whole') return [];
  const present = await tablesOf(server, base);
  return present.includes(BASE)
    ? [{ from: [base, BASE], to: [base, OUTDATED] }]
    : [{ from: [base, OUTDATED], to: [base, BASE] }];
}

/** What replaces the renames where rows are exchanged instead of tables. */
export interface RowsInstead {
  exchange: RowExchange | null;
  later: Rename[];
}

export interface TableSwap
  extends Pick<Swap, 'server' | 'begun' | 'url' | 'code' | 'definers' | 'dropForeignReferences'> {
  /** The database in which the journal is written, and which is dropped in the end. */
  work: string;
  renames: Rename[];
  /** Renames after these, of unused tables. */
  later: Rename[];
  rows: RowsInstead;
  /** Whether the destination is to be made. */
  made: boolean;
  /** Whether a record of what is replaced moves with it. */
  keep: boolean;
  /** An undo copy that is older than what is replaced now, or whose tables become the destination's, and goes. */
  obsolete: string | null;
  /** Databases beside the destination to drop when the swap is over. */
  obsoleteAfter: string[];
  /** Rights on the arriving routines besides those on routines of the same name. */
  grants?: RoutineGrant[];
  /** Whether the destination keeps its own rights on routines besides `grants`. Default: yes. */
  keepsRights?: boolean | undefined;
  /** The error for code of the destination that cannot be read. Default: a warning. */
  unreadable?: (what: string, why: string) => Error;
}

/**
 * Writes the journal, then moves the tables and replaces what belongs to them, by one packet that the server finishes
 * when the client is gone. How many milliseconds the destination was unavailable.
 */
export async function exchange(context: EngineContext, given: TableSwap): Promise<number> {
  const { server, url, work, rows, made, definers, keep, obsolete, grants: theirs = [], keepsRights = true } = given;
  const destination = url.database ?? '';
  const code = checkCode(given.code, destination);
  const before = made
    ? { ...code, ...NO_CODE }
    : await readBelongings(server, destination, (what, why) => {
        if (given.unreadable) throw given.unreadable(what, why);
        const message = `The ${what} of ${destination} cannot be read, so tool undo will not restore it: ${why}`;
        context.report({ event: 'warning', code: 'definition_unreadable', message });
      });
  const own = made ? [] : await grantsOf(context, server, destination);
  const of = await destinationName(server, destination);
  if (keep) {
    const mark = await ownMark(server, destination);
    const record: KeptRecord = {
      ...{ of, replaced_at: context.clock().toISOString(), code: before, grants: own },
      mark: mark && branchMarkText(mark),
      has_base: (await readBaseRecord(server, { database: besideNames(of).base, table: BASE, of })) !== null,
    };
    await writeRecord(server, { database: work, table: KEPT, value: record });
  }
  const grants = keepsRights ? merged(own, theirs) : theirs;
  // Read again: keys may have been added since.
  const unlink = made ? [] : await foreignReferences(server, destination);
  refuseForeignReferences(unlink, { destination, drop: given.dropForeignReferences });
  const journal: Journal = { of, made, before, after: code, definers, grants, unlink, obsolete };
  const granting = await planGrants(server, { grants, routines: code.routines });
  const { flavour } = await readServer(server);
  const allowed = definers === 'theirs' && (await maySetDefiner(server)) ? 'theirs' : 'mine';
  const arriving = given.renames.find(({ to }) => to[0] === destination)?.from[0] ?? work;
  await tryCode(context, { url: withDatabase(url, arriving), destination, code, definers: allowed });
  const names = [...given.renames.map(({ to: [, table] }) => table), ...before.views.map(({ name }) => name)];
  const { fold } = await readNameCase(server, names);
  const listed = made ? [] : await listCode(server, destination);
  const way = (await beginRows(server, { work, rows, journal })) ?? {
    renames: [...given.renames, journalRename(work)],
    later: given.later,
    counters: [],
  };
  const statements = swapStatements({
    ...way,
    flavour,
    fold,
    destination,
    work,
    made,
    before,
    listed,
    locks: await planLocks(server, { before, renames: way.renames, destination, fold }),
    after: code,
    definers: allowed,
    grants: granting.statements,
    unlink: unlink.map(dropStatement),
  });
  await refuseLongPacket(server, statements);
  if (way.renames.length > 0) await writeJournal(server, work, { ...journal, later: way.later });
  context.signal.throwIfAborted();
  await verifyLock(server, destination);
  // Interrupted from here on the swap is over before anybody could see it half done.
  given.begun();
  const started = performance.now();
  const outcome = await sendSwap(server, { destination, statements });
  // Whatever the packet has left undone, or back to what it was.
  const { missing } = await settle({ report: context.report }, { server, url, work });
  if (outcome.refusal) throw (made ? mayNotCreate(destination, outcome.refusal) : null) ?? outcome.refusal;
  if (missing.length > 0) throw switchedIncompletely(destination, { missing });
  for (const warning of granting.lost) context.report(warning);
  if (flavour === 'mysql') {
    const granted = new Set(grants.map(({ routine }) => routine.toLowerCase()));
    await cleanUp(context, url, () => tidyBodies(server, { destination, after: code, definers: allowed, granted }));
  }
  const swapMs = Math.round(outcome.microseconds === null ? performance.now() - started : outcome.microseconds / 1000);
  await cleanUp(context, url, async () => {
    for (const name of [work, ...given.obsoleteAfter]) await dropBeside(context, server, { name, destination });
  });
  return swapMs;
}

/** The destination is switched: a failure is a warning. */
async function cleanUp({ report }: EngineContext, url: DatabaseUrl, work: () => Promise<void>): Promise<void> {
  await work().catch((error) => {
    const message = `Could not clean up after the swap of ${url.display}: ${redact(error.message)}. The next load does`;
    report({ event: 'warning', code: 'leftover', message });
  });
}

type Way = Pick<SwapProgram, 'renames' | 'later' | 'counters'>;

/** Exchanges the rows as far as the COMMIT; `null` where that is impossible, and nothing has changed. */
async function beginRows(
  server: MysqlSession,
  { work, rows, journal }: { work: string; rows: RowsInstead; journal: Journal },
): Promise<Way | null> {
  const { before, after, unlink = [] } = journal;
  const inTheWay = [unlink, before.dangling ?? [], after.dangling ?? [], before.defaults ?? [], after.defaults ?? []];
  if (!rows.exchange || inTheWay.some((some) => some.length > 0)) return null;
  const { counters } = rows.exchange;
  await writeJournal(server, work, { ...journal, later: rows.later, counters });
  await makeRecordTable(server, { database: work, table: MOVED });
  if (await rows.exchange.begin()) return { renames: [], later: rows.later, counters };
  for (const table of [MOVED, PENDING]) await server.execute(`DROP TABLE ${quotePath(work, table)}`);
  return null;
}

/** Those of the destination, and of the others those for routines and accounts that it has none for. */
function merged(own: RoutineGrant[], others: RoutineGrant[]): RoutineGrant[] {
  const key = ({ kind, routine, user, host }: RoutineGrant): string => JSON.stringify([kind, routine, user, host]);
  return [...new Map([...others, ...own].map((grant) => [key(grant), grant])).values()];
}

const NO_CODE = { routines: [], views: [], triggers: [], events: [] };

/** Tables and sequences. */
export async function tablesOf(server: MysqlSession, database: string): Promise<string[]> {
  const rows = await server.query<{ name: string }>(`
    SELECT TABLE_NAME AS name FROM information_schema.TABLES
    WHERE ${tablesIn(database)} AND TABLE_TYPE <> 'VIEW' ORDER BY TABLE_NAME`);
  return rows.map(({ name }) => name);
}
