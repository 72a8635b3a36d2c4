import { setTimeout } from 'node:timers/promises';
import { UserError } from '../../../runtime/errors.ts';
import { startStep } from '../../../runtime/events.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { ReplaceResult, RestoreRun } from '../../facets/restore.ts';
import { copyRemains } from '../../shared/swap-incomplete.ts';
import { connectToServer } from '../connection/connect.ts';
import { quoteName, quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import { SqlError } from '../connection/session-errors.ts';
import { withDatabase } from '../connection/url.ts';
import {
  type AuxiliaryDatabases,
  auxiliaryNames,
  dropMarked,
  findAuxiliaryDatabases,
  readOid,
  verifyLock,
} from '../server/server.ts';
import { checkSwap } from './blockers.ts';
import { isAsMarked } from './change-mark.ts';
import { type BaseMark, isCopyOf, type NewMark, writeComment, writeMark } from './mark.ts';
import { withSwapOutcome } from './swap-outcome.ts';

/** `object_in_use`: a session uses a database that is to be renamed. */
const OBJECT_IN_USE = '55006';
/** Attempts before the swap fails because sessions keep reconnecting; the server itself waits 5 s in each. */
const TRIES = 3;
const TERMINATE_EVERY = 100;

export interface Swap {
  server: PostgresSession;
  url: DatabaseUrl;
  /** The complete database that takes the destination's name. */
  shadow: string;
  /** Keeps what is replaced. */
  undo: boolean;
  /** Keeps it all the same, unless it is known to be as then. */
  unchangedSince?: RestoreRun['unchangedSince'];
  /** The replaced database gets no name of an undo copy, so that it is swept when a killed swap leaves it. */
  discards?: boolean | undefined;
  /**
   * A new base copy of the shadow database, `present` where that is made from the present one, or `both` where the
   * present one and its spare remain. Default: none remains.
   */
  base?: NewBase | 'present' | 'both' | undefined;
  /** Comment of the new database; default: that of the replaced one. */
  comment?: NewComment | undefined;
  /** Ends sessions that stand in the way, and opens while other work is done; default: one of its own. */
  second?: Promise<PostgresSession> | undefined;
}

/** Returns the comment of a complete database, under the destination's lock. */
export type NewComment = (server: PostgresSession, shadow: string) => Promise<string | null>;

export interface NewBase {
  /** The copy, under the name of a shadow database. */
  database: string;
  mark: BaseMark;
}

/**
 * Gives the shadow database the destination's name by renames in one transaction: at every moment the destination is
 * the old one or the new one. What is replaced is kept, or dropped after; an undo copy goes only when another takes
 * its place. A base copy and a spare of the replaced database go.
 */
export async function swapDatabases(
  context: EngineContext,
  { server, url, shadow, undo, unchangedSince, discards = false, base, comment, second }: Swap,
): Promise<ReplaceResult> {
  const { report, clock } = context;
  const destination = url.database ?? '';
  const names = auxiliaryNames(destination);
  const [, old, auxiliary] = await Promise.all([
    checkSwap(server, { destination, undo, base: base !== undefined && base !== 'both' }),
    readComment(server, destination),
    findAuxiliaryDatabases(server, destination),
  ]);
  const outdated = base === 'both' ? [] : base === 'present' ? [auxiliary.spare] : [auxiliary.base, auxiliary.spare];
  const retired = [old && !discards ? auxiliary.undo : null, ...outdated].filter((one) => one !== null);
  const swapped = startStep(report, 'swap', `Switch ${destination} to the restored database`);
  const aside = names.shadow();
  const leaving = !old
    ? []
    : discards
      ? [rename(destination, aside), writeMark(aside, { tool: 'new', of: destination })]
      : toUndoCopy(destination, { from: destination, replacedAt: clock(), comment: old.comment });
  const marked = comment ? comment(server, shadow) : Promise.resolve(old?.comment ?? null);
  const renames = [
    ...leaving,
    rename(shadow, destination),
    writeComment(destination, await marked),
    ...(base === 'both'
      ? await remarkStatements(server, { auxiliary, destination, shadow })
      : await baseStatements(server, { base, auxiliary, shadow, name: names.base })),
  ];
  const databases = [destination, shadow];
  const { swapMs, dropRetired } = await renameAll(context, {
    ...{ server, url, retired, renames, databases, second: await second },
  });
  swapped(`Switched ${destination} to the restored database`);
  await dropRetired();
  if (discards) {
    if (old) await dropMarked(server, { name: aside, destination, report });
    return { swapMs, undoDatabase: null };
  }
  const drops = old !== null && !undo && (await mayDrop(context, withDatabase(url, names.undo), unchangedSince));
  if (old && !undo && !drops) report(copyRemains(destination, names.undo));
  const dropped = drops && (await dropMarked(server, { name: names.undo, destination, report }));
  return { swapMs, undoDatabase: old && !dropped ? names.undo : null };
}

/** Its sessions have ended. */
async function mayDrop(context: EngineContext, replaced: DatabaseUrl, mark: RestoreRun['unchangedSince']) {
  return mark === undefined || (await isAsMarked(context, replaced, mark));
}

interface BaseStatements extends Pick<Swap, 'shadow'> {
  base: NewBase | 'present' | undefined;
  auxiliary: AuxiliaryDatabases;
  name: string;
}

/** The mark names the database that becomes the destination, so that a base copy of another one is recognized. */
async function baseStatements(server: PostgresSession, { base, auxiliary, shadow, name }: BaseStatements) {
  if (base === undefined) return [];
  const mark = base === 'present' ? auxiliary.base?.mark : base.mark;
  if (!mark) throw new Error('the base copy is gone');
  const marked = writeMark(name, { ...mark, destination_oid: await readOid(server, shadow), former_oid: null });
  return base === 'present' ? [marked] : [rename(base.database, name), marked];
}

/** Copies of the destination become copies of the database that replaces it, too; others keep their marks. */
async function remarkStatements(
  server: PostgresSession,
  { auxiliary, destination, shadow }: Pick<BaseStatements, 'auxiliary' | 'shadow'> & { destination: string },
): Promise<string[]> {
  const [before, after] = [await readOid(server, destination), await readOid(server, shadow)];
  return [auxiliary.base, auxiliary.spare].flatMap((copy) =>
    copy !== null && isCopyOf(copy.mark, before)
      ? [writeMark(copy.name, { ...copy.mark, destination_oid: after, former_oid: before })]
      : [],
  );
}

interface RenameRequest {
  server: PostgresSession;
  /** URL of the destination, whose lock the session has. */
  url: DatabaseUrl;
  /** Databases whose names become free first. */
  retired?: { name: string; mark: NewMark }[];
  renames: string[];
  /** Databases whose sessions have to end. */
  databases: string[];
  /** A session that ends them; default: one of its own. */
  second?: PostgresSession | undefined;
  /** The name, locked by the session, that gets another database; `null` for none. Default: the destination. */
  replaces?: string | null;
}

/**
 * Renames databases in one transaction, and resolves with how long that took. A database in use cannot be renamed.
 * While the server waits for its sessions to end, holding a lock that keeps new ones out, a second session ends them.
 */
export async function renameAll(
  context: EngineContext,
  { server, url, retired = [], renames, databases, second, replaces = url.database ?? '' }: RenameRequest,
): Promise<{ swapMs: number; dropRetired: () => Promise<void> }> {
  const destination = url.database ?? '';
  const gone = retired.map(({ name, mark }) => ({ name, mark, to: auxiliaryNames(destination).shadow() }));
  const statements = [
    'SET LOCAL synchronous_commit = on',
    ...gone.flatMap(({ name, mark, to }) => [rename(name, to), writeMark(to, { ...mark, tool: 'new' })]),
    ...renames,
  ];
  const inUse = [...databases, ...retired.map(({ name }) => name)];
  await verifyLock(server, destination);
  const before = replaces === null ? null : await readOid(server, replaces);
  const started = performance.now();
  await withoutSessions(context, { url, databases: inUse, second }, () => server.transaction(statements)).catch(
    async (error) => {
      if (replaces === null || error instanceof SqlError) throw error;
      throw await withSwapOutcome(context, error, { url, name: replaces, before });
    },
  );
  return {
    swapMs: Math.round(performance.now() - started),
    // The server writes all dirty pages before it drops a database, which can last longer than the switch.
    async dropRetired() {
      if (gone.length === 0) return;
      const dropped = startStep(context.report, 'drop', 'Drop outdated copies');
      for (const { to } of gone) await dropMarked(server, { name: to, destination, report: context.report });
      dropped('Dropped outdated copies');
    },
  };
}

/** Statements that make a database the undo copy of a destination. */
export function toUndoCopy(
  destination: string,
  { from, replacedAt, comment }: { from: string; replacedAt: Date; comment: string | null },
): string[] {
  const { undo } = auxiliaryNames(destination);
  const mark = { tool: 'undo', of: destination, replaced_at: replacedAt.toISOString(), comment } as const;
  return [rename(from, undo), writeMark(undo, mark)];
}

/** Does what the server refuses while sessions use the databases: ends them meanwhile, and tries again. */
export async function withoutSessions(
  context: EngineContext,
  { url, databases, second }: Pick<RenameRequest, 'url' | 'databases' | 'second'>,
  work: () => Promise<void>,
) {
  await using own = second ? null : await connectToServer(context, url);
  const other = second ?? own;
  if (!other) throw new Error('there is no second session');
  const settled = new AbortController();
  const ending = endSessions(other, databases, settled.signal);
  try {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof SqlError && error.sqlstate === OBJECT_IN_USE)) throw error;
        if (attempt === TRIES) throw await sessionsStay(other, databases, error);
      }
    }
  } finally {
    settled.abort();
    await ending;
  }
}

