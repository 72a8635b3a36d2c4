import { redact } from '../../../process/redact.ts';
import type { WarningEvent } from '../../../results/events.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { switchedIncompletely } from '../../shared/swap-incomplete.ts';
import { readBaseRecord } from '../branches/base/base-record.ts';
import { branchMarkText } from '../branches/branch-mark.ts';
import { ownMark } from '../branches/last-switch.ts';
import { checkCode } from '../catalog/definitions/check-definitions.ts';
import type { Definers } from '../catalog/definitions/code.ts';
import type { CodeDefinitions } from '../catalog/definitions/definitions.ts';
import { readDependents } from '../catalog/definitions/foreign-keys.ts';
import { listCode } from '../catalog/definitions/read-definitions.ts';
import { readServer } from '../catalog/introspect.ts';
import { readNameCase } from '../catalog/name-case.ts';
import { readTableList } from '../catalog/tables.ts';
import { quotePath } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { SqlError } from '../connection/session-errors.ts';
import { withDatabase } from '../connection/url.ts';
import type { Histogram } from '../details-schema.ts';
import { analyzeTables } from '../restore/statistics.ts';
import { BASE } from '../server/names.ts';
import { mayNotCreate, readAuxiliaryNames, verifyLock } from '../server/server.ts';
import { maySetDefiner } from './definers.ts';
import { assertNoForeignReferences } from './foreign-references.ts';
import { settle, writeJournal } from './journal.ts';
import { type Journal, MOVED, PENDING, type Rename } from './journal-schema.ts';
import { makeRecordTable, writeRecord } from './record.ts';
import { grantsOf, planGrants, type RoutineGrant } from './routine-grants.ts';
import type { RowExchange } from './row-exchange.ts';
import { assertPacketFits, sendSwap } from './send-swap.ts';
import { dropAuxiliaryDatabase } from './shadow-databases.ts';
import { awayRenames, type SwapProgram, swapStatements } from './swap-packet.ts';
import { tidyBodies } from './tidy-bodies.ts';
import { dropAllCode, tryCode } from './try-code.ts';
import { UNDO_COPY, type UndoCopyRecord } from './undo-copy.ts';

/** Exchange of rows, and later renames, instead of the renames of tables. */
export interface RowsInstead {
  exchange: RowExchange | null;
  later: Rename[];
}

/** Code and statistics of the arriving tables. */
export interface Dependents {
  code: CodeDefinitions;
  definers: Definers;
  histograms?: Histogram[] | undefined;
}

export interface Switch extends Dependents {
  /** One that takes several statements in a packet. */
  server: MysqlSession;
  /** Called when nothing may interrupt the session any more. */
  begun: () => void;
  url: DatabaseUrl;
}

interface TableSwap extends Switch {
  /** The database in which the journal is written, and which is dropped in the end. */
  work: string;
  renames: Rename[];
  /** Renames after these, of unused tables. */
  later: Rename[];
  rows: RowsInstead;
  /** The destination does not exist and is to be created. */
  made: boolean;
  /** Moves a record of the replaced database with its tables. */
  keep: boolean;
  /** An undo copy that is older than what is replaced now, or whose tables become the destination's, and goes. */
  obsolete: string | null;
  /** Databases beside the destination to drop when the swap is over. */
  obsoleteAfter: string[];
  /** Rights on the arriving routines besides those on routines of the same name. */
  grants?: RoutineGrant[];
  /** Keeps the destination's own rights on routines besides `grants`. Default: yes. */
  keepsRights?: boolean | undefined;
  /** The error for code of the destination that cannot be read. Default: a warning. */
  unreadable?: (what: string, why: string) => Error;
}

/**
 * Writes the journal, then moves the tables and replaces what belongs to them, by one packet that the server finishes
 * when the client is gone. How many milliseconds the destination was unavailable.
 */
