import type { TokenEndpointResponse } from 'openid-client';

export interface SignInSession {
  access_token: string;
  refresh_token: string | null;
  /** Validated on arrival. */
  id_token: string | null;
  /** Claims of the userinfo endpoint as JSON; `null` when it was not asked. */
  user_info: string | null;
  /** Unix seconds. */
  expires: number;
}

export interface Person {
  subject: string;
  name: string;
  groups: string[];
  /** Unix seconds. */
  expires: number;
}

export const GROUPS_CLAIM = 'groups';

/** Seconds, for an access token without a lifetime. */
const UNKNOWN_LIFE = 3600;

export function sessionOf(answer: TokenEndpointResponse, now: Date, before?: SignInSession): SignInSession {
  const { access_token, refresh_token, id_token, expires_in } = answer;
  const life = secondsOf(now) + (expires_in ?? UNKNOWN_LIFE);
  const claimed = id_token === undefined ? undefined : Number(claimsOf(id_token)?.exp);
  return {
    access_token,
    refresh_token: refresh_token ?? before?.refresh_token ?? null,
    id_token: id_token ?? before?.id_token ?? null,
    // Valid as long as its ID token.
    user_info: id_token === undefined ? (before?.user_info ?? null) : null,
    expires: Math.min(life, claimed ?? life),
  };
}

/** `null` without an ID token. Its signature was verified on arrival. */
export function personOf({ id_token, user_info }: SignInSession, groupsClaim = GROUPS_CLAIM): Person | null {
  const signed = id_token === null ? null : claimsOf(id_token);
  if (signed === null) return null;
  const claims: Record<string, unknown> = { ...objectIn(user_info ?? ''), ...signed };
  const { sub, exp, email, preferred_username, name } = claims;
  const groups = claims[groupsClaim];
  return {
    subject: String(sub),
    name: [email, preferred_username, name, sub].find((value) => typeof value === 'string') as string,
    groups: (Array.isArray(groups) ? groups : [groups]).filter((group) => typeof group === 'string'),
    expires: Number(exp),
  };
}

export function secondsOf(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}

export function claimsOf(token: string): Record<string, unknown> | null {
  return objectIn(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
}

function objectIn(json: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
