import { createHash, randomBytes } from 'node:crypto';
import type { Insertable } from 'kysely';
import { type Caller, isAuditor, roleOf } from '../../permissions/access.ts';
import type { HubSettings } from '../../settings/settings.ts';
import type { Connection, Database } from '../database.ts';
import { type PageQuery, pageOf } from '../paging.ts';
import type { Tables } from '../tables.ts';
import { findTargets } from '../targets/targets.ts';

/** A text that begins so is a token of a hub: scanners of repositories find it. */
const PREFIX = 'toolhub_';

/** The cookie of a page holds another kind of token, which the API refuses. */
const PAGE_PREFIX = 'toolhubpage_';

export function isPageToken(token: string): boolean {
  return token.startsWith(PAGE_PREFIX);
}

export function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The caller with this token; `null` when it is unknown, revoked or expired, or its user is disabled. */
export async function callerWith(db: Database, token: string, settings: HubSettings): Promise<Caller | null> {
  if (!token.startsWith(PREFIX) && !isPageToken(token)) return null;
  const row = await db
    .selectFrom('tokens')
    .leftJoin('users', 'users.id', 'tokens.user_id')
    .select(['tokens.id as token_id', 'tokens.name', 'tokens.role', 'tokens.target_ids', 'tokens.expires_at'])
    .select(['tokens.subject', 'tokens.issuer', 'users.id as user_id', 'users.name as user_name', 'users.groups'])
    .select(['users.subject as user_subject', 'users.issuer as user_issuer'])
    .where('tokens.hash', '=', hashOf(token))
    .where('tokens.revoked_at', 'is', null)
    .where('users.disabled_at', 'is', null)
    .where('tokens.expires_at', '>', new Date())
    .executeTakeFirst();
  if (!row) return null;
  const { token_id: tokenId, expires_at: expiresAt } = row;
  if (row.role !== null) {
    const { name, role, subject, issuer, target_ids: targetIds } = row;
    const service = { kind: 'service', id: tokenId, name, role, subject: subject ?? tokenId, issuer } as const;
    return { ...service, tokenId, auditor: false, groups: [], targetIds: targetIds ?? [], expiresAt };
  }
  const groups = row.groups ?? [];
  const identity = { subject: row.user_subject ?? '', issuer: row.user_issuer };
  const user = { kind: 'user', id: row.user_id ?? '', name: row.user_name ?? '', ...identity } as const;
  const rights = { role: roleOf(groups, settings), auditor: isAuditor(groups, settings) };
  return { ...user, ...rights, tokenId, groups, targetIds: [], expiresAt };
}

export interface ServiceToken {
  name: string;
  role: 'owner' | 'builder' | 'reader';
  targetIds: string[];
  expiresAt: Date;
  /** Identity of the job that signed in. */
  subject?: string;
  issuer?: string;
}

export async function insertServiceToken(
  db: Connection,
  { targetIds, expiresAt, ...service }: ServiceToken,
  { page = false } = {},
): Promise<InsertedToken> {
  const identity = { subject: null, issuer: null, ...service };
  return insertToken(db, { ...identity, target_ids: targetIds, expires_at: expiresAt, user_id: null }, { page });
}

export async function insertSession(
  db: Connection,
  { userId, expiresAt, page = false }: { userId: string; expiresAt: Date; page?: boolean },
): Promise<InsertedToken> {
  const holder = { name: page ? 'page' : 'session', user_id: userId };
  const row = { ...holder, role: null, target_ids: null, subject: null, issuer: null, expires_at: expiresAt };
  return insertToken(db, row, { page });
}

interface InsertedToken {
  id: string;
  token: string;
  created_at: Date;
}

async function insertToken(
  db: Connection,
  row: Omit<Insertable<Tables['tokens']>, 'hash'>,
  { page }: { page: boolean },
): Promise<InsertedToken> {
  const token = `${page ? PAGE_PREFIX : PREFIX}${randomBytes(32).toString('base64url')}`;
  const { id, created_at } = await db
    .insertInto('tokens')
    .values({ ...row, hash: hashOf(token) })
    .returning(['id', 'created_at'])
    .executeTakeFirstOrThrow();
  return { id, token, created_at };
}

/** Returns the name of the revoked token; `null` when there was none that was not revoked yet. */
export async function revokeToken(
  db: Connection,
  id: string,
  { service }: { service: boolean },
): Promise<string | null> {
  const row = await db
    .updateTable('tokens')
    .set({ revoked_at: new Date() })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .where('user_id', service ? 'is' : 'is not', null)
    .returning('name')
    .executeTakeFirst();
  return row?.name ?? null;
}

export async function revokeSessions(db: Connection, userId: string): Promise<void> {
  const valid = db.updateTable('tokens').where('user_id', '=', userId).where('revoked_at', 'is', null);
  await valid.set({ revoked_at: new Date() }).execute();
}

export async function listServiceTokens(db: Database, paging: PageQuery) {
  const base = db
    .selectFrom('tokens')
    .select(['id', 'name', 'role', 'created_at', 'expires_at', 'revoked_at', 'target_ids'])
    .where('user_id', 'is', null);
  const order = { table: 'tokens', by: { created_at: 'time', id: 'id' }, descending: true } as const;
  const { items: rows, next_cursor } = await pageOf(base, paging, order);
  const names = await targetNames(
    db,
    rows.flatMap(({ target_ids }) => target_ids ?? []),
  );
  return {
    next_cursor,
    items: rows.map(({ target_ids, role, ...row }) => ({
      ...row,
      role: role ?? 'reader',
      targets: (target_ids ?? []).flatMap((id) => names.get(id) ?? []),
    })),
  };
}

/** Ids of the targets with these names; those that are not there are missing. */
export async function targetIdsOf(db: Connection, names: string[]): Promise<Map<string, string>> {
  return new Map((await findTargets(db, names)).map(({ id, name }) => [name, id]));
}

/** Names of these targets by id, without those that were removed. */
export async function targetNames(db: Connection, ids: string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('targets')
    .select(['id', 'name'])
    .where('id', 'in', [...new Set(ids)])
    .where('removed_at', 'is', null)
    .execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}
