import type { Context } from '../../context.ts';
import type { DatabaseUrl, Engine } from '../../engines/engine.ts';
import { refuseSources } from './guard.ts';

/** Refuses a destination beside which a source lies that a load would drop, such as an undo copy. */
export async function refuseDroppedSources(context: Context, engine: Engine, destination: DatabaseUrl): Promise<void> {
  for (const dropped of (await engine.findDropped?.(context, destination)) ?? []) await refuseSources(context, dropped);
}
