import type { Context } from '../../runtime/context.ts';
import { EXIT, toUserError, UserError } from '../../runtime/errors.ts';
import { freshSession } from '../../sso/fresh-session.ts';
import type { ProviderRequest } from '../../sso/provider.ts';
import { type Person, personOf, type SignInSession, secondsOf } from '../../sso/session.ts';
import { createSessionStore, type SessionStore } from '../../sso/session-store.ts';
import { findTarget } from '../find-target.ts';

/** Refuses a target that is shared with groups of which the person is in none. */
export async function assertShared(context: Context, target: string): Promise<void> {
  const needed = groupsNeeded(context, target);
  if (needed.length === 0) return;
  const people = await signedInPeople(context, sessionThatCounts);
  if (isMember(people, needed)) return;
  throw new UserError('target_not_shared', `Target "${target}" is ${notSharedWith(people, needed)}`, {
    hint:
      people.length === 0
        ? 'Sign in: tool auth login'
        : 'Ask the administrator of the identity provider for one of these groups.',
  });
}

/** Why a target is not for the person; `null` when it is. By what is stored: no network, so that a list waits for none. */
export async function whyNotShared(context: Context, target: string): Promise<string | null> {
  const needed = groupsNeeded(context, target);
  if (needed.length === 0) return null;
  const people = await signedInPeople(context, ({ store, provider }) => store.read(provider.name));
  return isMember(people, needed) ? null : notSharedWith(people, needed);
}

function groupsNeeded({ configuration }: Context, target: string): string[] {
  return findTarget(configuration, target).sso_groups ?? [];
}

function isMember(people: Person[], needed: string[]): boolean {
  return people.some(({ groups }) => groups.some((group) => needed.includes(group)));
}

function notSharedWith(people: Person[], needed: string[]): string {
  const who = people.map(({ name, groups }) => `${name} (${groups.length > 0 ? groups.join(', ') : 'in no group'})`);
  const shared = `not shared with you: it is for the ${needed.length === 1 ? 'group' : 'groups'} ${needed.join(', ')}`;
  return `${shared}, and ${who.length > 0 ? `you are ${who.join(' and ')}` : 'you are not signed in'}`;
}

interface GroupsRequest {
  store: SessionStore;
  provider: ProviderRequest;
  context: Context;
}

async function signedInPeople(
  context: Context,
  read: (reading: GroupsRequest) => Promise<SignInSession | null>,
): Promise<Person[]> {
  const { configuration } = context;
  if (configuration.file === null) return [];
  const store = createSessionStore(configuration, context);
  const people: Person[] = [];
  for (const [name, settings] of Object.entries(configuration.settings.sso)) {
    const session = await read({ store, provider: { name, settings }, context });
    const person = session && personOf(session, settings.groups_claim);
    if (person) people.push(person);
  }
  return people;
}

/** Returns the session, if it counts. While the provider is unreachable, its last answer counts until it expires. */
async function sessionThatCounts({ store, provider, context }: GroupsRequest): Promise<SignInSession | null> {
  const { clock, report } = context;
  const failure: { message?: string } = {};
  const session = await freshSession({ provider, store, clock }).catch((thrown) => {
    const error = toUserError(thrown);
    if (error.exit !== EXIT.unreachable) throw thrown;
    failure.message = `${error.message}. ${error.hint ?? ''}`;
    return store.read(provider.name);
  });
  const person = session && personOf(session);
  if (session && person && person.expires > secondsOf(clock())) return session;
  if (failure.message) report({ event: 'warning', code: 'groups_not_known', message: failure.message });
  return null;
}
