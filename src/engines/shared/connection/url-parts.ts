import { isIP } from 'node:net';
import { UserError } from '../../../runtime/errors.ts';
import type { EngineProfile } from '../../profile.ts';
import { decode, isAmbiguousUrl, parseParameters } from '../../url-parameters.ts';

export function decodePart(text: string): string {
  const decoded = decode(text);
  if (decoded === null) {
    throw malformedUrl('a % in it is not followed by two hexadecimal digits; write a literal % as %25');
  }
  if (decoded.includes('\0')) throw malformedUrl('it contains a NUL character');
  return decoded;
}

/** A name, an IP address, or a socket: client programs divide lists and other words of their own. */
const HOST_NAME = /^[\p{L}\p{N}_][\p{L}\p{N}\p{M}._-]*$/u;
const SOCKET = /^[/@][^\p{Cc},]*$/u;

/** An empty host is the default one. */
export function assertHost(host: string): void {
  if (host === '' || isIP(host) !== 0 || HOST_NAME.test(host) || SOCKET.test(host)) return;
  throw malformedUrl('a host is a name, an IP address or the path of a socket');
}

/** The address of `[…]`. */
export function readBracketed(text: string): string {
  const address = decodePart(text);
  if (isIP(address) !== 0) return address;
  throw malformedUrl('only an IP address stands in brackets');
}

export function assertUnambiguous(url: string): void {
  if (isAmbiguousUrl(url)) throw malformedUrl('an unencoded @ follows a / or ?, so the end of the password is unknown');
}

export function readParameters(text: string, profile: EngineProfile): Map<string, string> {
  const { values, refused } = parseParameters(text, profile);
  if (refused !== null) throw malformedUrl(refused);
  return values;
}

export function readPort(text: string): number | null {
  if (text === '') return null;
  const port = Number(text);
  if (/^\d+$/.test(text) && port > 0 && port < 65_536) return port;
  throw malformedUrl(`"${text}" is not a port`);
}

export function malformedUrl(why: string): UserError {
  return new UserError('url_invalid', `The connection URL cannot be read: ${why}`, {
    hint: 'Characters such as @ : / ? # % in a password are written %40 %3A %2F %3F %23 %25.',
  });
}
