import type { SignedIn } from '../operations/sign-in/sign-in-status.ts';
import type { SignInEvent } from '../runtime/events.ts';
import { formatTime } from '../text/format.ts';

/** Where to go, the URL unbroken on a line of its own. */
export function signInPrompt({ provider, url, user_code }: Omit<SignInEvent, 'event'>): string {
  const code = user_code === null ? '' : `\nIts page must show, or asks for, this code: ${user_code}\n`;
  return `Sign in with "${provider}" in a browser:\n\n${url}\n${code}`;
}

/** `Signed in as ann@example.com with idp; groups: developers; until 2026-01-01 12:00` */
export function signedInLine({ provider, name, groups, expires_at, refreshable }: SignedIn): string {
  const until = expires_at === null ? '' : `; until ${formatTime(expires_at)}${refreshable ? ', then refreshed' : ''}`;
  return `Signed in as ${name} with ${provider}; ${groups.length > 0 ? `groups: ${groups.join(', ')}` : 'in no group'}${until}`;
}

/** A line for each provider, and one about the cloud token. */
export function signInStatusText(providers: SignedIn[], { cloud }: { cloud: boolean }): string {
  const lines = providers.flatMap((one) => [
    one.signed_in ? signedInLine(one) : `Not signed in with ${one.provider}: tool auth login ${one.provider}`,
    ...(one.error === null ? [] : [`  ${one.error}`]),
  ]);
  if (providers.length === 0) lines.push('The configuration has no identity provider (sso)');
  return [...lines, cloud ? 'A cloud token is set' : 'No cloud token is set'].join('\n');
}
