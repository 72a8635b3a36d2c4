/** The login of `ssh`; user and port that are not given are those of its own configuration. */
export interface TunnelAddress {
  user: string | null;
  host: string;
  port: number | null;
}

/**
 * No part can be an option, a token (`%h`) or several words: ssh's configuration may pass them to a shell
 * (ProxyCommand, `Match exec`).
 */
const SHAPE =
  /^ssh:\/\/(?:(?<user>[A-Za-z0-9_][A-Za-z0-9_.-]{0,63})@)?(?:(?<host>[A-Za-z0-9_][A-Za-z0-9_.-]{0,252})|\[(?<address>[0-9A-Fa-f:.]{2,45})\])(?::(?<port>[0-9]{1,5}))?\/?$/;

/** The address of `ssh://user@bastion:22`; `null` for any other text. */
export function parseTunnel(text: string): TunnelAddress | null {
  const { user = null, host, address, port } = SHAPE.exec(text)?.groups ?? {};
  const name = host ?? address;
  if (name === undefined) return null;
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return null;
  return { user, host: name, port: port === undefined ? null : Number(port) };
}

/** The connection URL with the tunnel as its parameter: everything that knows a database by its URL then knows the tunnel. */
export function withTunnel(url: string, tunnel: string | undefined): string {
  if (tunnel === undefined) return url;
  // An @ behind the host is ambiguous in a connection URL.
  const value = parseTunnel(tunnel) ? tunnel.replace('@', '%40') : encodeURIComponent(tunnel);
  return `${url}${url.includes('?') ? '&' : '?'}tunnel=${value}`;
}
