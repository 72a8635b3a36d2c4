import type { ProxiedRequest } from './fault-proxy.ts';

/**
 * Bytes that were sent and came to nothing, so that anybody would have to send them again: whoever sent them was not
 * told that they had arrived, or they were parts of an upload that never became an object.
 */
export function lostBytes(requests: ProxiedRequest[]): number {
  const whole = new Set(requests.filter(({ method, status }) => method === 'POST' && status === 200).map(uploadOf));
  const kept = (one: ProxiedRequest): boolean => {
    const upload = uploadOf(one);
    return one.status === 200 && one.told && (upload === null || whole.has(upload));
  };
  return requests.reduce((sum, one) => (kept(one) ? sum : sum + one.bytes), 0);
}

function uploadOf({ query }: ProxiedRequest): string | null {
  return new URLSearchParams(query).get('uploadId');
}
