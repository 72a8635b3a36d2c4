import type { Manifest } from '../../../repository/manifest/manifest.ts';
import { startStep } from '../../../runtime/events.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { ReplaceResult, RestoreRun } from '../../facets/restore.ts';
import { reportSwept } from '../../shared/swap-incomplete.ts';
import { createClosedCopy, readSessions } from '../branches/base-copies.ts';
import { createSpare } from '../branches/create-spare.ts';
import { readBaseEvidence } from '../branches/in-place/base-evidence.ts';
import type { BaseEvidence } from '../branches/in-place/evidence-schema.ts';
import { connectToServer } from '../connection/connect.ts';
import { quoteName } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import { withDatabase } from '../connection/url.ts';
import { readFingerprint } from '../dump/unchanged/fingerprint.ts';
import { readLoadedEvidence, renamedEvidence } from '../dump/unchanged/loaded-evidence.ts';
import { isIncomplete } from '../restore/incomplete.ts';
import {
  auxiliaryNames,
  dropMarked,
  findAuxiliaryDatabases,
  lockDestination,
  sweepLeftovers,
  verifyLock,
} from '../server/server.ts';
import { checkSwap } from './blockers.ts';
import { dropAfterFailure } from './drop-after-failure.ts';
import { inherit, type Settle } from './inherit.ts';
import { type BaseMark, newMark, writeMark } from './mark.ts';
import { databaseExists, type NewBase, type NewComment, rename, renameAll, swapDatabases } from './swap.ts';
import { openMeanwhile, openSwapSession } from './swap-session.ts';

export interface ReplaceRequest {
  url: DatabaseUrl;
  undo: boolean;
  unchangedSince?: RestoreRun['unchangedSince'];
  /** The new database is a branch that does not exist yet: what it is of, and whose owner, grants and settings it takes. */
  creates?: { branchOf: string; inheritsFrom: string } | undefined;
  /** The replaced database is dropped, whatever happens. */
  discards?: boolean | undefined;
  /** The source's settings, for a destination that does not exist. */
  settings?: string[] | undefined;
  /** Owner of the objects, if not the owner of the replaced database. */
  role?: string | undefined;
  /** Drops what was made, instead of swapping it in. */
  throwAway?: boolean | undefined;
  /** Makes a base copy of the new database. Default: none remains. */
  base?: BaseCopyOptions | undefined;
  /** The new database is made from the present base copy, which remains. */
  fromBase?: { spare: boolean } | undefined;
  /** The present base copy and spare remain. */
  keepsCopies?: boolean | undefined;
  /** The new database becomes the base copy, and the destination is not replaced. */
  onlyBase?: boolean | undefined;
  /** The comment of the new database, when that is complete; default: that of the replaced one. */
  comment?: NewComment | undefined;
  /** The new database is made from the base copy otherwise. */
  copied?: boolean | undefined;
  /** Called with the new database when it has its owner and grants. */
  afterLoad?: ((server: PostgresSession, shadow: DatabaseUrl) => Promise<void>) | undefined;
  /** Reads a fingerprint of the new database before the swap. */
  fingerprint?: boolean | undefined;
  /** Returns the snapshot that the complete database has the rows of, `null` for another content. */
  rowsOf?: (() => Manifest | null) | undefined;
  /** Makes the loading role the owner of the new database's objects, when that is complete. */
  settle?: Settle | undefined;
}

interface BaseCopyOptions {
  spare: boolean;
  /** Known when the database is complete. */
  facts: () => Pick<BaseMark, 'snapshot' | 'partial' | 'contents' | 'no_crash_since'>;
}

export interface Creation {
  server: PostgresSession;
  /** The name of the database to make. */
  shadow: string;
  exists: boolean;
}

export interface Steps {
  create: (creation: Creation) => Promise<void>;
  fill?: (made: { shadow: string; server: PostgresSession }) => Promise<void>;
}

/**
 * Under the destination's lock: makes a database beside it, and swaps the two. Leaves nothing when that fails, but a
 * database that is to be inspected since it is not complete.
 */
