import { startStep } from '../../../runtime/events.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { ReplaceResult, RestoreRun } from '../../facets/restore.ts';
import { baseNameTaken } from '../../shared/auxiliary-names.ts';
import { type BaseCopyOptions, createBase, type MadeBase } from '../branches/base/base-copies.ts';
import { type BaseRecord, baseCopyState } from '../branches/base/base-record.ts';
import { createSpare } from '../branches/base/create-spare.ts';
import { restoredBranch } from '../branches/restored-branch.ts';
import { dropCode } from '../catalog/definitions/code.ts';
import type { Collations } from '../catalog/introspect.ts';
import { connect, connectToServer } from '../connection/connect.ts';
import { releasable, whileAlive } from '../connection/keep-alive.ts';
import type { MysqlSession } from '../connection/session.ts';
import { withDatabase } from '../connection/url.ts';
import { detailsOf } from '../details.ts';
import { BASE, OUTDATED } from '../server/names.ts';
import { lockDestination, readAuxiliaryNames, verifyLock } from '../server/server.ts';
import type { Dependents } from '../swap/exchange.ts';
import { assertNoForeignReferences } from '../swap/foreign-references.ts';
import { settleAfterFailure, sweepLeftovers } from '../swap/leftovers.ts';
import { assertNoPreparedTransaction } from '../swap/send-swap.ts';
import {
  assertNoForeignObjects,
  assertNoReservedTable,
  createShadowDatabase,
  dropAuxiliaryDatabase,
} from '../swap/shadow-databases.ts';
import { type BranchSwap, planBase, swapDatabases } from '../swap/swap.ts';
import { renameStatement } from '../swap/swap-packet.ts';
import { describeContents } from './difference/contents.ts';
import { fillShadow } from './fill-shadow.ts';
import { onlyOwnRows, remoteWarnings } from './left-out.ts';
import { restoreOnlyRows } from './only-rows/restore-only-rows.ts';
import { readDefinitionsFile } from './rows/fill.ts';

/**
 * Restores a snapshot so that the destination's tables are the old ones or the new ones, whole, whatever happens: into
 * a shadow database beside it, which is checked before its tables take their place. Statements that define tables cannot
 * be rolled back here, so there is no other way.
 */
export async function restore(context: EngineContext, run: RestoreRun): Promise<ReplaceResult> {
  if (run.plan.strategy === 'rows') return await restoreOnlyRows(context, run);
  const { manifest, afterLoad } = run;
  const details = detailsOf(manifest);
  const { definitions, leftOut } = await readDefinitionsFile(manifest, run.read, run);
  const plan = onlyOwnRows(run.plan, { definitions, details, leftOut });
  // Snapshots of earlier versions do not name them in the manifest, and so in the plan.
  const unplanned = leftOut.filter(({ table }) => !details.definitions_only?.some((one) => one.table === table));
  for (const warning of remoteWarnings(unplanned, { created: false })) context.report(warning);

  const partial = plan.empty.length > 0 || leftOut.length > 0;
  const keepBase = run.onlyBase ? { spare: false } : run.keepBase;
  const obstacle = afterLoad ? 'steps of after_load have changed the base copy' : null;
  const contents = describeContents({ manifest, details, definitions: definitions.tables, obstacle });
  const kept: BaseRecord['tables'] = [];
  const onReused = (reused: typeof kept): number => kept.push(...(afterLoad ? [] : reused));
  const base = keepBase && { spare: keepBase.spare, snapshot: manifest.id, partial, contents, kept: () => kept };
  const loaded: Pick<ReplaceResult, 'ways'> = {};
  const branch = run.branch && (await restoredBranch(context, { url: run.url, branch: run.branch }));
  const load = { ...run, collations: definitions, base, branch };
  const replaced = await loadThroughShadow(context, load, async ({ shadow, server, context: running }) => {
    await branch?.begin(server);
    const content = { run, plan, details, definitions, leftOut, onReused };
    const { dependents, ways } = await fillShadow(running, { ...content, server, shadow });
    if (ways) loaded.ways = ways;
    return dependents;
  });
  return { ...replaced, ...loaded };
}

export interface ShadowLoadRequest extends Pick<RestoreRun, 'url' | 'undo' | 'unchangedSince'> {
  collations: Collations;
  /** Drops what was made, instead of giving it the destination's place. */
  throwAway?: boolean | undefined;
  /** Makes a base copy of the new database. Default: none remains. */
  base?: BaseCopyOptions | undefined;
  /** The new database is made from the present base copy, which remains. */
  fromBase?: { spare: boolean } | undefined;
  /** The present base copy and spare remain. */
  keepsCopies?: boolean | undefined;
  /** The base copy is all that remains of the new database. */
  onlyBase?: boolean | undefined;
  /** Called under the lock; the new database is that of a branch. */
  branch?: BranchSwap | undefined;
}

