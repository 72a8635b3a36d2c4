import type { Context } from '../runtime/context.ts';

export type EngineContext = Pick<Context, 'runner' | 'containers' | 'report' | 'signal' | 'clock' | 'environment'>;

/** A request of the engine, as it is made to an open database. */
export type WithoutUrl<Request extends { url: unknown }> = Omit<Request, 'url'>;
