import { EXIT, UserError } from '../../runtime/errors.ts';
import { isLoopback } from '../loopback.ts';

/** Headers of an upload that a hub may ask for: all others are the client's own. */
const SENT_HEADER = /^(if-none-match|content-type|x-amz-[a-z0-9-]{1,60})$/;

/** A URL that the hub signed: https, or this machine. */
export function checkedHref(href: string): URL {
  const url = URL.canParse(href) ? new URL(href) : null;
  const isAllowed = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url));
  if (url && isAllowed && url.username === '' && url.password === '') return url;
  throw refused(url ? `${url.protocol}//${url.host}` : 'what is no URL');
}

/** The headers that the signature of an upload covers, besides its length. */
export function checkedHeaders(headers: Record<string, string>): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const sent = entries.filter(([name]) => name !== 'content-length' && name !== 'host');
  const other = sent.find(([name, value]) => !SENT_HEADER.test(name) || !/^[\x20-\x7e]*$/.test(value));
  if (other) throw refused('a header that an upload does not have');
  return Object.fromEntries(sent);
}

function refused(what: string): UserError {
  return new UserError(`The hub answered with ${what} for the transfer of an object`, {
    code: 'storage_url_refused',
    exit: EXIT.refused,
    hint: 'Nothing was sent. The endpoint of the storage profile must be https; an owner of the hub sets it.',
  });
}
