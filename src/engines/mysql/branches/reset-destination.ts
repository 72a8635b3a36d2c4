import { UserError } from '../../../runtime/errors.ts';
import { startStep } from '../../../runtime/events.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { AllCopies, BaseCopies } from '../../facets/copies.ts';
import type { DestinationResetRequest, ResetRun, Resettable } from '../../facets/reset.ts';
import type { ReplaceResult } from '../../facets/restore.ts';
import { usableBase } from '../../shared/base-copies.ts';
import { assertEnoughSpace } from '../../shared/server/free-space.ts';
import { connectToServer, withServer } from '../connection/connect.ts';
import { quoteText } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { inspectDestination, sessionWarnings } from '../restore/preflight.ts';
import { loadThroughShadow } from '../restore/restore.ts';
import { BASE, OUTDATED } from '../server/names.ts';
import { lockDestination, readAuxiliaryNames } from '../server/server.ts';
import { assertNoForeignReferences } from '../swap/foreign-references.ts';
import { sweepLeftovers } from '../swap/leftovers.ts';
import { dropAuxiliaryDatabase } from '../swap/shadow-databases.ts';
import { fillFromBase, findBaseCopies, takeSpare } from './base-copies.ts';
import { type BaseRecord, readBaseRecord } from './base-record.ts';
import { describeBranches, type MarkedBranch, readMarks } from './list.ts';
import { NOT_IN_PLACE } from './not-in-place.ts';

/** Plans a reset; rejects when no base copy of the destination can be used. */
export async function planReset(context: EngineContext, { url, spare }: DestinationResetRequest): Promise<Resettable> {
  const facts = await inspectDestination(context, url);
  const destination = url.database ?? '';
  await using server = await connectToServer(context, url);
  const copies = await findBaseCopies(server, destination);
  const base = usableBase(copies, url);
  await assertNoForeignReferences(server, destination);
  const from = copies.spare?.outdated === null ? 'spare' : 'base';
  const made = (from === 'spare' ? 0 : 1) + (spare ? 1 : 0);
  assertEnoughSpace(facts, made * (base.sizeBytes ?? 0));
  return {
    destination: facts.destination,
    base,
    from,
    by: 'rows',
    copies: made,
    warnings: sessionWarnings(facts.destination),
    inPlace: NOT_IN_PLACE,
  };
}

/** Replaces the destination by its spare, or by a copy of its base copy. */
export async function reset(context: EngineContext, { url, spare, undo, accept }: ResetRun): Promise<ReplaceResult> {
  const destination = url.database ?? '';
  const { names, collations } = await withServer(context, url, async (server) => ({
    names: await readAuxiliaryNames(server, destination),
    collations: (await recordOf(server, url)).definitions,
  }));
  return loadThroughShadow(
    context,
    { url, undo, collations, fromBase: { spare } },
    async ({ shadow, server, context: running }) => {
      const copies = await findBaseCopies(server, destination);
      accept(usableBase(copies, url));
      const record = await recordOf(server, url);
      const ofSpare =
        copies.spare?.outdated === null
          ? await readBaseRecord(server, { database: names.spare, table: BASE, of: names.of })
          : null;
      if (ofSpare && (await takeSpare(server, { spare: names.spare, to: shadow, record: ofSpare }))) {
        await dropAuxiliaryDatabase(context, server, { name: names.spare, destination });
      } else {
        await fillFromBase(running, { url, to: shadow, base: { name: names.base, record }, rowsLast: false });
      }
      return { code: record.definitions, definers: record.definers, histograms: record.histograms };
    },
  );
}

async function recordOf(server: MysqlSession, url: DatabaseUrl): Promise<BaseRecord> {
  const { of, base } = await readAuxiliaryNames(server, url.database ?? '');
  const record = await readBaseRecord(server, { database: base, table: BASE, of });
  if (record) return record;
  usableBase(await findBaseCopies(server, url.database ?? ''), url);
  throw new UserError('no_base_copy', `The base copy of ${url.display} cannot be read`);
}

/** Base copy and spare of a destination, usable or not. */
export async function findCopies(context: EngineContext, url: DatabaseUrl): Promise<BaseCopies> {
  return withServer(context, url, (server) => findBaseCopies(server, url.database ?? ''));
}

/** Finds the copies of several databases of a server; most have none, which two queries show. */
export async function findAllCopies(context: EngineContext, { urls }: { urls: DatabaseUrl[] }): Promise<AllCopies[]> {
  const [first] = urls;
  if (!first) return [];
  await using server = await connectToServer(context, first);
  const rows = await server.query<{ home: string }>(
    `SELECT TABLE_SCHEMA AS home FROM information_schema.TABLES WHERE TABLE_NAME IN (${[BASE, OUTDATED].map(quoteText).join(', ')})`,
  );
  const homes = new Set(rows.map(({ home }) => home));
  const branches = Map.groupBy(await describeBranches(server, await readMarks(server), { sizes: true }), ofMark);
  const found: AllCopies[] = [];
  for (const { database } of urls) {
    const { of, base, spare } = await readAuxiliaryNames(server, database ?? '');
    const hasCopies = homes.has(base) || homes.has(spare);
    const copies = hasCopies ? await findBaseCopies(server, database ?? '') : { base: null, spare: null };
    found.push({ ...copies, branches: (branches.get(of) ?? []).map(({ mark: _, ...branch }) => branch) });
  }
  return found;
}

function ofMark({ mark }: MarkedBranch): string {
  return mark.of;
}

/** Removes base copy and spare; resolves with the names of those that are gone. */
export async function dropCopies(context: EngineContext, url: DatabaseUrl): Promise<string[]> {
  const destination = url.database ?? '';
  await using server = await connectToServer(context, url);
  const dropped = startStep(context.report, 'drop', `Drop the base copy of ${url.display}`);
  await lockDestination(server, destination);
  await sweepLeftovers(context, { server, url });
  const { base, spare } = await findBaseCopies(server, destination);
  const gone: string[] = [];
  for (const copy of [spare, base]) {
    if (copy && (await dropAuxiliaryDatabase(context, server, { name: copy.name, destination }))) gone.push(copy.name);
  }
  dropped(`Dropped ${gone.join(' and ') || 'nothing'}`);
  return gone;
}
