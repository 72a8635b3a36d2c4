import { DEFAULT_POOL } from '../../src/cloud/contract/builds.ts';
import { recordEvent } from '../database/audit.ts';
import { applySchedule } from '../database/queue.ts';
import { removableSnapshots } from '../database/retention.ts';
import { listTargets, removeTarget, saveTarget, targetAnswer, targetItem, targetUrls } from '../database/targets.ts';
import { refuseLinkLocalAddress } from '../objects/reach.ts';
import { Problem } from '../problem.ts';
import type { Handlers } from './handler.ts';

export const targetRoutes: Pick<
  Handlers,
  'listTargets' | 'getTarget' | 'getRetention' | 'putTarget' | 'deleteTarget' | 'getTargetSecrets'
> = {
  async listTargets({ query, caller }, { db, clock }) {
    const { items, next_cursor } = await listTargets(db, caller, { ...query, now: clock() });
    return { body: { items: items.map((row) => targetItem(row, caller)), next_cursor } };
  },

  async getTarget({ target, caller }, { db, clock }) {
    return { body: await targetAnswer(db, target, { caller, now: clock() }), revision: target.revision };
  },

  async getRetention({ target, query }, { db }) {
    const keep = Object.keys(query).length > 0 ? query : target.keep;
    const removable = keep ? await removableSnapshots(db, [{ id: target.id, keep }]) : null;
    return { body: { keep, removes: removable?.get(target.id) ?? [] } };
  },

  async putTarget({ parameters: { name }, body, caller, condition, address }, hub) {
    const {
      db,
      queue,
      clock,
      settings: { keys },
    } = hub;
    if (body.webhook?.url.startsWith('http:') && caller.role !== 'owner') {
      throw new Problem('cloud_refused', 'Only owners may notify a service on the machine of the hub', {
        errors: [{ pointer: '/webhook/url', detail: 'must begin with https://' }],
      });
    }
    if (body.webhook) refuseLinkLocalAddress(body.webhook.url, '/webhook/url');
    if (body.schedule) queue.refuseEmpty(body.schedule);
    await queue.ensurePool(body.pool ?? DEFAULT_POOL);
    return db.transaction().execute(async (transaction) => {
      const { row, before, created } = await saveTarget(transaction, { name, body, condition, keys });
      await applySchedule(transaction, queue, { before, after: row });
      const action = created ? 'target.create' : 'target.change';
      await recordEvent(transaction, { actor: caller.name, action, target: name, address });
      return {
        status: created ? 201 : 200,
        body: await targetAnswer(transaction, row, { caller, now: clock() }),
        revision: row.revision,
      };
    });
  },

  async deleteTarget({ target, caller, condition, address }, { db, queue }) {
    await db.transaction().execute(async (transaction) => {
      await removeTarget(transaction, target, condition);
      await applySchedule(transaction, queue, { before: target, after: null });
      await recordEvent(transaction, { actor: caller.name, action: 'target.remove', target: target.name, address });
    });
    return { status: 204, body: null };
  },

  async getTargetSecrets({ target, caller, address }, { db, settings: { keys } }) {
    await recordEvent(db, { actor: caller.name, action: 'target.read_source', target: target.name, address });
    return { body: { urls: await targetUrls(db, target, keys) } };
  },
};
