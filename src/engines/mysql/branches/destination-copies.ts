import { startStep } from '../../../runtime/events.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { AllCopies, BaseCopies } from '../../facets/copies.ts';
import { connectToServer, withServer } from '../connection/connect.ts';
import { quoteText } from '../connection/quote.ts';
import { BASE, OUTDATED } from '../server/names.ts';
import { lockDestination, readAuxiliaryNames } from '../server/server.ts';
import { sweepLeftovers } from '../swap/leftovers.ts';
import { dropAuxiliaryDatabase } from '../swap/shadow-databases.ts';
import { findBaseCopies } from './base/base-copies.ts';
import { describeBranches, type MarkedBranch, readMarks } from './list.ts';

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
