import type { HonoContext } from '../request.ts';
import type { Site } from './site.ts';

type CookieName = 'session' | 'sign_in';

interface Cookie {
  name: CookieName;
  value: string;
  /** Seconds; 0 removes it. */
  life: number;
}

/** The longest that a browser must accept (RFC 6265, section 6.1). */
const LONGEST = 4096;

function fullName(name: CookieName, { secure }: Site): string {
  return `${secure ? '__Host-' : ''}tool_hub_${name}`;
}

/** `Lax`: the browser sends it when a person follows a link, and the provider leads back; never with a form of another site. */
export function cookieHeader({ name, value, life }: Cookie, site: Site): string {
  const attributes = ['Path=/', `Max-Age=${life}`, 'HttpOnly', 'SameSite=Lax', ...(site.secure ? ['Secure'] : [])];
  return [`${fullName(name, site)}=${value}`, ...attributes].join('; ');
}

export function readCookie(context: HonoContext, name: CookieName, site: Site): string | null {
  const wanted = `${fullName(name, site)}=`;
  const pairs = (context.req.header('cookie') ?? '').split(';').map((pair) => pair.trim());
  const value = pairs.find((pair) => pair.startsWith(wanted))?.slice(wanted.length) ?? '';
  return value !== '' && value.length <= LONGEST ? value : null;
}