export async function replaceDestination(context: EngineContext, request: ReplaceRequest, { create, fill }: Steps) {
  const { url, undo, creates, base, fromBase, afterLoad } = request;
  const { settings = [], copied = fromBase !== undefined } = request;
  const { report } = context;
  const destination = url.database ?? '';
  await using server = await openSwapSession(context, url);
  const prepared = startStep(report, 'prepare', `Create a shadow database beside ${url.display}`);
  await lockDestination(server, destination);
  const warnings = await checkSwap(server, { destination, undo, base: base !== undefined || fromBase !== undefined });
  reportSwept(report, await sweepLeftovers(server, destination, report));
  for (const warning of warnings) report(warning);
  const names = auxiliaryNames(destination);
  const shadow = names.shadow();
  const copy = names.shadow();
  const exists = await databaseExists(server, destination);
  let replaced: ReplaceResult;
  try {
    await create({ server, shadow, exists });
    prepared(`Created shadow database ${shadow}`);
    await fill?.({ shadow, server });
    context.signal.throwIfAborted();
    if (request.throwAway) {
      await dropMarked(server, { name: shadow, destination, report });
      return { swapMs: null, undoDatabase: null };
    }
    // A base copy and steps may take long, and idle sessions are cut.
    await using second = base || afterLoad ? null : openMeanwhile(connectToServer(context, url));
    await verifyLock(server, destination);
    await inherit(context, server, {
      from: creates?.inheritsFrom ?? (exists ? destination : null),
      ...{ to: shadow, url, settings, copied, role: request.role, settle: request.settle },
    });
    context.signal.throwIfAborted();
    // A step may have changed the comment, by which the database is swept.
    await afterLoad?.(server, withDatabase(url, shadow)).finally(() =>
      server.execute(writeMark(shadow, newMark(destination, creates?.branchOf))).catch(() => {}),
    );
    context.signal.throwIfAborted();
    if (request.onlyBase && base) return await keepOnlyBase(context, server, { url, shadow, base });
    const taken = request.fingerprint ? await readFingerprint(context, withDatabase(url, shadow)) : null;
    const manifest = request.rowsOf?.() ?? null;
    const proof = manifest && (await readLoadedEvidence(context, { url: withDatabase(url, shadow), manifest }));
    const evidence = base && (await readBaseEvidence(context, withDatabase(url, shadow)));
    const made = base && (await createBase(context, server, { url, from: shadow, to: copy, base, evidence }));
    context.signal.throwIfAborted();
    const swapped = await swapDatabases(context, {
      ...request,
      ...{ server, shadow, second: second?.session },
      base: fromBase ? 'present' : request.keepsCopies ? 'both' : made,
    });
    const proved = proof && (await renamedEvidence(server, { evidence: proof, name: destination }));
    replaced = { ...swapped, ...(taken && { fingerprint: taken }), ...(proved && { evidence: proved }) };
  } catch (error) {
    const names = [...(isIncomplete(error) ? [] : [shadow]), ...(base ? [copy] : [])];
    if (names.length > 0) await dropAfterFailure(context, { url, names });
    throw error;
  }
  const spare = (fromBase ?? base)?.spare ? await createSpare(context, server, url) : undefined;
  return { ...replaced, ...(base && { baseDatabase: names.base }), ...(spare && { spareDatabase: spare }) };
}

/** A base copy of no load of the destination: branches are made from it, and no reset. */
async function keepOnlyBase(
  context: EngineContext,
  server: PostgresSession,
  { url, shadow, base }: { url: DatabaseUrl; shadow: string; base: BaseCopyOptions },
): Promise<ReplaceResult> {
  const destination = url.database ?? '';
  const names = auxiliaryNames(destination);
  const auxiliary = await findAuxiliaryDatabases(server, destination);
  const retired = [auxiliary.base, auxiliary.spare].filter((one) => one !== null);
  const mark = { tool: 'base', of: destination, loaded_at: context.clock().toISOString(), ...base.facts() } as const;
  const renames = [
    rename(shadow, names.base),
    `ALTER DATABASE ${quoteName(names.base)} ALLOW_CONNECTIONS false`,
    writeMark(names.base, mark),
  ];
  const evidence = await readBaseEvidence(context, withDatabase(url, shadow));
  const request = { server, url, retired, renames, databases: [shadow], replaces: null };
  const { dropRetired } = await renameAll(context, request);
  // All sessions have ended by now, and were counted.
  const sessions = await readSessions(server, names.base);
  const counted = { ...(sessions !== null && { sessions }), ...(evidence && { evidence }) };
  await server.execute(writeMark(names.base, { ...mark, ...counted }));
  await dropRetired();
  return { swapMs: null, undoDatabase: null, baseDatabase: names.base };
}

interface CreatedBase {
  url: DatabaseUrl;
  from: string;
  to: string;
  base: BaseCopyOptions;
  evidence?: BaseEvidence | null | undefined;
}

async function createBase(
  context: EngineContext,
  server: PostgresSession,
  { url, from, to, base, evidence }: CreatedBase,
): Promise<NewBase> {
  const of = url.database ?? '';
  const made = startStep(context.report, 'base', `Create the base copy ${auxiliaryNames(of).base}`);
  await createClosedCopy(context, server, { url, destination: of, from, to });
  made(`Created the base copy ${auxiliaryNames(of).base}`);
  const loaded_at = context.clock().toISOString();
  const sessions = await readSessions(server, to);
  const counted = { ...(sessions !== null && { sessions }), ...(evidence && { evidence }) };
  const mark: BaseMark = { tool: 'base', of, loaded_at, ...base.facts(), ...counted };
  return { database: to, mark };
}
