import { recordEvent } from '../database/audit.ts';
import { removableSnapshots } from '../database/retention.ts';
import { listTargets, removeTarget, saveTarget, targetAnswer, targetItem, targetUrls } from '../database/targets.ts';
import type { Handlers } from './handler.ts';

export const targetRoutes: Pick<
  Handlers,
  'listTargets' | 'getTarget' | 'getRetention' | 'putTarget' | 'deleteTarget' | 'getTargetSecrets'
> = {
  async listTargets({ query, caller }, { db }) {
    const { items, next_cursor } = await listTargets(db, caller, query);
    return { body: { items: items.map((row) => targetItem(row, caller)), next_cursor } };
  },

  async getTarget({ target, caller }, { db }) {
    return { body: await targetAnswer(db, target, caller), revision: target.revision };
  },

  async getRetention({ target, query }, { db }) {
    const keep = Object.keys(query).length > 0 ? query : target.keep;
    const removable = keep ? await removableSnapshots(db, [{ id: target.id, keep }]) : null;
    return { body: { keep, removes: removable?.get(target.id) ?? [] } };
  },

  async putTarget({ parameters: { name }, body, caller, condition, address }, { db, settings: { keys } }) {
    return db.transaction().execute(async (transaction) => {
      const { row, created } = await saveTarget(transaction, { name, body, condition, keys });
      const action = created ? 'target.create' : 'target.change';
      await recordEvent(transaction, { actor: caller.name, action, target: name, address });
      return {
        status: created ? 201 : 200,
        body: await targetAnswer(transaction, row, caller),
        revision: row.revision,
      };
    });
  },

  async deleteTarget({ target, caller, condition, address }, { db }) {
    await db.transaction().execute(async (transaction) => {
      await removeTarget(transaction, target, condition);
      await recordEvent(transaction, { actor: caller.name, action: 'target.remove', target: target.name, address });
    });
    return { status: 204, body: null };
  },

  async getTargetSecrets({ target, caller, address }, { db, settings: { keys } }) {
    await recordEvent(db, { actor: caller.name, action: 'target.read_source', target: target.name, address });
    return { body: { urls: await targetUrls(db, target, keys) } };
  },
};
