import type { Reach } from '../../../results/configuration/configuration-results.ts';

const TIMEOUT_MS = 5000;

/** Any answer will do: what may be done there is found out by who does it. No credentials are sent. */
export async function reach(
  address: string,
  { signal, offline }: { signal: AbortSignal; offline: boolean },
): Promise<Reach> {
  if (!URL.canParse(address)) return { url: null, ok: false, error: 'the address is not a valid URL' };
  const url = withoutCredentials(address);
  if (offline) return { url, ok: null, error: null };
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const response = await fetch(url, { method: 'HEAD', redirect: 'manual', signal: limit });
    await response.body?.cancel();
    return { url, ok: true, error: null };
  } catch (error) {
    signal.throwIfAborted();
    return { url, ok: false, error: reasonOf(error as Error) };
  }
}

function withoutCredentials(address: string): string {
  const url = new URL(address);
  url.username = '';
  url.password = '';
  return url.href.replace(/\/$/, '');
}

/** Returns the cause of a failed fetch, whose own message is `fetch failed`. */
function reasonOf(error: Error): string {
  if (error.name === 'TimeoutError') return `no answer within ${TIMEOUT_MS / 1000} seconds`;
  const cause = error.cause as (Error & { code?: string }) | undefined;
  return cause?.message || cause?.code || error.message;
}
