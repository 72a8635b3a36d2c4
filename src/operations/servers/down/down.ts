import type { DownPlan, DownResult } from '../../../results/server-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { UserError } from '../../../runtime/errors.ts';
import { withStep } from '../../../runtime/events.ts';
import { formatNumberOf } from '../../../text/format.ts';
import type { Planned } from '../../planned.ts';
import { serverRows } from '../list/list.ts';
import { ownOf, type RunningServer, removeServer, sweepServers, takeOver } from '../records.ts';

export interface DownRequest {
  /** Default: every target. */
  target?: string | undefined;
  /** `false`: without a target, the only server or those of the only target. */
  all?: boolean;
  /** Default: all servers of the target. */
  port?: number | undefined;
  /** Only servers that end with this process. */
  own?: boolean;
}

export type PlannedDown = Planned<DownRequest, DownPlan>;

/** Removes only what killed servers have left. */
export async function planDown(context: Context, request: DownRequest): Promise<PlannedDown> {
  const { port, own = false, all = true } = request;
  const running = await sweepServers(context);
  const matching = (own ? await ownOf(running) : running).filter((one) => port === undefined || one.port === port);
  const target = request.target ?? (all || matching.length === 1 ? undefined : onlyTarget(context, matching));
  const found = matching.filter((one) => target === undefined || one.target === target);
  if (found.length === 0) throw noServer({ target, port });
  const servers = await serverRows(found);
  const steps = servers.map((server) => `Stop the server on port ${server.port}, and remove its files`);
  const plan: DownPlan = { target: target ?? null, servers, steps };
  return { request, plan, planned_at: context.clock().toISOString() };
}

/** Stops those of the plan that still run. Steps: `stop`. */
export async function applyDown(context: Context, { plan }: PlannedDown): Promise<DownResult> {
  const planned = new Set(plan.servers.map(({ id }) => id));
  const running = (await sweepServers(context)).filter(({ id }) => planned.has(id));
  const what = formatNumberOf(running.length, 'server');
  await withStep(context.report, { step: 'stop', label: `Stop ${what}`, done: `Stopped ${what}` }, async () => {
    for (const { pid: _, ...record } of running) {
      await takeOver(context, record);
      await removeServer(context, record);
    }
  });
  return { stopped: running.map(({ id }) => id) };
}

function onlyTarget({ configuration: { settings, cloud } }: Context, running: RunningServer[]): string | undefined {
  if (running.length === 0) return undefined;
  const [only, ...others] = cloud ? [] : Object.keys(settings.targets);
  if (only !== undefined && others.length === 0) return only;
  const servers = running.map((one) => `${one.target} (port ${one.port})`).join(', ');
  throw new UserError('missing_argument', 'Several servers run: a target, --port or --all is required', {
    hint: `Servers: ${servers}`,
  });
}

function noServer({ target, port }: DownRequest): UserError {
  const of = target === undefined ? '' : ` for "${target}"`;
  const on = port === undefined ? '' : ` on port ${port}`;
  const hint = of + on === '' ? 'Start one: tool up TARGET' : 'List the running servers: tool ps';
  return new UserError('server_unknown', `No server runs${of}${on}`, { hint });
}
