import { DEFAULT_POOL } from '../../src/cloud/contract/builds.ts';
import { recordEvent } from '../database/audit.ts';
import { applySchedule } from '../database/queue.ts';
import { removableSnapshots } from '../database/retention.ts';
import { saveTarget } from '../database/save-target.ts';
import { answerWith, listTargets, targetAnswer } from '../database/target-answers.ts';
import { targetUrls } from '../database/target-secrets.ts';
import { removeTarget } from '../database/targets.ts';
import { sightOf } from '../database/visible-targets.ts';
import type { Handlers } from './handler.ts';

export const targetRoutes = {
  async listTargets({ query, caller }, { db, lists, loadTargets: load }) {
    const key = JSON.stringify([sightOf(caller), query]);
    return { body: await lists(key, () => listTargets(db, caller, { ...query, load })) };
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
    const { db, queue, clock, settings } = hub;
    if (body.schedule) queue.assertHasNextTime(body.schedule);
    return db.transaction().execute(async (transaction) => {
      const change = { name, body, condition, caller, event, now: clock(), permitFound, settings };
      const { row, before, secrets } = await saveTarget(transaction, change);
      // Not before the request is permitted: pools are few, and stay.
      await queue.ensurePool(row.pool ?? DEFAULT_POOL);
      await applySchedule(transaction, queue, { before, after: row });
      const saved = await answerWith(transaction, row, { caller, secrets });
      return { status: before ? 200 : 201, body: saved, revision: row.revision };
    });
  },

  async deleteTarget({ condition, event, permit }, { db, queue }) {
    await db.transaction().execute(async (transaction) => {
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
