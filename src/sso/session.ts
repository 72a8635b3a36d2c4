import type { TokenEndpointResponse } from 'openid-client';

/** What a sign-in has brought, as it is stored. */
export interface SignInSession {
  access_token: string;
  refresh_token: string | null;
  /** Says who it is; it was checked when it came. */
  id_token: string | null;
  /** What the userinfo endpoint has said besides, as JSON; `null` where it was not asked. */
  user_info: string | null;
  /** Unix seconds: when the first of what came last ends. */
  expires: number;
}

/** A person, as the provider has said. */
export interface Person {
  subject: string;
  /** E-mail address or name, whichever there is. */
  name: string;
  groups: string[];
  /** Unix seconds; the claims count no longer then. */
  expires: number;
}

export const GROUPS_CLAIM = 'groups';

/** An access token of which nobody says how long it lasts is asked for anew after so many seconds. */
const UNKNOWN_LIFE = 3600;

/** The session of an answer; a refresh need not repeat what stays as it was. */
export function sessionOf(answer: TokenEndpointResponse, now: Date, before?: SignInSession): SignInSession {
  const { access_token, refresh_token, id_token, expires_in } = answer;
  const life = secondsOf(now) + (expires_in ?? UNKNOWN_LIFE);
  const claimed = id_token === undefined ? undefined : Number(claimsOf(id_token)?.exp);
  return {
    access_token,
    refresh_token: refresh_token ?? before?.refresh_token ?? null,
    id_token: id_token ?? before?.id_token ?? null,
    // It belongs to the ID token, and counts as long.
    user_info: id_token === undefined ? (before?.user_info ?? null) : null,
    expires: Math.min(life, claimed ?? life),
  };
}

/** Who a session says it is of; `null` when it holds no ID token. The signature was checked when it came. */
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

/** What an ID token says; `null` when it is none. */
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
