import { lockFile } from '../config/edit/lock-file.ts';
import { UserError } from '../runtime/errors.ts';
import { shell } from '../text/shell-word.ts';
import { toSignInFailure } from './failures.ts';
import { openProvider, type ProviderRequest } from './provider.ts';
import { personOf, type SignInSession, secondsOf, sessionOf } from './session.ts';
import type { SessionStore } from './session-store.ts';
import { withUserInfo } from './user-info.ts';

/** Seconds before expiry at which a session is refreshed. */
const AHEAD = 60;

export interface CurrentSessionRequest {
  provider: ProviderRequest;
  store: SessionStore;
  clock: () => Date;
  /** Refreshes one that lasts, too: its ID token was used up. */
  force?: boolean;
}

/**
 * The session of a provider, refreshed before it expires; `null` when nobody is signed in. One process refreshes,
 * because providers rotate refresh tokens; others wait and read the stored result.
 */
export async function currentSession(request: CurrentSessionRequest): Promise<SignInSession | null> {
  const { provider, store, clock, force = false } = request;
  const { name } = provider;
  const stored = await store.read(name);
  if (stored === null || (!force && isCurrent(stored, clock()))) return stored;
  await using _locked = await lockFile(`${store.file}.sso`);
  const current = await store.read(name);
  const isNew = !force || current?.id_token !== stored.id_token;
  if (current === null || (isNew && isCurrent(current, clock()))) return current;
  try {
    const session = await refresh(provider, { session: current, clock });
    await store.write(name, session);
    return session;
  } catch (error) {
    // A refused refresh token is not sent again; the identity stays valid until its claims expire.
    if (hasEnded(error) && current.refresh_token !== null) await store.write(name, { ...current, refresh_token: null });
    throw error;
  }
}

function isCurrent(session: SignInSession, now: Date): boolean {
  return session.expires - AHEAD > secondsOf(now);
}

async function refresh(
  request: ProviderRequest,
  { session, clock }: { session: SignInSession; clock: () => Date },
): Promise<SignInSession> {
  const { name } = request;
  if (session.refresh_token === null) throw signInEnded(name);
  const provider = await openProvider(request);
  try {
    const answer = await provider.library.refreshTokenGrant(provider.client, session.refresh_token);
    assertSameUser(answer.claims()?.sub, { name, session });
    const refreshed = sessionOf(answer, clock(), session);
    // The refresh token may be used up: the result is stored, and the next use asks again.
    return await withUserInfo(provider, refreshed).catch(() => ({ ...refreshed, expires: secondsOf(clock()) }));
  } catch (thrown) {
    const failure = toSignInFailure(name, thrown);
    throw failure.code === 'sign_in_code_refused' ? signInEnded(name) : failure;
  }
}

/** A refreshed ID token must belong to the same person (OpenID Connect Core 1.0, section 12.2). */
function assertSameUser(
  subject: string | undefined,
  { name, session }: { name: string; session: SignInSession },
): void {
  const before = personOf(session)?.subject;
  if (subject === undefined || before === undefined || subject === before) return;
  throw signInEnded(name);
}

function hasEnded(error: unknown): boolean {
  return error instanceof UserError && error.code === 'sign_in_ended';
}

function signInEnded(provider: string): UserError {
  return new UserError('sign_in_ended', `The sign-in with "${provider}" has expired`, {
    hint: `Sign in again: ${shell`tool auth login ${provider}`}`,
  });
}
