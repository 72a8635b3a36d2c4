import type { Connection, Database } from '../database.ts';
import { type Page, type PageQuery, pageOf } from '../paging.ts';
import type { RowOf } from '../tables.ts';
import { revokeSessions } from './tokens.ts';

export type UserRow = RowOf<'users'>;

type SignedInUser = Pick<UserRow, 'issuer' | 'subject' | 'name' | 'groups'>;

/** Creates the user at the first sign-in, and renews name and groups at each. */
export async function saveUser(db: Connection, user: SignedInUser): Promise<UserRow> {
  const now = new Date();
  return db
    .insertInto('users')
    .values({ ...user, signed_in_at: now })
    .onConflict((on) =>
      on.columns(['issuer', 'subject']).doUpdateSet({ name: user.name, groups: user.groups, signed_in_at: now }),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Disables or enables a user. A disabled one loses all sessions. */
export async function setDisabled(
  db: Connection,
  { id, disabled }: { id: string; disabled: boolean },
): Promise<UserRow | null> {
  const row = await db
    .updateTable('users')
    .set({ disabled_at: disabled ? new Date() : null })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  if (disabled) await revokeSessions(db, id);
  return row ?? null;
}

export async function listUsers(db: Database, paging: PageQuery): Promise<Page<UserRow>> {
  return pageOf(db.selectFrom('users').selectAll(), paging, { table: 'users', by: { name: 'text', id: 'id' } });
}

/** `false` when this ID token was exchanged before. */
export async function spendIdToken(db: Connection, hash: Buffer, expiresAt: Date): Promise<boolean> {
  await db.deleteFrom('spent_id_tokens').where('expires_at', '<', new Date()).execute();
  const inserted = await db
    .insertInto('spent_id_tokens')
    .values({ hash, expires_at: expiresAt })
    .onConflict((on) => on.doNothing())
    .returning('hash')
    .executeTakeFirst();
  return inserted !== undefined;
}
