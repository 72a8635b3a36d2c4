import type { TemplatePiece } from './template.ts';

/**
 * Joins the pieces of a URL. What a template inserts is fitted to the part of the URL that it stands in:
 *
 * 1. A value that is valid in its part is taken as it is, so one that is percent-encoded already stays so.
 * 2. A value with any character that is not valid there is taken for plain text and percent-encoded whole, its `%`
 *    included: the password `p@ss:w/rd?#%41` arrives at the server as exactly that.
 * 3. A template that stands for several parts is divided first: `user:password` at its first colon,
 *    `user:password@host:port` at its last `@`. One that brings the scheme itself, everything behind it, or a whole
 *    list of parameters is URL text and taken as it is.
 */
export function joinUrl(pieces: TemplatePiece[]): string {
  const parts = withSchemeAsText(pieces);
  // A placeholder character per insertion shows its part of the URL.
  const skeleton = parts.map((piece) => (piece.inserted ? STAND_IN : piece.text)).join('');
  let offset = 0;
  return parts
    .map((piece) => {
      const at = offset;
      offset += piece.inserted ? STAND_IN.length : piece.text.length;
      return piece.inserted ? FIT[partAt(skeleton, at)](piece.text) : piece.text;
    })
    .join('');
}

const STAND_IN = '\u0000';

type Part = 'text' | 'authority' | 'credentials' | 'user' | 'password' | 'host' | 'rest' | 'path' | 'parameter';

const FIT: Record<Part, (value: string) => string> = {
  text: (value) => value,
  authority(value) {
    const at = value.lastIndexOf('@');
    return at === -1 ? FIT.host(value) : `${FIT.credentials(value.slice(0, at))}@${FIT.host(value.slice(at + 1))}`;
  },
  credentials(value) {
    const colon = value.indexOf(':');
    if (colon === -1) return FIT.user(value);
    return `${FIT.user(value.slice(0, colon))}:${FIT.password(value.slice(colon + 1))}`;
  },
  user: (value) => encodeUnless(value, /^(?:[\w.~!$&'()*+,;=-]|%[0-9a-f]{2})*$/i),
  password: (value) => encodeUnless(value, /^(?:[\w.~!$&'()*+,;=-]|%[0-9a-f]{2})*$/i),
  // Colons and commas separate ports and hosts, brackets enclose an IPv6 address; slashes of a socket are encoded.
  host: (value) => encodeUnless(value, /^[\w.~!$&'()*+,;=:[\]-]*$/, /[[\]:,]/),
  // Everything behind the `@`: a host, possibly database and parameters, as URL text.
  rest(value) {
    const slash = value.indexOf('/');
    return slash < 1 ? FIT.host(value) : FIT.host(value.slice(0, slash)) + value.slice(slash);
  },
  path: (value) => encodeUnless(value, /^(?:[\w.~!$&'()*+,;=:@-]|%[0-9a-f]{2})*$/i),
  // Some readers decode + as a blank; & separates parameters, = names and values.
  parameter: (value) => encodeUnless(value, /^(?:[\w.~!$'()*,;:@/?-]|%[0-9a-f]{2})*$/i),
};

function partAt(skeleton: string, at: number): Part {
  const authorityStart = skeleton.indexOf('://') + 3;
  if (authorityStart < 3 || at < authorityStart) return 'text';
  const authorityEnd = firstOf(skeleton, /[/?#]/g, authorityStart);
  const isLast = at === skeleton.length - 1;
  if (at > authorityEnd) {
    const query = skeleton.indexOf('?', authorityEnd);
    if (query === -1 || at < query) return 'path';
    return isWholeParameters(skeleton, at) ? 'text' : 'parameter';
  }
  const authority = skeleton.slice(authorityStart, authorityEnd);
  const separator = authority.lastIndexOf('@');
  if (separator === -1) return authority === STAND_IN ? (isLast ? 'text' : 'authority') : 'host';
  const place = at - authorityStart;
  if (place > separator) return isLast && place === separator + 1 ? 'rest' : 'host';
  const credentials = authority.slice(0, separator);
  if (credentials === STAND_IN) return 'credentials';
  const colon = credentials.indexOf(':');
  return colon !== -1 && place > colon ? 'password' : 'user';
}

function isWholeParameters(skeleton: string, at: number): boolean {
  return /[?&]/.test(skeleton.charAt(at - 1)) && skeleton.charAt(at + 1) !== '=';
}

function withSchemeAsText(pieces: TemplatePiece[]): TemplatePiece[] {
  const [first, ...rest] = pieces;
  return first?.inserted ? [{ text: first.text, inserted: false }, ...rest] : pieces;
}

function firstOf(text: string, pattern: RegExp, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? text.length;
}

/** A valid value stays; any other is encoded except the part's own delimiters. */
function encodeUnless(value: string, valid: RegExp, marks?: RegExp): string {
  if (valid.test(value)) return value;
  return Array.from(value, (character) => (marks?.test(character) ? character : encode(character))).join('');
}

function encode(character: string): string {
  // encodeURIComponent leaves five characters that some readers interpret.
  return encodeURIComponent(character.toWellFormed()).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
