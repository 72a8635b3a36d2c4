import type { DatabaseUrl } from '../database-url.ts';
import type { Connection } from '../engine.ts';
import type { EngineContext, WithoutUrl } from '../engine-context.ts';

/** Makes methods of facets from functions whose code is loaded when they are called. */
export function engineCalls(run: Connection['run']) {
  return {
    /** Calls a function that takes the URL of the database. */
    call:
      <Result>(load: () => Promise<(context: EngineContext, url: DatabaseUrl) => Promise<Result>>) =>
      (): Promise<Result> =>
        run(async (context, url) => (await load())(context, url)),
    /** Calls a function that takes a request with the URL. */
    ask:
      <Request extends { url: DatabaseUrl }, Result>(
        load: () => Promise<(context: EngineContext, request: Request) => Promise<Result>>,
      ) =>
      (request: WithoutUrl<Request>): Promise<Result> =>
        run(async (context, url) => (await load())(context, { ...request, url } as Request)),
  };
}
