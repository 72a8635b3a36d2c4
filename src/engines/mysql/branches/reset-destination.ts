import { UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { DestinationResetRequest, ResetRun, Resettable } from '../../facets/reset.ts';
import type { ReplaceResult } from '../../facets/restore.ts';
import { usableBase, usableSpare } from '../../shared/base-copies.ts';
import { assertEnoughSpace } from '../../shared/disk-space.ts';
import { connectToServer, withServer } from '../connection/connect.ts';
import type { MysqlSession } from '../connection/session.ts';
import { inspectDestination } from '../restore/inspect-destination.ts';
import { sessionWarnings } from '../restore/preflight.ts';
import { loadThroughShadow } from '../restore/restore.ts';
import { BASE } from '../server/names.ts';
import { readAuxiliaryNames } from '../server/server.ts';
import { assertNoForeignReferences } from '../swap/foreign-references.ts';
import { assertNoPreparedTransaction } from '../swap/send-swap.ts';
import { fillFromBase, findBaseCopies } from './base/base-copies.ts';
import { type BaseRecord, readBaseRecord } from './base/base-record.ts';
import { takeSpare } from './base/take-spare.ts';
import { planInPlace } from './in-place/reset-in-place.ts';
import { provableStates, recordUnwritten } from './in-place/unwritten-tables.ts';

/** Plans a reset; rejects when no base copy of the destination can be used. */
export async function planReset(context: EngineContext, { url, spare }: DestinationResetRequest): Promise<Resettable> {
  const facts = await inspectDestination(context, url);
  const destination = url.database ?? '';
  await using server = await connectToServer(context, url);
  const copies = await findBaseCopies(server, destination);
  const base = usableBase(copies, url);
  await assertNoForeignReferences(server, destination);
  await assertNoPreparedTransaction(server, destination);
  const from = usableSpare(copies) ? 'spare' : 'base';
  const made = (from === 'spare' ? 0 : 1) + (spare ? 1 : 0);
  assertEnoughSpace(facts, made * (base.sizeBytes ?? 0));
  return {
    destination: facts.destination,
    base,
    from,
    by: 'rows',
    copies: made,
    warnings: sessionWarnings(facts.destination),
    inPlace: from === 'spare' ? 'the spare is ready' : await planInPlace(context, { url, base }),
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
      accept(usableBase(await findBaseCopies(server, destination), url));
      const record = await recordOf(server, url);
      if (!(await takeSpare(running, server, { url, to: shadow, base: record }))) {
        await fillFromBase(running, { url, to: shadow, base: { name: names.base, record }, rowsLast: false });
      }
      const states = await provableStates(server, shadow);
      await recordUnwritten(server, { database: names.base, base: record.id, states });
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
