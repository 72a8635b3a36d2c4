import { DEFAULT_POOL } from '../../src/cloud/contract/builds.ts';
import { recordEvent } from '../database/audit.ts';
import { ensurePool } from '../database/builds/pools.ts';
import { applySchedule, assertHasNextTime } from '../database/builds/queue.ts';
import { removableSnapshots } from '../database/snapshots/keep-policy.ts';
import { saveTarget } from '../database/targets/save-target.ts';
import { answerWith, listTargets, targetAnswer } from '../database/targets/target-answers.ts';
import { targetUrls } from '../database/targets/target-secrets.ts';
import { removeTarget } from '../database/targets/targets.ts';
import { sightOf } from '../database/targets/visible-targets.ts';
import type { Handlers } from './handler.ts';

export const targetRoutes = {
  async listTargets({ query, caller }, { db, targetLists, loadTargets: load, clock }) {
    const key = JSON.stringify([sightOf(caller), query]);
    return { body: await targetLists.find(key, () => listTargets(db, caller, { ...query, load, now: clock() })) };
  },

  async getTarget({ target, caller }, { db, clock, settings: { keys } }) {
    const body = await targetAnswer(db, target, { caller, now: clock(), keys });
    return { body, revision: target.revision };
  },

  async getRetention({ target, query }, { db }) {
    const keep = Object.keys(query).length > 0 ? query : target.keep;
    const removable = keep ? await removableSnapshots(db, [{ id: target.id, keep }]) : null;
    return { body: { keep, removes: removable?.get(target.id) ?? [] } };
  },

  async putTarget({ parameters: { name }, body, caller, condition, event, permitFound }, hub) {
    const { queue, clock, settings, changeSettings } = hub;
    if (body.schedule) assertHasNextTime(queue, body.schedule);
    return changeSettings(async (transaction) => {
      const change = { name, body, condition, caller, event, permitFound, settings };
      const { row, before, secrets } = await saveTarget(transaction, change);
      // After the request is permitted.
      await ensurePool(transaction, queue, { pool: row.pool ?? DEFAULT_POOL, caller, event });
      await applySchedule(transaction, queue, { before, after: row });
      const saved = await answerWith(transaction, row, { caller, now: clock(), secrets });
      return { status: before ? 200 : 201, body: saved, revision: row.revision };
    });
  },

  async deleteTarget({ condition, event, permit }, { changeSettings, queue }) {
    await changeSettings(async (transaction) => {
      const target = await permit(transaction, 'change');
      await removeTarget(transaction, target, condition);
      await applySchedule(transaction, queue, { before: target, after: null });
      await recordEvent(transaction, { ...event, action: 'target.remove' });
    });
    return { status: 204, body: null };
  },

  async getTargetSecrets({ event, permit }, { db, settings: { keys } }) {
    return db.transaction().execute(async (transaction) => {
      const target = await permit(transaction);
      await recordEvent(transaction, { ...event, action: 'target.read_source' });
      return { body: { urls: await targetUrls(transaction, target, keys) } };
    });
  },
} satisfies Partial<Handlers>;
