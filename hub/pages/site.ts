import { isLoopback } from '../../src/text/loopback.ts';
import type { HonoContext } from '../http/request.ts';
import { Problem } from '../problem.ts';
import type { HubSettings } from '../settings/settings.ts';

/** Address of the pages, as the browser sees it. */
export interface Site {
  origin: string;
  /** Before every path; empty unless the public address has a path. */
  base: string;
  /** Cookies of https pages have the `__Host-` prefix: no other host can set them. */
  secure: boolean;
}

/** Returns the public address; in a trial without one, this machine under the name in the request. */
export function siteOf(context: HonoContext, { publicUrl }: HubSettings): Site {
  const url = publicUrl === null ? loopbackUrl(context) : new URL(publicUrl);
  return { origin: url.origin, base: url.pathname.replace(/\/+$/, ''), secure: url.protocol === 'https:' };
}

function loopbackUrl(context: HonoContext): URL {
  const address = `http://${context.req.header('host') ?? ''}`;
  const url = URL.canParse(address) ? new URL(address) : null;
  // Another name that resolves to this machine may belong to a page of another site.
  if (url && isLoopback(url)) return new URL(url.origin);
  throw new Problem('not_permitted', 'The pages of a trial are at 127.0.0.1 only');
}