export async function exchange(context: EngineContext, given: TableSwap): Promise<number> {
  const { server, url, work, histograms } = given;
  const prepared = await prepareSwap(context, given, await recordReplaced(context, given));
  const swapMs = await runSwap(context, given, prepared);
  const { destination, renames } = prepared.program;
  await cleanUp(context, url, async () => {
    // Rows came without the statistics of their tables.
    if (renames.length === 0) await analyzeTables(context, { url, sessions: 1, histograms });
    for (const name of [work, ...given.obsoleteAfter])
      await dropAuxiliaryDatabase(context, server, { name, destination });
  });
  return swapMs;
}

/** Reads the code and rights to replace for the journal, and records them where an undo copy is kept. */
async function recordReplaced(context: EngineContext, given: TableSwap): Promise<{ journal: Journal; undo: string }> {
  const { server, url, work, made, definers, keep, obsolete, grants: theirs = [], keepsRights = true } = given;
  const destination = url.database ?? '';
  const code = checkCode(given.code, destination);
  const before = made
    ? { ...code, ...NO_CODE }
    : await readDependents(server, destination, (what, why) => {
        if (given.unreadable) throw given.unreadable(what, why);
        const message = `The ${what} of ${destination} cannot be read, so tool undo will not restore it: ${why}`;
        context.report({ event: 'warning', code: 'definition_unreadable', message });
      });
  const own = made ? [] : await grantsOf(context, server, destination);
  const { of, base, undo } = await readAuxiliaryNames(server, destination);
  if (keep) {
    const mark = await ownMark(server, destination);
    const record: UndoCopyRecord = {
      ...{ of, replaced_at: context.clock().toISOString(), code: before, grants: own },
      mark: mark && branchMarkText(mark),
      has_base: (await readBaseRecord(server, { database: base, table: BASE, of })) !== null,
    };
    await writeRecord(server, { database: work, table: UNDO_COPY, value: record });
  }
  const grants = keepsRights ? merged(own, theirs) : theirs;
  // Read again: keys may have been added since.
  if (!made) await assertNoForeignReferences(server, destination);
  return { journal: { of, made, before, after: code, definers, grants, obsolete }, undo };
}

interface PreparedSwap {
  journal: Journal;
  program: SwapProgram;
  /** Warnings of rights that cannot be granted. */
  lost: WarningEvent[];
}

/** Tries the arriving code, and begins the exchange of rows where that is possible; the destination is unchanged. */
async function prepareSwap(
  context: EngineContext,
  given: TableSwap,
  { journal, undo }: { journal: Journal; undo: string },
): Promise<PreparedSwap> {
  const { server, url, work, rows } = given;
  const { made, before, after, definers, grants = [] } = journal;
  const destination = url.database ?? '';
  const granting = await planGrants(server, { grants, routines: after.routines });
  const { flavour } = await readServer(server);
  const allowed = definers === 'theirs' && (await maySetDefiner(server)) ? 'theirs' : 'mine';
  const arriving = given.renames.find(({ to }) => to[0] === destination)?.from[0] ?? work;
  await tryCode(context, { url: withDatabase(url, arriving), destination, code: after, definers: allowed });
  const movesUndoCopy = [...given.renames, ...given.later, ...rows.later].some(({ from }) => from[0] === undo);
  // A trial of an undo that was interrupted has left its objects.
  if (movesUndoCopy) await dropAllCode(server, undo);
  const names = [...given.renames.map(({ to: [, table] }) => table), ...before.views.map(({ name }) => name)];
  const { fold } = await readNameCase(server, names);
  const listed = made ? [] : await listCode(server, destination);
  const way = (await beginRows(server, { work, rows, journal })) ?? {
    // The last one says, together with those of the tables, that they have moved.
    renames: [...given.renames, { from: [work, PENDING], to: [work, MOVED] }],
    later: given.later,
    counters: [],
  };
  const locks = await planLocks(server, { before, renames: way.renames, destination, fold });
  const program: SwapProgram = {
    ...{ ...way, flavour, fold, destination, work, made, before, listed, locks, after },
    ...{ definers: allowed, grants: granting.statements },
  };
  return { journal, program, lost: granting.lost };
}

