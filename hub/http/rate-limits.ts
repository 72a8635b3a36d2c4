import { isIPv6 } from 'node:net';

/** Limit for one token and instance. */
export interface RequestLimit {
  perSecond: number;
  burst: number;
}

export interface Limits {
  requests: RequestLimit;
  /** Refused sign-ins per address and minute, over all instances. */
  refusedSignIns: number;
}

export const LIMITS: Limits = { requests: { perSecond: 50, burst: 200 }, refusedSignIns: 10 };

const MOST_KEYS = 10_000;

export interface RequestLimiter {
  /**
   * Takes one request of the key: 0, or the seconds until the next one is allowed. One that costs as much as several is
   * allowed as any other, and delays the next ones.
   */
  take(key: string, cost?: number): number;
}

/** A token bucket for each key, in memory: it fills again as time passes, up to the burst. */
export function createRequestLimiter(
  { perSecond, burst }: RequestLimit,
  now = () => performance.now(),
): RequestLimiter {
  const levels = new Map<string, { left: number; at: number }>();
  const filled = ({ left, at }: { left: number; at: number }, time: number): number =>
    Math.min(burst, left + ((time - at) / 1000) * perSecond);
  const forgetFull = (time: number): void => {
    for (const [key, level] of levels) if (filled(level, time) >= burst) levels.delete(key);
    // The keys that were used the longest ago are first.
    for (const key of levels.keys()) {
      if (levels.size < MOST_KEYS) break;
      levels.delete(key);
    }
  };
  return {
    take(key, cost = 1) {
      const time = now();
      const left = filled(levels.get(key) ?? { left: burst, at: time }, time);
      if (!levels.has(key) && levels.size >= MOST_KEYS) forgetFull(time);
      // Last in the order of the map.
      levels.delete(key);
      const isAllowed = left >= 1;
      levels.set(key, { left: isAllowed ? left - cost : left, at: time });
      return isAllowed ? 0 : (1 - left) / perSecond;
    },
  };
}

/** Returns the key that refused sign-ins are counted by: for IPv6 the customer's network, with every address in it. */
export function signInOrigin(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail = ''] = address.split('%')[0]?.split('::') ?? [];
  const groups = head.split(':').filter((group) => group !== '');
  const after = tail.split(':').filter((group) => group !== '');
  const zeros = address.includes('::') ? Array(Math.max(8 - groups.length - after.length, 0)).fill('0') : [];
  return `${[...groups, ...zeros, ...after].slice(0, 4).join(':')}::/64`;
}
