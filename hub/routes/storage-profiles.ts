import { recordEvent } from '../database/audit.ts';
import {
  findStorageProfile,
  listStorageProfiles,
  openStorageProfile,
  removeStorageProfile,
  type StorageProfileRow,
  savedProfileAnswer,
  saveStorageProfile,
  storageProfileAnswer,
} from '../database/storage-profiles.ts';
import type { Hub } from '../hub.ts';
import { refuseLinkLocal } from '../objects/reach.ts';
import { tryStorage } from '../objects/try-storage.ts';
import { Problem } from '../problem.ts';
import type { Handlers } from './handler.ts';

export const storageProfileRoutes: Pick<
  Handlers,
  'listStorageProfiles' | 'getStorageProfile' | 'putStorageProfile' | 'deleteStorageProfile' | 'checkStorageProfile'
> = {
  async listStorageProfiles({ query }, { db, settings: { keys } }) {
    return { body: await listStorageProfiles(db, query, keys) };
  },

  async getStorageProfile({ parameters: { name } }, { db, settings: { keys } }) {
    const row = await known(db, name);
    return { body: await storageProfileAnswer(db, row, keys), revision: row.revision };
  },

  async putStorageProfile({ parameters: { name }, body, caller, condition, address }, { db, settings: { keys } }) {
    const { settings, applied, target_groups } = body;
    await refuseLinkLocal(settings);
    return db.transaction().execute(async (transaction) => {
      const change = {
        name,
        settings,
        applied,
        condition,
        keys,
        ...(target_groups !== undefined && { target_groups }),
      };
      const { row, created } = await saveStorageProfile(transaction, change);
      const action = created ? 'storage_profile.create' : 'storage_profile.change';
      await recordEvent(transaction, { by: caller, action, object: name, address });
      return {
        status: created ? 201 : 200,
        body: await savedProfileAnswer(transaction, row),
        revision: row.revision,
      };
    });
  },

  async deleteStorageProfile({ parameters: { name }, caller, condition, address }, { db }) {
    await db.transaction().execute(async (transaction) => {
      await removeStorageProfile(transaction, name, condition);
      await recordEvent(transaction, { by: caller, action: 'storage_profile.remove', object: name, address });
    });
    return { status: 204, body: null };
  },

  async checkStorageProfile({ parameters: { name } }, { db, settings: { keys } }) {
    const { id } = await known(db, name);
    const { settings } = await openStorageProfile(db, id, keys);
    const error = await tryStorage(name, settings);
    return { body: { ok: error === null, error } };
  },
};

async function known(db: Hub['db'], name: string): Promise<StorageProfileRow> {
  const row = await findStorageProfile(db, name);
  if (row) return row;
  throw new Problem('cloud_unknown', `There is no storage profile "${name}"`);
}
