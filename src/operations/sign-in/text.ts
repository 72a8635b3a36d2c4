import type { Fact } from '../../presentation/shapes/fact.ts';
import type { Tone } from '../../presentation/shapes/glyphs.ts';
import type { SignedIn } from '../../results/cloud-results.ts';
import type { SignInEvent } from '../../results/events.ts';
import type { UserError } from '../../runtime/errors.ts';
import { SIGN_IN_TIMEOUT_MS } from '../../sso/sign-in-options.ts';
import { formatDuration, formatTime } from '../../text/format.ts';
import { joinLines, printable } from '../../text/printable.ts';
import { shell } from '../../text/shell-word.ts';

export function signInLead({ provider }: Pick<SignInEvent, 'provider'>): string {
  return `Sign in with "${provider}" in a browser:`;
}

/** On the command line: the URL unbroken on a line of its own. */
export function signInPrompt({ provider, url, user_code }: Omit<SignInEvent, 'event'>): string {
  const code = user_code === null ? [] : [`The page shows or requests this code: ${user_code}`, ''];
  return joinLines([signInLead({ provider }), '', url, '', ...code]);
}

export const PROVIDER_QUESTION = 'Which identity provider?';
export const URL_COPIED = 'Copied the URL, if the terminal permits it';

interface Attempt {
  prompt: unknown;
  result: unknown;
  error: unknown;
}

/** `waitedMs`: since the URL is shown. */
export function signInState(
  { prompt, result, error }: Attempt,
  waitedMs = 0,
): {
  glyph: 'good' | 'bad' | 'running';
  text: string;
  tone: Tone;
} {
  if (error) return { glyph: 'bad', text: 'The sign-in failed', tone: 'bad' };
  if (result) return { glyph: 'good', text: 'You are signed in', tone: 'good' };
  const left = formatDuration(Math.max(0, SIGN_IN_TIMEOUT_MS - waitedMs));
  const text = prompt ? `Waiting for the browser, ${left} left` : 'Contacting the identity provider';
  return { glyph: 'running', text, tone: 'accent' };
}

function untilText({ expires_at, refreshable }: SignedIn): string {
  return expires_at === null ? '' : `${formatTime(expires_at)}${refreshable ? ', then refreshed' : ''}`;
}

export function signedInFacts(result: SignedIn): Fact[] {
  const { name, provider, groups } = result;
  return [
    { name: 'Name', value: name ?? '' },
    { name: 'Provider', value: provider },
    { name: 'Groups', value: groups.length > 0 ? groups.join(', ') : 'none' },
    { name: 'Until', value: untilText(result) },
  ];
}

export function signInFailure({ message, hint, details }: UserError): Fact[] {
  return [
    { name: 'Reason', value: message, tone: 'bad' },
    ...details.map((value): Fact => ({ name: '', value })),
    ...(hint === undefined ? [] : [{ name: 'Next', value: hint }]),
  ];
}

/** `Signed in as ann@example.com with idp; groups: developers; until 2026-01-01 12:00` */
export function signedInLine(result: SignedIn): string {
  const { provider, name, groups } = result;
  const until = untilText(result);
  const of = groups.length > 0 ? `groups: ${groups.join(', ')}` : 'no groups';
  const as =
    name === null ? `Signed in with ${provider}, which has sent no name` : `Signed in as ${name} with ${provider}`;
  return printable(`${as}; ${of}${until === '' ? '' : `; until ${until}`}`);
}

/** A line for each provider, and one about the cloud token. */
export function signInStatusText(providers: SignedIn[], { cloud }: { cloud: boolean }): string {
  const lines = providers.flatMap((one) => [
    one.signed_in ? signedInLine(one) : `Not signed in with ${one.provider}: ${shell`tool auth login ${one.provider}`}`,
    ...(one.error === null ? [] : [`  ${one.error}`]),
  ]);
  if (providers.length === 0) lines.push('The configuration has no identity provider (sso)');
  return joinLines([...lines, cloud ? 'A cloud token is set' : 'No cloud token is set']);
}

export function signedOutText(ended: { provider: string; revoked: boolean }[]): string {
  if (ended.length === 0) return 'You are not signed in';
  return joinLines(
    ended.map(({ provider, revoked }) => `Signed out of ${provider}${revoked ? ' and revoked its tokens' : ''}`),
  );
}

export function tokenStoredText(file: string): string {
  return `Stored the cloud token in ${file}, encrypted`;
}
