import { isIP } from 'node:net';
import { UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineProfile } from '../../profile.ts';
import { parseTunnel } from '../../tunnel-address.ts';
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

/** Parameters that lead elsewhere than the hosts of the URL. */
const OTHER_ROUTES = ['hostaddr', 'service', 'socket'];

/** Through a tunnel, only the hosts of the URL say where the database is. */
export function assertTunnel({ hosts, parameters, inContainer }: DatabaseUrl): void {
  if (parameters.tunnel === undefined) return;
  if (!parseTunnel(parameters.tunnel)) throw malformedUrl('its tunnel is not ssh://user@host:port');
  if (inContainer) throw malformedUrl('programs in a container cannot use a tunnel');
  if (!hosts.every(({ host }) => /^[^/@]/.test(host))) throw malformedUrl('a tunnel needs the name of a host');
  const other = OTHER_ROUTES.find((name) => parameters[name] !== undefined);
  if (other !== undefined) throw malformedUrl(`${other} cannot be used with a tunnel`);
}

/** The ports of this machine that lead to the hosts; `null` without a tunnel. Never the hosts beside their tunnel. */
export function localPortsOf({ parameters, localPorts, display }: DatabaseUrl): number[] | null {
  if (parameters.tunnel === undefined) return null;
  if (!localPorts) throw new Error(`the tunnel to ${display} is not open`);
  return localPorts;
}

/** Refuses a URL for other programs, most of which would leave the tunnel out and connect to its host from here. */
export function assertReachable({ parameters, localPorts, display }: DatabaseUrl): void {
  if (parameters.tunnel === undefined || localPorts) return;
  throw new UserError('client_unavailable', `${display} is reachable through its tunnel only`, {
    hint: 'Open a tunnel of your own (ssh -L), and write its port into a URL without tunnel.',
  });
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
