/** Whether somebody answers at an address. */
export interface Reach {
  url: string | null;
  /** `null` when nobody was asked. */
  ok: boolean | null;
  error: string | null;
}

const PATIENCE = 5000;

/** Any answer will do: who may do what there is found out by those who do it. No credentials are sent. */
export async function reach(
  address: string,
  { signal, offline }: { signal: AbortSignal; offline: boolean },
): Promise<Reach> {
  const target = URL.parse(address);
  if (target === null) return { url: null, ok: false, error: 'the profile names no address' };
  // Credentials in an address are neither sent nor shown.
  target.username = '';
  target.password = '';
  const url = target.href.replace(/\/$/, '');
  if (offline) return { url, ok: null, error: null };
  try {
    const response = await fetch(url, {
      method: 'HEAD',
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE)]),
    });
    await response.body?.cancel();
    return { url, ok: true, error: null };
  } catch (error) {
    signal.throwIfAborted();
    return { url, ok: false, error: reasonOf(error as Error) };
  }
}

function reasonOf(error: Error): string {
  if (error.name === 'TimeoutError') return `no answer within ${PATIENCE / 1000} seconds`;
  const cause = error.cause as (Error & { code?: string }) | undefined;
  return cause?.message || cause?.code || error.message;
}
