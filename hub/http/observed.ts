import { randomUUID } from 'node:crypto';
import type { Hub } from '../hub.ts';
import type { Metrics } from '../metrics.ts';
import type { RequestFacts } from './answer.ts';
import { addressOf, type HonoContext } from './request.ts';

/** Counts and logs a request that `work` answers. */
export async function observed(
  context: HonoContext,
  { route, hub, metrics }: { route: string; hub: Hub; metrics: Metrics },
  work: (seen: RequestFacts) => Promise<Response>,
): Promise<Response> {
  const started = performance.now();
  const seen: RequestFacts = { caller: null, address: addressOf(context, hub), requestId: randomUUID() };
  const response = await work(seen);
  const { status } = response;
  const ms = Math.round(performance.now() - started);
  metrics.observe({ route, status, seconds: ms / 1000 });
  const request = { request_id: seen.requestId, route, status, ms };
  hub.log.info('request', { ...request, caller: seen.caller?.id, address: seen.address });
  return response;
}
