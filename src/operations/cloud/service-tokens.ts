import { listAll } from '../../cloud/client.ts';
import type { ServiceToken } from '../../cloud/contract/schemas.ts';
import { tokenState } from '../../cloud/contract/token-state.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { openCloud } from './open-cloud.ts';

export interface NewServiceToken {
  name: string;
  role: 'builder' | 'reader';
  targets: string[];
  days: number;
}

export type CreatedServiceToken = ServiceToken & { authtoken: string };

export async function createServiceToken(context: Context, request: NewServiceToken): Promise<CreatedServiceToken> {
  const { name, role, targets, days } = request;
  const client = await openCloud(context);
  const { body } = await client.call('createToken', { body: { name, role, targets, expires_in_days: days } });
  if (body === null) throw new Error('the hub answered without the token');
  return body;
}

/** Newest first. */
export async function listServiceTokens(context: Context): Promise<ServiceToken[]> {
  return listAll(await openCloud(context), 'listTokens');
}

/** Revokes the token with this id, or the only valid one of this name. */
export async function revokeServiceToken(context: Context, word: string): Promise<ServiceToken> {
  const now = context.clock();
  const all = (await listServiceTokens(context)).filter(({ id, name }) => id === word || name === word);
  const valid = all.filter((token) => tokenState(token, now) === 'valid');
  const [token, ...others] = valid;
  if (!token) {
    throw new UserError('cloud_unknown', `There is no valid service token "${word}"`, {
      hint: 'tool cloud token list shows all.',
    });
  }
  if (others.length > 0) {
    throw new UserError('name_ambiguous', `${valid.length} service tokens are named "${word}"`, {
      details: valid.map(({ id, targets }) => `${id}: ${targets.join(', ')}`),
      hint: 'Give the id of one.',
    });
  }
  const client = await openCloud(context);
  await client.call('revokeToken', { parameters: { id: token.id } });
  return { ...token, revoked_at: now.toISOString() };
}