async function endSessions(other: PostgresSession, databases: string[], settled: AbortSignal): Promise<void> {
  const list = databases.map(quoteText).join(', ');
  while (!settled.aborted) {
    // Refused where the role may not end a session; the rename then says what stands in its way.
    await other
      .query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname IN (${list}) AND pid <> pg_backend_pid() AND backend_type = 'client backend'`,
      )
      .catch(() => {});
    await setTimeout(TERMINATE_EVERY, undefined, { signal: settled }).catch(() => {});
  }
}

async function sessionsStay(other: PostgresSession, databases: string[], cause: SqlError): Promise<UserError> {
  const rows = await other.query<{ who: string }>(`
    SELECT concat_ws(' ', usename, application_name, client_addr) AS who FROM pg_stat_activity
    WHERE datname IN (${databases.map(quoteText).join(', ')})`);
  return new UserError('sessions_stay', 'Sessions on the destination do not end, so it cannot be swapped', {
    details: [cause.message, ...rows.slice(0, 10).map(({ who }) => `open: ${who}`)],
    hint: 'The destination is unchanged. Stop its clients, or load with a role that may end its sessions (pg_signal_backend).',
    cause,
  });
}

export function rename(from: string, to: string): string {
  return `ALTER DATABASE ${quoteName(from)} RENAME TO ${quoteName(to)}`;
}

export async function databaseExists(server: PostgresSession, name: string): Promise<boolean> {
  return (await server.query(`SELECT FROM pg_database WHERE datname = ${quoteText(name)}`)).length > 0;
}

/** The comment of a database; `null` when it does not exist. */
export async function readComment(server: PostgresSession, name: string): Promise<{ comment: string | null } | null> {
  const [row] = await server.query<{ comment: string | null }>(
    `SELECT shobj_description(oid, 'pg_database') AS comment FROM pg_database WHERE datname = ${quoteText(name)}`,
  );
  return row ?? null;
}