/** Sends the program, and settles what it leaves; returns how many milliseconds the destination was unavailable. */
async function runSwap(
  context: EngineContext,
  { server, url, begun }: Switch,
  { journal, program, lost }: PreparedSwap,
): Promise<number> {
  const { flavour, destination, work, made, after, definers, renames, later } = program;
  const statements = swapStatements(program);
  await assertPacketFits(server, statements);
  if (renames.length > 0) await writeJournal(server, work, { ...journal, later });
  context.signal.throwIfAborted();
  await verifyLock(server, destination);
  // Interrupted from here on the swap is over before anybody could see it half done.
  begun();
  const started = performance.now();
  const outcome = await sendSwap(server, { destination, statements });
  if (flavour === 'mysql' && outcome.refusal === null) {
    const granted = new Set(journal.grants?.map(({ routine }) => routine.toLowerCase()));
    await tidyBodies(server, { destination, after, definers, granted }).catch((error) => {
      // What it has dropped and not created is created from the journal.
      if (!(error instanceof SqlError)) throw error;
    });
  }
  // Whatever the packet has left undone, or back to what it was.
  const { missing } = await settle({ report: context.report }, { server, url, work });
  if (outcome.refusal) throw (made ? mayNotCreate(destination, outcome.refusal) : null) ?? outcome.refusal;
  if (missing.length > 0) throw switchedIncompletely(destination, { missing });
  for (const warning of lost) context.report(warning);
  return Math.round(outcome.microseconds === null ? performance.now() - started : outcome.microseconds / 1000);
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
  const { before, after } = journal;
  const inTheWay = [before.dangling ?? [], after.dangling ?? [], before.defaults ?? [], after.defaults ?? []];
  if (!rows.exchange || inTheWay.some((some) => some.length > 0)) return null;
  const { counters } = rows.exchange;
  await writeJournal(server, work, { ...journal, later: rows.later, counters });
  await makeRecordTable(server, { database: work, table: MOVED });
  if (await rows.exchange.begin()) return { renames: [], later: rows.later, counters };
  for (const table of [MOVED, PENDING]) await server.execute(`DROP TABLE ${quotePath(work, table)}`);
  return null;
}

/** Returns the destination's rights, and of the others the rights for routines and accounts for which it has none. */
function merged(own: RoutineGrant[], others: RoutineGrant[]): RoutineGrant[] {
  const key = ({ kind, routine, user, host }: RoutineGrant): string => JSON.stringify([kind, routine, user, host]);
  return [...new Map([...others, ...own].map((grant) => [key(grant), grant])).values()];
}

const NO_CODE = { routines: [], views: [], triggers: [], events: [] };

/**
 * The tables to lock for a swap that drops triggers. A server that logs transactions with their identifiers locks
 * tables with transactions and tables without them by different statements only (`ER_GTID_UNSAFE_NON_TRANSACTIONAL_TABLE`):
 * then there are two groups.
 */
async function planLocks(
  server: MysqlSession,
  program: Pick<SwapProgram, 'before' | 'renames' | 'destination' | 'fold'>,
): Promise<SwapProgram['locks']> {
  const { before, renames } = program;
  if (before.triggers.length === 0 || renames.length === 0) return [];
  const all = [...awayRenames(program), ...renames].map(({ from }) => from);
  const [gtid] = await server.query<{ Value: string }>("SHOW VARIABLES LIKE 'enforce_gtid_consistency'");
  if ((gtid?.Value ?? 'OFF') === 'OFF') return [all];
  const engines = new Map<string, string | null>();
  for (const database of new Set(all.map(([name]) => name))) {
    for (const { name, engine } of await readTableList(server, database))
      engines.set(JSON.stringify([database, name]), engine);
  }
  const tables = renames.map(({ from }) => from);
  // The table of the journal does not exist yet.
  const groups = Map.groupBy(tables, (path) => (engines.get(JSON.stringify(path)) ?? 'InnoDB') === 'InnoDB');
  return groups.size > 1 ? [...groups.values()] : [all];
}
