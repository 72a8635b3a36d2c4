import { UserError } from '../../../runtime/errors.ts';
import { startStep } from '../../../runtime/events.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { AllCopies, BaseCopies } from '../../facets/copies.ts';
import type { DestinationResetRequest, ResetRun, Resettable } from '../../facets/reset.ts';
import type { ReplaceResult } from '../../facets/restore.ts';
import { usableBase } from '../../shared/base-copies.ts';
import { assertEnoughSpace } from '../../shared/server/free-space.ts';
import { connectToServer } from '../connection/connect.ts';
import { quoteName } from '../connection/quote.ts';
import { sessionWarnings } from '../restore/preflight.ts';
import {
  auxiliaryNames,
  dropMarked,
  findAuxiliaryDatabases,
  lockDestination,
  sweepLeftovers,
} from '../server/server.ts';
import { checkSwap } from '../swap/blockers.ts';
import { inspectDestination } from '../swap/inspect-destination.ts';
import { replaceDestination } from '../swap/replace.ts';
import { findBaseCopies, newFromBase } from './base-copies.ts';
import { planInPlace } from './in-place/reset-in-place.ts';
import { readBranches } from './list.ts';

/** Plans a reset; rejects when no base copy of the destination can be used. */
export async function planReset(context: EngineContext, { url, spare }: DestinationResetRequest): Promise<Resettable> {
  const facts = await inspectDestination(context, url);
  const destination = url.database ?? '';
  await using server = await connectToServer(context, url);
  const copies = await findBaseCopies(server, destination);
  const base = usableBase(copies, url);
  if (!facts.maySwap) throw mayNotReset(url, facts.whyNot);
  const warnings = await checkSwap(server, { destination, undo: true, base: true });
  const usesSpare = isUsable(copies.spare);
  const made = (usesSpare ? 0 : 1) + (spare ? 1 : 0);
  assertEnoughSpace(facts, made * (base.sizeBytes ?? 0));
  const from = usesSpare ? 'spare' : 'base';
  const all = [...sessionWarnings(facts, 'swap'), ...warnings];
  const { base: marked } = await findAuxiliaryDatabases(server, destination);
  const inPlace = await planInPlace(context, { url, base: marked });
  return { destination: facts.destination, base, from, by: 'files', copies: made, warnings: all, inPlace };
}

/** Replaces the destination by its spare, or by a copy of its base copy. */
export async function reset(
  context: EngineContext,
  { url, spare, undo, role, accept }: ResetRun,
): Promise<ReplaceResult> {
  const destination = url.database ?? '';
  return replaceDestination(
    context,
    { url, undo, role, fromBase: { spare } },
    {
      async create({ server, shadow }) {
        const copies = await findBaseCopies(server, destination);
        const base = usableBase(copies, url);
        accept(base);
        const spare = isUsable(copies.spare) ? copies.spare : null;
        await newFromBase(context, server, { url, base, spare, to: shadow });
      },
    },
  );
}

function isUsable(copy: BaseCopies['spare']): boolean {
  return copy !== null && copy.outdated === null;
}

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

function mayNotReset(url: DatabaseUrl, whyNot: string): UserError {
  return new UserError('may_not_create', `Cannot create a database beside ${url.display}: ${whyNot}`, {
    hint: `A reset swaps the destination with a copy. As an administrator: ALTER ROLE ${quoteName(url.user ?? 'NAME')} CREATEDB`,
  });
}
