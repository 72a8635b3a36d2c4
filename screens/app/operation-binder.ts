import type { CheckRequest } from '../../src/operations/configuration/check/check.ts';
import type { Context } from '../../src/runtime/context.ts';
import type { RunContext } from '../../src/state/runs.ts';
import { withoutPasswords, withoutSecrets } from './frame/hide-secrets.ts';

/** Makes the context of an operation; reads the configuration on first use. */
export type CreateContext = (session: RunContext) => Context | Promise<Context>;

/** For operations on a configuration that may be missing or invalid. */
export type CheckSurroundings = Pick<CheckRequest, 'file' | 'environment' | 'cwd' | 'clock'>;

export type OperationBinder = ReturnType<typeof createOperationBinder>;

/** Gives operations what they run in, and loads the code of each on its first use. */
export function createOperationBinder(createContext: CreateContext, surroundings: CheckSurroundings) {
  return {
    createContext,
    surroundings,
    inContext:
      <Args extends unknown[], Result>(
        load: () => Promise<(context: Context, ...args: Args) => Result | Promise<Result>>,
      ) =>
      async (session: RunContext, ...args: Args): Promise<Result> => {
        const perform = await load();
        return withoutSecrets(session, createContext, (context) => perform(context, ...args));
      },
    /** For operations without a context, which an invalid configuration does not have. */
    inSurroundings:
      <Args extends unknown[], Result>(
        load: () => Promise<(surroundings: CheckSurroundings, ...args: Args) => Result | Promise<Result>>,
      ) =>
      async (...args: Args): Promise<Result> =>
        (await load())(surroundings, ...args),
    inSession:
      <Args extends unknown[], Result>(
        load: () => Promise<(surroundings: CheckSurroundings & RunContext, ...args: Args) => Result | Promise<Result>>,
      ) =>
      async (session: RunContext, ...args: Args): Promise<Result> =>
        (await load())({ ...surroundings, ...session }, ...args),
    /** For operations on URLs that are not in the configuration yet. */
    withUrls:
      <Urls extends string | Record<string, string>, Result>(
        load: () => Promise<(surroundings: CheckSurroundings & RunContext, urls: Urls) => Result | Promise<Result>>,
      ) =>
      async (session: RunContext, urls: Urls): Promise<Result> => {
        const perform = await load();
        const texts = typeof urls === 'string' ? [urls] : Object.values(urls);
        return withoutPasswords(session, texts, (given) => perform({ ...surroundings, ...given }, urls));
      },
  };
}
