import { chooseRunner } from './choose-runner.ts';
import type { DatabaseUrl, EngineContext } from './engine.ts';
import type { EngineId } from './list.ts';
import { sanitizer as mysql } from './mysql/sanitize/sanitizer.ts';
import { sanitizer as postgres } from './postgres/sanitize/sanitizer.ts';
import { engineForUrl } from './registry.ts';
import type { Sanitizer } from './sanitizer.ts';

const SANITIZERS: Record<EngineId, Sanitizer> = { postgres, mysql };

/** What an engine needs to sanitize. */
export function sanitizerOf(engine: EngineId): Sanitizer {
  return withChosenRunner(engine, SANITIZERS[engine]);
}

/** The sanitizer, working where the engine's tools are: on this machine, or in the configured image. */
function withChosenRunner(id: EngineId, sanitizer: Sanitizer): Sanitizer {
  const engine = engineForUrl(`${id}://`);
  const at = async (context: EngineContext, url: DatabaseUrl): Promise<EngineContext> => ({
    ...context,
    runner: await chooseRunner(engine, context, url),
  });
  return {
    ...sanitizer,
    readColumns: async (context, request) => sanitizer.readColumns(await at(context, request.url), request),
    digestColumns: async (context, url, columns) => sanitizer.digestColumns(await at(context, url), url, columns),
    runQuery: async (context, run) => sanitizer.runQuery(await at(context, run.url), run),
    removeTraces: async (context, traces) => sanitizer.removeTraces(await at(context, traces.url), traces),
    suggestQuery: async (context, request) => sanitizer.suggestQuery(await at(context, request.url), request),
  };
}
