import { startStep } from '../../../runtime/events.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { ReplaceResult, RestoreRun } from '../../facets/restore.ts';
import { baseNameTaken } from '../../shared/auxiliary-names.ts';
import { endLeftSessions } from '../../shared/left-sessions.ts';
import { withRightsHint } from '../../shared/restore-failed.ts';
import { tablesText } from '../../shared/rows/divide-tables.ts';
import { type BaseCopyOptions, createBase, type MadeBase } from '../branches/base/base-copies.ts';
import { type BaseRecord, baseCopyState } from '../branches/base/base-record.ts';
import { createSpare } from '../branches/base/create-spare.ts';
import { restoredBranch } from '../branches/restored-branch.ts';
import { dropCode } from '../catalog/definitions/code.ts';
import { withEventsDisabled } from '../catalog/definitions/events.ts';
import { readDependents } from '../catalog/definitions/foreign-keys.ts';
import type { Collations } from '../catalog/introspect.ts';
import { assertNoNameCollision, readNameCase } from '../catalog/name-case.ts';
import { connect, connectToServer } from '../connection/connect.ts';
import { releasable, whileAlive } from '../connection/keep-alive.ts';
import type { MysqlSession } from '../connection/session.ts';
import { withDatabase } from '../connection/url.ts';
import { detailsOf } from '../details.ts';
import { BASE, OUTDATED } from '../server/names.ts';
import { endSession, findSessions, lockDestination, readAuxiliaryNames, verifyLock } from '../server/server.ts';
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
import { assertCreatable, tryEvents } from './assert-creatable.ts';
import { checkRestored } from './check.ts';
import { codeAfterSteps } from './code-after-steps.ts';
import { describeContents } from './difference/contents.ts';
import { openBase, rowsFromBase } from './difference/fill-difference.ts';
import { onlyOwnRows, remoteWarnings } from './left-out.ts';
import { restoreOnlyRows } from './only-rows/restore-only-rows.ts';
import { fillDatabase, readDefinitionsFile } from './rows/fill.ts';
import { analyzeTables } from './statistics.ts';
import { createTemporaryUser } from './temporary-user.ts';

/**
 * Restores a snapshot so that the destination's tables are the old ones or the new ones, whole, whatever happens: into
 * a shadow database beside it, which is checked before its tables take their place. Statements that define tables cannot
 * be rolled back here, so there is no other way.
 */
