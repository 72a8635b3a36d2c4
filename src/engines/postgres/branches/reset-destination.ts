import { UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { DestinationResetRequest, ResetRun, Resettable } from '../../facets/reset.ts';
import { usableBase, usableSpare } from '../../shared/base-copies.ts';
import { assertEnoughSpace } from '../../shared/disk-space.ts';
import { connectToServer } from '../connection/connect.ts';
import { quoteName } from '../connection/quote.ts';
import { inspectDestination } from '../restore/inspect-destination.ts';
import { sessionWarnings } from '../restore/preflight.ts';
import { findAuxiliaryDatabases } from '../server/server.ts';
import { checkSwap } from '../swap/blockers.ts';
import { replaceDestination } from '../swap/replace.ts';
import { findBaseCopies, hasRowsOf, newFromBase } from './base-copies.ts';
import { planInPlace } from './in-place/reset-in-place.ts';

/** Plans a reset; rejects when no base copy of the destination can be used. */
export async function planReset(context: EngineContext, { url, spare }: DestinationResetRequest): Promise<Resettable> {
  const facts = await inspectDestination(context, url);
  const destination = url.database ?? '';
  await using server = await connectToServer(context, url);
  const copies = await findBaseCopies(server, destination);
  const base = usableBase(copies, url);
  if (!facts.maySwap) throw mayNotReset(url, facts.whyNot);
  const warnings = await checkSwap(server, { destination, undo: true, base: true });
  const usesSpare = usableSpare(copies) !== null;
  const made = (usesSpare ? 0 : 1) + (spare ? 1 : 0);
  assertEnoughSpace(facts, made * (base.sizeBytes ?? 0));
  const from = usesSpare ? 'spare' : 'base';
  const all = [...sessionWarnings(facts, 'swap'), ...warnings];
  const { base: marked } = await findAuxiliaryDatabases(server, destination);
  const inPlace = await planInPlace(context, { url, base: marked });
  return { destination: facts.destination, base, from, by: 'files', copies: made, warnings: all, inPlace };
}

/** Replaces the destination by its spare, or by a copy of its base copy. */
export async function reset(context: EngineContext, { url, spare, undo, role, accept, manifest }: ResetRun) {
  const destination = url.database ?? '';
  let hasItsRows = false;
  return replaceDestination(
    context,
    { url, undo, role, fromBase: { spare }, rowsOf: () => (hasItsRows && manifest) || null },
    {
      async create({ server, shadow }) {
        const copies = await findBaseCopies(server, destination);
        const base = usableBase(copies, url);
        accept(base);
        const { base: marked } = await findAuxiliaryDatabases(server, destination);
        hasItsRows = manifest !== undefined && marked !== null && hasRowsOf(marked.mark, manifest);
        await newFromBase(context, server, { url, base, spare: usableSpare(copies), to: shadow });
      },
    },
  );
}

function mayNotReset(url: DatabaseUrl, whyNot: string): UserError {
  return new UserError('may_not_create', `Cannot create a database beside ${url.display}: ${whyNot}`, {
    hint: `A reset swaps the destination with a copy. As an administrator: ALTER ROLE ${quoteName(url.user ?? 'NAME')} CREATEDB`,
  });
}
