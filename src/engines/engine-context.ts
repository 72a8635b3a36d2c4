import type { Context } from '../runtime/context.ts';

export type EngineContext = Pick<Context, 'runner' | 'containers' | 'report' | 'signal' | 'clock' | 'environment'>;
