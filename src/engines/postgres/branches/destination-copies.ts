import { startStep } from '../../../runtime/events.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { AllCopies, BaseCopies } from '../../facets/copies.ts';
import { connectToServer } from '../connection/connect.ts';
import { auxiliaryNames, dropMarked, lockDestination, sweepLeftovers } from '../server/server.ts';
import { findBaseCopies } from './base-copies.ts';
import { readBranches } from './list.ts';

/** Base copy and spare of a destination, usable or not. */
export async function findCopies(context: EngineContext, url: DatabaseUrl): Promise<BaseCopies> {
  await using server = await connectToServer(context, url);
  return await findBaseCopies(server, url.database ?? '');
}

/** Finds the copies of several databases of a server; most have none, which one query shows. */
export async function findAllCopies(context: EngineContext, { urls }: { urls: DatabaseUrl[] }): Promise<AllCopies[]> {
  const [first] = urls;
  if (!first) return [];
  await using server = await connectToServer(context, first);
  const rows = await server.query<{ name: string }>(
    `SELECT datname AS name FROM pg_database WHERE datname LIKE '%.tool-%'`,
  );
  const names = new Set(rows.map(({ name }) => name));
  const branches = Map.groupBy(await readBranches(server, { sizes: true }), ({ mark }) => mark.of);
  const found: AllCopies[] = [];
  for (const { database } of urls) {
    const { base, spare } = auxiliaryNames(database ?? '');
    const hasCopies = names.has(base) || names.has(spare);
    const copies = hasCopies ? await findBaseCopies(server, database ?? '') : { base: null, spare: null };
    found.push({ ...copies, branches: (branches.get(database ?? '') ?? []).map(({ mark: _, ...branch }) => branch) });
  }
  return found;
}

/** Removes base copy and spare; resolves with the names of those that are gone. */
export async function dropCopies(context: EngineContext, url: DatabaseUrl): Promise<string[]> {
  const { report } = context;
  const destination = url.database ?? '';
  await using server = await connectToServer(context, url);
  const dropped = startStep(report, 'drop', `Drop the base copy of ${url.display}`);
  await lockDestination(server, destination);
  await sweepLeftovers(server, destination, report);
  const { base, spare } = await findBaseCopies(server, destination);
  const gone: string[] = [];
  for (const copy of [spare, base]) {
    if (copy && (await dropMarked(server, { name: copy.name, destination, report }))) gone.push(copy.name);
  }
  dropped(`Dropped ${gone.join(' and ') || 'nothing'}`);
  return gone;
}
