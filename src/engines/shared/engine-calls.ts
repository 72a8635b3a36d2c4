import { alongside, type DatabaseUrl } from '../database-url.ts';
import type { Connection } from '../engine.ts';
import type { EngineContext, WithoutUrl } from '../engine-context.ts';

export type EngineCalls = ReturnType<typeof engineCalls>;

/** Makes methods of facets from functions whose code is loaded when they are called. */
export function engineCalls({ run, runShort }: Connection) {
  return { ...callsBy(run), short: callsBy(runShort) };
}

function callsBy(run: Connection['run']) {
  return {
    run,
    /** Calls a function that takes the URL of the database. */
    call:
      <Rest extends unknown[], Result>(
        load: () => Promise<(context: EngineContext, url: DatabaseUrl, ...rest: Rest) => Promise<Result>>,
      ) =>
      (...rest: Rest): Promise<Result> =>
        run(async (context, url) => (await load())(context, url, ...rest)),
    /** Calls a function that takes a request with the URL. */
    ask:
      <Request extends { url: DatabaseUrl }, Result>(
        load: () => Promise<(context: EngineContext, request: Request) => Promise<Result>>,
      ) =>
      (request: WithoutUrl<Request>): Promise<Result> =>
        run(async (context, url) => (await load())(context, { ...request, url } as Request)),
    /** Calls a function that takes databases of one server. */
    askAll:
      <Request extends { urls: DatabaseUrl[] }, Result>(
        load: () => Promise<(context: EngineContext, request: Request) => Promise<Result>>,
      ) =>
      (request: Request): Promise<Result> =>
        run(async (context, url) => (await load())(context, { ...request, urls: alongside(url, request.urls) })),
  };
}
