import { generateCookie, getCookie } from 'hono/cookie';
import type { HonoContext } from '../http/request.ts';
import type { Site } from './site.ts';

interface Cookie {
  name: 'session' | 'sign_in';
  value: string;
  /** Seconds; 0 removes it. */
  life: number;
}

/** `Lax`: the browser sends it when a person follows a link, and the provider leads back; never with a form of another site. */
export function cookieHeader({ name, value, life }: Cookie, { secure }: Site): string {
  const prefix = secure ? { prefix: 'host' as const } : {};
  const options = { path: '/', maxAge: life, httpOnly: true, sameSite: 'Lax' as const, secure, ...prefix };
  return generateCookie(`tool_hub_${name}`, value, options);
}

export function readCookie(context: HonoContext, name: Cookie['name'], { secure }: Site): string | null {
  const value = secure ? getCookie(context, `tool_hub_${name}`, 'host') : getCookie(context, `tool_hub_${name}`);
  return value || null;
}
