import { setTimeout as wait } from 'node:timers/promises';
import { DEFAULT_POOL } from '../../src/cloud/contract/builds.ts';
import { ROUTES } from '../../src/cloud/contract/routes.ts';
import { recordEvent } from '../database/audit.ts';
import { claimBuild, describeBuild, finishBuild, keepBuild, notify, requestBuild } from '../database/builds/builds.ts';
import type { Database } from '../database/database.ts';
import { findTargets } from '../database/targets/targets.ts';
import { type Caller, decide } from '../permissions/access.ts';
import type { Handlers } from './handler.ts';

/** Milliseconds between two looks of a claim that waits. */
const LOOK_EVERY = 1000;

export const buildRoutes = {
  async requestBuild({ event, permit }, { db, queue }) {
    const { id, created } = await db.transaction().execute(async (transaction) => {
      const target = await permit(transaction);
      const requested = await requestBuild(transaction, queue, target);
      if (requested.created)
        await recordEvent(transaction, { ...event, action: 'build.request', object: requested.id });
      return requested;
    });
    return { status: created ? 201 : 200, body: await describeBuild(db, id) };
  },

  async claimBuild({ body: { pool, targets, wait: seconds }, callerNow, address, signal }, { db, queue, ending }) {
    const until = performance.now() + seconds * 1000;
    const ended = AbortSignal.any([ending, signal]);
    while (true) {
      // Looked at each time: the token, a permission, or the pool of a target, may have changed.
      const caller = await callerNow();
      const { ids, refused } = await buildable(db, { targets, pool, caller });
      const claiming = { caller, address, pool, targetIds: ids };
      const build = ids.length === 0 || signal.aborted ? null : await claimBuild(db, queue, claiming);
      const left = until - performance.now();
      if (build || left <= 0 || ended.aborted) return { body: { build, refused } };
      await wait(Math.min(left, LOOK_EVERY), undefined, { signal: ended }).catch(() => {});
    }
  },

  async heartbeatBuild({ parameters: { id }, body: { lease }, caller }, { db, queue }) {
    await keepBuild(db, queue, { id, lease, caller });
    return { status: 204, body: null };
  },

  async finishBuild({ parameters: { id }, body, caller, event }, { db, queue }) {
    await db.transaction().execute(async (transaction) => {
      const { lease } = body;
      const finished = await finishBuild(transaction, queue, { id, lease, caller, body });
      if (finished.repeated) return;
      const { target, targetId: target_id, actor } = finished;
      await recordEvent(transaction, { ...event, action: `build.${body.outcome}`, target, object: id });
      if (body.outcome !== 'failed') return;
      const { code, message } = body;
      await notify(transaction, queue, { event: 'build.failed', target_id, target, agent: actor, code, message });
    });
    return { status: 204, body: null };
  },

  async getBuild({ parameters: { id } }, { db }) {
    return { body: await describeBuild(db, id) };
  },
} satisfies Partial<Handlers>;

/** Returns the ids of buildable targets; refuses unknown ones, those of another pool and not permitted ones alike. */
async function buildable(
  db: Database,
  { targets, pool, caller }: { targets: string[]; pool: string; caller: Caller },
): Promise<{ ids: string[]; refused: string[] }> {
  const rows = await findTargets(db, targets);
  const allowed = rows.filter(
    (row) =>
      (row.pool ?? DEFAULT_POOL) === pool && decide(ROUTES.claimBuild.access, caller, { target: row }) === 'permitted',
  );
  const names = new Set(allowed.map(({ name }) => name));
  return { ids: allowed.map(({ id }) => id), refused: targets.filter((name) => !names.has(name)) };
}