export async function restore(context: EngineContext, run: RestoreRun): Promise<ReplaceResult> {
  if (run.plan.strategy === 'rows') return await restoreOnlyRows(context, run);
  const { report } = context;
  const { manifest, url, cpus, undo, unchangedSince, read, throwAway, beforeSwap, afterLoad } = run;
  const details = detailsOf(manifest);
  const { definitions, leftOut } = await readDefinitionsFile(manifest, read, run);
  const plan = onlyOwnRows(run.plan, { definitions, details, leftOut });
  // Snapshots of earlier versions do not name them in the manifest, and so in the plan.
  const unplanned = leftOut.filter(({ table }) => !details.definitions_only?.some((one) => one.table === table));
  for (const warning of remoteWarnings(unplanned, { created: false })) report(warning);

  const partial = plan.empty.length > 0 || leftOut.length > 0;
  const keepBase = run.onlyBase ? { spare: false } : run.keepBase;
  const obstacle = afterLoad ? 'steps of after_load have changed the base copy' : null;
  const contents = describeContents({ manifest, details, definitions: definitions.tables, obstacle });
  const kept: BaseRecord['tables'] = [];
  const base = keepBase && { spare: keepBase.spare, snapshot: manifest.id, partial, contents, kept: () => kept };
  const planned = run.plan.difference?.tables ? run.plan.difference : null;
  const loaded: Pick<ReplaceResult, 'ways'> = {};
  const branch = run.branch && (await restoredBranch(context, { url, branch: run.branch }));
  const replaced = await loadThroughShadow(
    context,
    {
      url,
      undo,
      unchangedSince,
      throwAway,
      collations: definitions,
      base,
      keepsCopies: run.keepsCopies,
      onlyBase: run.onlyBase,
      branch,
    },
    async ({ shadow, server, context: running }) => {
      await branch?.begin(server);
      const triggers = definitions.triggers.map(({ name }) => name);
      assertNoNameCollision(await readNameCase(server, triggers), triggers, 'triggers');
      await assertCreatable(running, { url: withDatabase(url, shadow), definitions });
      await using user =
        run.plan.restoredBy.user === 'temporary'
          ? await createTemporaryUser(running, server, { ...run, shadow })
          : null;
      const shadowUrl = user?.url ?? withDatabase(url, shadow);
      const tables = leftOut.map(({ table }) => table);
      const opening = { url, earlier: run.earlier, definitions: definitions.tables };
      const from = planned && (await openBase(server, { ...opening, planned }));
      const fill = {
        url: shadowUrl,
        plan,
        cpus,
        read,
        details,
        definitions,
        leftOut: tables,
        helper: user?.helper ?? null,
        fromBase: from && rowsFromBase(running, from, (reused) => kept.push(...(afterLoad ? [] : reused))),
      };
      const filled = await fillDatabase(running, fill).catch((error) =>
        Promise.reject(withRightsHint(error, run.plan.restoredBy)),
      );
      const { code } = filled;
      if (filled.ways) loaded.ways = filled.ways;
      let { histograms } = details;
      const gather = async (from: DatabaseUrl): Promise<void> => {
        histograms = await analyzeTables(running, { url: from, sessions: cpus, histograms });
      };
      if (!beforeSwap && !throwAway) await gather(shadowUrl);
      const checked = startStep(report, 'check', 'Verify against the manifest');
      const created = new Set(code.views);
      const missing = [...tables, ...definitions.views.filter((view) => !created.has(view)).map(({ name }) => name)];
      await checkRestored(running, {
        url: shadowUrl,
        details,
        plan,
        cpus,
        leftOut: missing,
        code,
        tables: definitions.tables,
      });
      checked(`Verified ${tablesText(plan)}: row counts match`);
      await user?.permitEvents();
      await tryEvents(running, {
        url: shadowUrl,
        code: definitions,
        needed: user !== null || beforeSwap !== undefined,
      });
      if (beforeSwap) {
        await beforeSwap(shadowUrl);
        if (!throwAway) await gather(shadowUrl);
        // It may have changed whatever is there.
        return { code: await readDependents(server, shadow, () => {}), definers: 'mine', histograms };
      }
      const changed = afterLoad
        ? await codeAfterSteps(server, {
            shadow,
            code,
            async run() {
              await afterLoad(withDatabase(url, shadow));
              await endLeftSessions(report, {
                find: () => findSessions(server, shadow),
                end: (id) => endSession(server, id),
              });
              await gather(withDatabase(url, shadow));
            },
          })
        : code;
      return {
        code: run.events ? changed : withEventsDisabled(changed),
        definers: url.parameters.definer === 'keep' ? 'theirs' : 'mine',
        histograms,
      };
    },
  );
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
  {
    url,
    undo,
    unchangedSince,
    collations,
    throwAway,
    base,
    fromBase,
    keepsCopies = false,
    onlyBase,
    branch,
  }: ShadowLoadRequest,
  fill: (made: Shadow) => Promise<Dependents>,
): Promise<ReplaceResult> {
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
    replaced = await swapDatabases(context, { ...swap, base: fromBase || keepsCopies ? 'present' : (made ?? null) });
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
  {
    destination,
    shadow,
    made,
    collations,
  }: { destination: string; shadow: string; made: MadeBase; collations: Collations },
): Promise<void> {
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
async function dropTried(
  context: EngineContext,
  shadow: ShadowLoadRequest['url'],
  { code }: Dependents,
): Promise<void> {
  await using session = await connect(context, shadow);
  await dropCode(session, code);
}
