import { UserError } from '../../runtime/errors.ts';
import { isLoopback } from '../../text/loopback.ts';
import { printable } from '../../text/printable.ts';
import type { CloudClient } from '../client.ts';

/** Headers of an upload that a hub may require. */
const SENT_HEADER = /^(if-none-match|content-type|x-amz-[a-z0-9-]{1,60})$/;

/** Accepts https; of a hub on loopback also http on loopback: no other hub leads to services of this machine. */
export function checkedHref(href: string, { endpoint }: Pick<CloudClient, 'endpoint'>): URL {
  const url = URL.canParse(href) ? new URL(href) : null;
  const isLocal = url?.protocol === 'http:' && isLoopback(url) && isLoopback(new URL(endpoint));
  const isAllowed = url?.protocol === 'https:' || isLocal;
  if (url && isAllowed && url.username === '' && url.password === '') return url;
  throw refused(`The hub signed an invalid URL${url ? `: ${url.protocol}//${url.host}` : ''}`);
}

/** The headers that the signature of an upload covers, besides its length. */
export function checkedHeaders(headers: Record<string, string>): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const sent = entries.filter(([name]) => name !== 'content-length' && name !== 'host');
  const other = sent.find(([name, value]) => !SENT_HEADER.test(name) || !/^[\x20-\x7e]*$/.test(value));
  if (other) throw refused(`The hub requires an invalid header for an upload: ${printable(other[0]).slice(0, 60)}`);
  return Object.fromEntries(sent);
}

function refused(message: string): UserError {
  return new UserError('storage_url_refused', message, {
    hint: 'Nothing was sent. An owner of the hub sets an https endpoint in the storage profile of the target.',
  });
}
