import { EXIT, UserError } from '../errors.ts';
import type { Runner } from '../process/runner.ts';
import { withConnection } from './connection-limits.ts';
import type { DatabaseUrl, Engine, EngineContext } from './engine.ts';
import { profileOf } from './list.ts';
import type { SubsetEngine } from './subset.ts';

/** The engine, each of its operations where the fitting tools are: on this machine, or in the configured image. */
export function withChosenRunner(engine: Engine): Engine {
  const at: Place = (context, url, work) => place(engine, { context, url, work });
  // What only looks at a server shares a bounded number of connections.
  const looking: Place = (context, url, work) =>
    at(context, url, (placed) => withConnection(url, context.signal, () => work(placed)));
  const { countRows, listSchemas } = engine;

  return {
    ...engine,
    probe(context, request) {
      const [url] = request.urls;
      return url ? at(context, url, (placed) => engine.probe(placed, request)) : Promise.resolve();
    },
    listDatabases: (context, url) => looking(context, url, (placed) => engine.listDatabases(placed, url)),
    ...(listSchemas && { listSchemas: (context, url) => looking(context, url, (placed) => listSchemas(placed, url)) }),
    listTables: (context, url) => looking(context, url, (placed) => engine.listTables(placed, url)),
    addressesOf: (context, url) => at(context, url, (placed) => engine.addressesOf(placed, url)),
    identifyAffected: (context, url) => looking(context, url, (placed) => engine.identifyAffected(placed, url)),
    dump: (context, request) => at(context, request.url, (placed) => engine.dump(placed, request)),
    readNeeds: (context, request) => at(context, request.url, (placed) => engine.readNeeds(placed, request)),
    planRestore: (context, request) => at(context, request.url, (placed) => engine.planRestore(placed, request)),
    restore: (context, run) => at(context, run.url, (placed) => engine.restore(placed, run)),
    inspect: (context, url) => looking(context, url, (placed) => engine.inspect(placed, url)),
    runScript: (context, run) => at(context, run.url, (placed) => engine.runScript(placed, run)),
    ...(countRows && { countRows: (context, live) => at(context, live.url, (placed) => countRows(placed, live)) }),
    findKept: (context, url) => at(context, url, (placed) => engine.findKept(placed, url)),
    undo: (context, url) => at(context, url, (placed) => engine.undo(placed, url)),
  };
}

/** What makes subsets, with the tools of the place that fits the source. */
export function subsetWithChosenRunner(engine: Engine, subset: SubsetEngine): SubsetEngine {
  return {
    ...subset,
    openSource: (context, request) =>
      place(engine, {
        context,
        url: request.url,
        async work(placed) {
          const source = await subset.openSource(placed, request);
          return { ...source, make: (running, run) => source.make({ ...running, runner: placed.runner }, run) };
        },
      }),
    checkDestination: (context, url) =>
      place(engine, { context, url, work: (placed) => subset.checkDestination(placed, url) }),
  };
}

type Place = <Result>(
  context: EngineContext,
  url: DatabaseUrl,
  work: (placed: EngineContext) => Promise<Result>,
) => Promise<Result>;

interface Placing<Result> {
  context: EngineContext;
  url: DatabaseUrl;
  work: (placed: EngineContext) => Promise<Result>;
}

/** Works with the tools that are there; when it turns out that they are too old, once more with the image's. */
async function place<Result>(engine: Engine, { context, url, work }: Placing<Result>): Promise<Result> {
  const runner = await chooseRunner(engine, context, url);
  try {
    return await work({ ...context, runner });
  } catch (thrown) {
    const container = context.containers?.(engine.id);
    if (!container || container === runner || !isTooOld(thrown)) throw thrown;
    return work({ ...context, runner: container });
  }
}

/** The container when the URL asks for it, or when an image is configured and this machine has no tools of its own. */
export async function chooseRunner(engine: Engine, context: EngineContext, url: DatabaseUrl): Promise<Runner> {
  const container = context.containers?.(engine.id) ?? null;
  if (url.inContainer) {
    if (container) return container;
    throw imageNotSet(engine, url);
  }
  if (!container) return context.runner;
  const installed = await engine.reportTools(context);
  return installed.length > 0 ? context.runner : container;
}

/** Every engine finds this out before it has changed anything. */
function isTooOld(thrown: unknown): boolean {
  return thrown instanceof UserError && thrown.code === 'tools_too_old';
}

function imageNotSet({ id }: Engine, { display }: DatabaseUrl): UserError {
  return new UserError(`${display} asks for client programs in a container, but no image is configured`, {
    code: 'image_not_set',
    exit: EXIT.configuration,
    hint: `Set docker.images.${id} to an image with them, of the server's version or newer, such as ${profileOf(id).exampleImage}.`,
  });
}