export interface Shadow {
  shadow: string;
  server: MysqlSession;
  context: EngineContext;
}

/** Makes a database beside the destination, has it filled, and swaps the two; leaves nothing when that fails. */
export async function loadThroughShadow(
  context: EngineContext,
  request: ShadowLoadRequest,
  fill: (made: Shadow) => Promise<Dependents>,
): Promise<ReplaceResult> {
  const { url, undo, unchangedSince, collations, throwAway, base, fromBase, onlyBase, branch } = request;
  const { report } = context;
  const destination = url.database ?? '';
  const { signal, release } = releasable(context.signal);
  await using server = await connectToServer({ signal }, url, { several: true });
  const prepared = startStep(report, 'prepare', `Create a shadow database beside ${url.display}`);
  await lockDestination(server, destination);
  await sweepLeftovers(context, { server, url });
  await assertNoForeignObjects(context, server, { destination, undo });
  if (base || fromBase) await assertBaseNamesFree(server, destination);
  if (!throwAway) await assertNoForeignReferences(server, destination);
  if (!throwAway && !onlyBase) await assertNoPreparedTransaction(server, destination);
  const shadow = (await readAuxiliaryNames(server, destination)).shadow();
  let replaced: ReplaceResult;
  try {
    await createShadowDatabase(server, { name: shadow, destination, collations, branchOf: branch?.of });
    prepared(`Created shadow database ${shadow}`);
    const dependents = await whileAlive(context, { session: server }, (running) =>
      fill({ shadow, server, context: running }),
    );
    if (throwAway) {
      await dropAuxiliaryDatabase(context, server, { name: shadow, destination });
      return { swapMs: null, undoDatabase: null };
    }
    await dropTried(context, withDatabase(url, shadow), dependents);
    context.signal.throwIfAborted();
    await assertNoReservedTable(server, shadow);
    const made =
      base &&
      (await whileAlive(context, { session: server }, (running) =>
        createBase(running, server, { url, shadow, base, dependents }),
      ));
    context.signal.throwIfAborted();
    if (onlyBase && made) {
      await placeOnlyBase(context, server, { destination, shadow, made, collations });
      const { base: name } = await readAuxiliaryNames(server, destination);
      return { swapMs: null, undoDatabase: null, baseDatabase: name };
    }
    const swap = { server, begun: release, url, shadow, undo, unchangedSince, branch, ...dependents };
    replaced = await swapDatabases(context, {
      ...swap,
      base: fromBase || request.keepsCopies ? 'present' : (made ?? null),
    });
  } catch (error) {
    // Gives the lock free for the session that cleans up: this one may be gone with what made the run fail.
    await server.close();
    throw await settleAfterFailure(context, url, error);
  }
  const names = await readAuxiliaryNames(server, destination);
  const spare = (fromBase ?? base)?.spare ? await createSpare(context, server, url) : undefined;
  return { ...replaced, ...(base && { baseDatabase: names.base }), ...(spare && { spareDatabase: spare }) };
}

/** The base copy of a load that leaves the destination alone, which is of no present destination. */
async function placeOnlyBase(
  context: EngineContext,
  server: MysqlSession,
  given: { destination: string; shadow: string; made: MadeBase; collations: Collations },
): Promise<void> {
  const { destination, shadow, made, collations } = given;
  await server.execute(renameStatement([{ from: [made.database, BASE], to: [made.database, OUTDATED] }]));
  const { renames, obsolete } = await planBase(context, server, { destination, made, collations });
  await verifyLock(server, destination);
  await server.execute(renameStatement(renames));
  for (const name of [shadow, ...obsolete]) await dropAuxiliaryDatabase(context, server, { name, destination });
}

async function assertBaseNamesFree(server: MysqlSession, destination: string): Promise<void> {
  const { of, base, spare } = await readAuxiliaryNames(server, destination);
  for (const database of [base, spare]) {
    if ((await baseCopyState(server, { database, of })) === 'foreign') throw baseNameTaken(database, destination);
  }
}

/** Tables with triggers do not move between databases: here they were made only to be checked. */
async function dropTried(context: EngineContext, shadow: ShadowLoadRequest['url'], { code }: Dependents) {
  await using session = await connect(context, shadow);
  await dropCode(session, code);
}
