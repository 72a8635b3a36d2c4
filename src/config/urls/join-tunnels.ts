import { withTunnel } from '../../engines/tunnel-address.ts';
import { dotted, isTree, type Tree } from '../tree.ts';

/**
 * Makes the tunnels of targets parts of their URLs, so that all that identifies a database by its URL tells two
 * databases apart that are `localhost` behind different bastions.
 */
export function joinTunnels({ targets }: Tree, blanks: Map<string, string>): void {
  if (!isTree(targets)) return;
  for (const [name, target] of Object.entries(targets)) {
    if (!isTree(target) || !isTree(target.snapshot)) continue;
    const { snapshot } = target;
    for (const end of ['src', 'dst']) {
      const { [`${end}_tunnel`]: tunnel, [`${end}_url`]: url } = snapshot;
      if (typeof tunnel !== 'string') continue;
      if (typeof url === 'string') snapshot[`${end}_url`] = withTunnel(url, tunnel);
      const key = dotted(['targets', name, 'snapshot', `${end}_url`]);
      const blank = blanks.get(key);
      if (blank !== undefined) blanks.set(key, withTunnel(blank, tunnel));
    }
  }
}
