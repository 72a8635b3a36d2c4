import type { DropCopiesPlan, DropCopiesResult } from '../../results/load-results.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { toDatabaseCopies } from '../load/copies-result.ts';
import { assertSameDestination, chooseDestination, openDestination } from '../load/destination.ts';
import { assertNotASource } from '../load/guard/guard.ts';
import type { Planned } from '../planned.ts';
import type { ResetRequest } from '../reset/reset.ts';
import { withTargetUrls } from '../targets/with-target-urls.ts';

export type DropCopiesRequest = Pick<ResetRequest, 'target' | 'destdb'>;

export type PlannedDropCopies = Planned<DropCopiesRequest, DropCopiesPlan>;

/** Plans the copies to drop. Throws where there are none. */
export async function planDropCopies(given: Context, request: DropCopiesRequest): Promise<PlannedDropCopies> {
  const context = await withTargetUrls(given, request.target, { source: false });
  const { url, connect, restore } = openDestination(context, chooseDestination(context, request));
  await assertNotASource(context, url, request);
  const destination = await connect.inspect();
  const found = toDatabaseCopies(await restore.findCopies());
  const copies = [found?.base, found?.spare].flatMap((copy) => copy ?? []);
  if (copies.length === 0) {
    throw new UserError('no_base_copy', `${url.display} has no base copy and no spare to drop`, {
      hint: 'Nothing has to be done.',
    });
  }
  return {
    request,
    plan: { target: request.target, destination, copies },
    planned_at: context.clock().toISOString(),
  };
}

/** Drops base copy and spare; the destination and its undo copy stay. */
export async function applyDropCopies(given: Context, planned: PlannedDropCopies): Promise<DropCopiesResult> {
  const { request, plan } = planned;
  const context = await withTargetUrls(given, request.target, { source: false });
  const { url, restore } = openDestination(context, chooseDestination({ ...context, report: () => {} }, request));
  assertSameDestination(url, plan.destination);
  const dropped = await restore.dropCopies();
  return { target: request.target, destination: url.display, dropped };
}
