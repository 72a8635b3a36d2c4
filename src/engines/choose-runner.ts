import type { Runner } from '../process/runner.ts';
import { UserError } from '../runtime/errors.ts';
import { withConnection } from './connection-limits.ts';
import type { DatabaseUrl } from './database-url.ts';
import type { Engine } from './engine.ts';
import type { EngineContext } from './engine-context.ts';
import { wrapEngine } from './wrap-engine.ts';

const LOOKING = ['listDatabases', 'listSchemas', 'listTables', 'identifyAffected', 'inspect', 'findAllCopies'];

export function withChosenRunner(engine: Engine): Engine {
  return wrapEngine(engine, async ({ context, url, name }, work) => {
    const at: typeof work = LOOKING.includes(name)
      ? (placed) => withConnection(url, context.signal, () => work(placed))
      : work;
    const runner = await chooseRunner(engine, context, url);
    try {
      return await at({ ...context, runner });
    } catch (thrown) {
      // The local tools are too old: retry with those of the image.
      const container = context.containers?.(engine.id);
      if (!container || container === runner || !isTooOld(thrown)) throw thrown;
      return at({ ...context, runner: container });
    }
  });
}

/**
 * The container for `pgdocker://` and the like, or when an image is configured and this machine has no client
 * programs.
 */
async function chooseRunner(engine: Engine, context: EngineContext, url: DatabaseUrl): Promise<Runner> {
  const container = context.containers?.(engine.id, url.inContainer ? 'required' : undefined) ?? null;
  if (url.inContainer && container) return container;
  if (!container) return context.runner;
  const installed = await engine.connect.reportTools(context);
  return installed.length > 0 ? context.runner : container;
}

/** Engines throw it before they change anything. */
function isTooOld(thrown: unknown): boolean {
  return thrown instanceof UserError && thrown.code === 'tools_too_old';
}
