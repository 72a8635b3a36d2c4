import { recordEvent } from '../database/audit.ts';
import { listUsers, setDisabled, type UserRow } from '../database/callers/users.ts';
import { Problem } from '../problem.ts';
import type { Handlers } from './handler.ts';

export const userRoutes = {
  async listUsers({ query }, { db }) {
    const { items, next_cursor } = await listUsers(db, query);
    return { body: { items: items.map(userAnswer), next_cursor } };
  },

  async updateUser({ parameters: { id }, body: { disabled }, event }, { db, callers }) {
    const user = await db.transaction().execute(async (transaction) => {
      const row = await setDisabled(transaction, { id, disabled });
      if (!row) throw new Problem('cloud_unknown', 'There is no such user');
      await recordEvent(transaction, { ...event, action: disabled ? 'user.disable' : 'user.enable', object: row.name });
      return row;
    });
    callers.clear();
    return { body: userAnswer(user) };
  },
} satisfies Partial<Handlers>;

function userAnswer({ id, issuer, subject, name, groups, disabled_at, signed_in_at }: UserRow) {
  const person = { id, issuer, subject, name, groups };
  return { ...person, disabled: disabled_at !== null, signed_in_at: signed_in_at.toISOString() };
}
