import { recordDownload, recordEvent } from '../database/audit.ts';
import { reportObjects } from '../database/snapshots/object-checks.ts';
import { recordRestore } from '../database/targets/targets.ts';
import { permissionsOn } from '../permissions/access.ts';
import type { Handlers } from './handler.ts';
import { assertOwnObjects, readableSnapshot } from './snapshots.ts';

const MINUTE = 60_000;

/** Minutes in which an object is not checked again, by the permission of the caller. */
const PAUSES = { push: 1, read: 60 };

/** Objects of a target that wait for a check by reports of readers. */
const MOST_WAITING = 200;

export const reportRoutes = {
  async reportObjects({ target, caller, parameters: { snapshot: id }, body: { objects }, event, permit }, hub) {
    const row = await readableSnapshot(hub, { target, caller, id });
    await assertOwnObjects(hub, row, objects);
    await recordDownload(hub.db, { ...event, action: 'snapshot.report', target: target.name, object: id });
    const mayPush = permissionsOn(target, caller).includes('push');
    const answers = await reportObjects(hub.db, {
      permit,
      targetId: target.id,
      snapshotPk: row.pk,
      sha256s: [...new Set(objects)],
      since: new Date(Date.now() - (mayPush ? PAUSES.push : PAUSES.read) * MINUTE),
      mostWaiting: mayPush ? Number.POSITIVE_INFINITY : MOST_WAITING,
    });
    hub.objectChecks.wake();
    return { body: { objects: [...answers].map(([sha256, answer]) => ({ sha256, answer })) } };
  },

  async reportRestore({ parameters: { snapshot }, event, permit }, { db, clock }) {
    await db.transaction().execute(async (transaction) => {
      await recordRestore(transaction, await permit(transaction, 'turn'), { snapshot, at: clock() });
      await recordEvent(transaction, { ...event, action: 'snapshot.prove_restore', object: snapshot });
    });
    return { status: 204, body: null };
  },
} satisfies Partial<Handlers>;
