import type { Runner } from '../process/runner.ts';
import { UserError } from '../runtime/errors.ts';
import { withConnection } from './connection-limits.ts';
import type { DatabaseUrl } from './database-url.ts';
import type { Connection, Engine, Facets, Place } from './engine.ts';
import type { EngineContext } from './engine-context.ts';
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
      return engine.withExplainedErrors({ context: placed, url }, () => call(placed));
    };
    try {
      return await on(runner);
    } catch (thrown) {
      const container = context.containers?.(engine.id);
      if (!container || container === runner || !isTooOld(thrown)) throw thrown;
      return on(container);
    }
  };
  const runShort: Connection['runShort'] = (call) =>
    run((placed) => withConnection(url, placed.signal, () => call(placed)));
  return { engine, url, ...engine.open({ url, run, runShort }) };
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

/** Engines throw it before they change anything. */
function isTooOld(thrown: unknown): boolean {
  return thrown instanceof UserError && thrown.code === 'tools_too_old';
}
