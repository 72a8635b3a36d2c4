import { recordEvent } from '../database/audit.ts';
import { insertServiceToken, listServiceTokens, revokeToken, targetIdsOf } from '../database/callers/tokens.ts';
import { Problem } from '../problem.ts';
import type { Handlers } from './handler.ts';

const DAY = 86_400_000;

export const tokenRoutes = {
  async listTokens({ query }, { db }) {
    const { items, next_cursor } = await listServiceTokens(db, query);
    const answers = items.map(({ created_at, expires_at, revoked_at, id, name, role, targets }) => ({
      ...{ id, name, role, targets },
      created_at: created_at.toISOString(),
      expires_at: expires_at.toISOString(),
      revoked_at: revoked_at?.toISOString() ?? null,
    }));
    return { body: { items: answers, next_cursor } };
  },

  async createToken({ body: { name, role, targets, expires_in_days }, event }, { db, clock }) {
    const ids = await targetIdsOf(db, targets);
    const unknown = targets.filter((target) => !ids.has(target));
    if (unknown.length > 0) {
      throw new Problem('cloud_refused', `There is no target ${unknown.map((target) => `"${target}"`).join(', ')}`, {
        errors: unknown.map((target) => ({ pointer: `/targets/${targets.indexOf(target)}`, detail: 'is unknown' })),
      });
    }
    const expiresAt = new Date(clock().getTime() + expires_in_days * DAY);
    return db.transaction().execute(async (transaction) => {
      const service = { name, role, targetIds: [...ids.values()], expiresAt };
      const { id, token, created_at } = await insertServiceToken(transaction, service);
      await recordEvent(transaction, { ...event, action: 'token.create', object: name });
      const times = { created_at: created_at.toISOString(), expires_at: expiresAt.toISOString(), revoked_at: null };
      return { status: 201, body: { id, name, role, targets: [...ids.keys()], ...times, authtoken: token } };
    });
  },

  async revokeToken({ parameters: { id }, event }, { db, callers }) {
    await db.transaction().execute(async (transaction) => {
      const name = await revokeToken(transaction, id, { service: true });
      if (name === null) throw new Problem('cloud_unknown', 'There is no such token, or it was revoked before');
      await recordEvent(transaction, { ...event, action: 'token.revoke', object: name });
    });
    callers.clear();
    return { status: 204, body: null };
  },
} satisfies Partial<Handlers>;
