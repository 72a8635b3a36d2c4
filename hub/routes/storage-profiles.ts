import { recordEvent } from '../database/audit.ts';
import {
  findProfile,
  listStorageProfiles,
  openStorageProfile,
  removeStorageProfile,
  saveStorageProfile,
  storageProfileAnswer,
} from '../database/storage-profiles.ts';
import { assertEndpointNotLinkLocal } from '../objects/reach.ts';
import { tryStorage } from '../objects/try-storage.ts';
import type { Handlers } from './handler.ts';

export const storageProfileRoutes = {
  async listStorageProfiles({ query }, { db, settings: { keys } }) {
    return { body: await listStorageProfiles(db, query, keys) };
  },

  async getStorageProfile({ parameters: { name } }, { db, settings: { keys } }) {
    const row = await findProfile(db, name);
    return { body: await storageProfileAnswer(db, row, keys), revision: row.revision };
  },

  async putStorageProfile({ parameters: { name }, body, condition, event }, { db, settings: { keys } }) {
    await assertEndpointNotLinkLocal(body.settings);
    const change = { name, ...body, condition, event, keys };
    const { answer, created } = await db.transaction().execute((it) => saveStorageProfile(it, change));
    return { status: created ? 201 : 200, body: answer, revision: answer.revision };
  },

  async deleteStorageProfile({ parameters: { name }, condition, event }, { db }) {
    await db.transaction().execute(async (transaction) => {
      await removeStorageProfile(transaction, name, condition);
      await recordEvent(transaction, { ...event, action: 'storage_profile.remove', object: name });
    });
    return { status: 204, body: null };
  },

  async checkStorageProfile({ parameters: { name } }, { db, settings: { keys } }) {
    const { id } = await findProfile(db, name);
    const { settings } = await openStorageProfile(db, id, keys);
    const error = await tryStorage(name, settings);
    return { body: { ok: error === null, error } };
  },
} satisfies Partial<Handlers>;
