import type { Runner } from '../process/runner.ts';
import { UserError } from '../runtime/errors.ts';
import { withConnection } from './connection-limits.ts';
import type { DatabaseUrl } from './database-url.ts';
import type { Connection, Engine, Facets, Place } from './engine.ts';
import type { EngineContext } from './engine-context.ts';
import type { ConnectFacet, Probe, ProbeRequest } from './facets/connect.ts';
import { profileOf } from './list.ts';
import { engineOf } from './registry.ts';

/** A database and all that can be done with it. */
export interface Database extends Facets {
  engine: Engine;
  url: DatabaseUrl;
}

/**
 * Returns the facets of a database, bound to it; each call connects by itself. A call runs on this machine or in a
 * container, and in the container again where the client programs of this machine are too old.
 */
export function openDatabase(context: EngineContext, url: DatabaseUrl): Database {
  const engine = engineOf(url.engine);
  const run: Connection['run'] = async (call) => {
    const runner = await chooseRunner(engine, { context, url });
    const on = (chosen: Runner) => {
      const placed = { ...context, runner: chosen };
      return withTunnel(placed, url, (through) =>
        engine.withExplainedErrors({ context: placed, url: through }, () => call(placed, through)),
      );
    };
    try {
      return await on(runner);
    } catch (thrown) {
      const container = context.containers?.(engine.id);
      // Engines throw it before they change anything.
      if (!container || container === runner || !(thrown instanceof UserError && thrown.code === 'tools_too_old'))
        throw thrown;
      return on(container);
    }
  };
  const runShort: Connection['runShort'] = (call) =>
    run((placed, through) => withConnection(url, placed.signal, () => call(placed, through)));
  const facets = engine.open({ run, runShort });
  if (url.parameters.tunnel === undefined) return { engine, url, ...facets };
  // Seen from the bastion: no address of this machine is one of them.
  const addresses = url.hosts.map(
    ({ host, port }) => `${url.parameters.tunnel} ${host.toLowerCase()}:${port ?? profileOf(engine.id).defaultPort}`,
  );
  const connect: ConnectFacet = {
    ...facets.connect,
    readAddresses: async () => new Set(addresses),
    probe: (request) => probeThroughTunnel(url, request, facets.connect.probe),
  };
  return { engine, url, ...facets, connect };
}

/** Opens the tunnel of a URL, and returns the URL that leads through it; a URL without one as it is. */
export async function openTunnel(context: EngineContext, url: DatabaseUrl): Promise<DatabaseUrl> {
  if (url.parameters.tunnel === undefined) return url;
  const { tunnelOf, tunnelFailed } = await import('./shared/tunnel/tunnel.ts');
  const tunnel = tunnelOf(url);
  await tunnel.open(context).catch((cause: Error) => {
    context.signal.throwIfAborted();
    throw tunnelFailed(url, { says: cause.message, cause });
  });
  return { ...url, localPorts: await tunnel.ports() };
}

/** A failure of the work is that of the tunnel where that broke meanwhile. */
async function withTunnel<Result>(
  context: EngineContext,
  url: DatabaseUrl,
  work: (url: DatabaseUrl) => Promise<Result>,
): Promise<Result> {
  if (url.parameters.tunnel === undefined) return work(url);
  if (context.runner.id !== 'local') throw noTunnelInContainer(url);
  const startedAt = performance.now();
  const through = await openTunnel(context, url);
  try {
    return await work(through);
  } catch (cause) {
    context.signal.throwIfAborted();
    const { tunnelOf, tunnelFailed } = await import('./shared/tunnel/tunnel.ts');
    const says = await tunnelOf(url).failureSince(startedAt);
    throw says === null ? cause : tunnelFailed(url, { says, cause });
  }
}

/** ssh states why a server cannot be reached; the client that it disconnects does not. */
async function probeThroughTunnel(url: DatabaseUrl, request: ProbeRequest, probe: ConnectFacet['probe']) {
  const startedAt = performance.now();
  const unreachable = new Map<number, Probe>();
  const take: ProbeRequest['take'] = (index, found) => {
    if (found.state.status === 'unreachable') unreachable.set(index, found);
    else request.take(index, found);
  };
  await probe({ ...request, take });
  if (unreachable.size === 0) return;
  const { tunnelOf } = await import('./shared/tunnel/tunnel.ts');
  const error = await tunnelOf(url).failureSince(startedAt);
  for (const [index, { state, identity }] of unreachable) {
    request.take(index, {
      state: { ...state, ...(error !== null && { error, error_code: 'tunnel_failed' }) },
      identity,
    });
  }
}

function noTunnelInContainer({ display }: DatabaseUrl): UserError {
  return new UserError('tunnel_failed', `Programs in a container cannot use the SSH tunnel to ${display}`, {
    hint: 'Install the client programs of the database on this machine.',
  });
}

/**
 * The container for `pgdocker://` and the like, or when an image is configured and this machine has no client
 * programs.
 */
async function chooseRunner(engine: Engine, { context, url }: Place): Promise<Runner> {
  const container = context.containers?.(engine.id, url.inContainer ? 'required' : undefined) ?? null;
  if (!container) return context.runner;
  if (url.inContainer) return container;
  const installed = await engine.reportTools(context);
  return installed.length > 0 ? context.runner : container;
}
