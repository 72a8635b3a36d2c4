/** The name of this machine inside a virtual machine. */
const OUTSIDE = 'host.docker.internal';

const THIS_MACHINE = /^(localhost|127(\.\d+){3}|\[::1\]|::1)$/i;

/** Positions of hosts in arguments, between a prefix and a suffix. */
const PLACES = [/^([a-z][a-z0-9+.-]*:\/\/(?:[^/?#]*@)?)([^/?#]+)(.*)$/is, /^(--host=)([^/]+)()$/s];

/** An argument with this machine's names as seen from a virtual machine. */
export function fromInside(argument: string): string {
  for (const place of PLACES) {
    const [, before, hosts, after] = place.exec(argument) ?? [];
    if (hosts !== undefined) return `${before}${hosts.split(',').map(rename).join(',')}${after}`;
  }
  return argument;
}

function rename(host: string): string {
  if (THIS_MACHINE.test(host)) return OUTSIDE;
  const [, name = host, port = ''] = /^(\[[^\]]*\]|[^:]*)(:.*)?$/.exec(host) ?? [];
  return THIS_MACHINE.test(name) ? `${OUTSIDE}${port}` : host;
}
