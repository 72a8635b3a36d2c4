import { type Context, type ContextOptions, openContext as openLocal } from '../runtime/context.ts';

/** The context of a piece of work; in cloud mode with the targets of the hub that this machine knows. */
export async function openContext(options: ContextOptions): Promise<Context> {
  const context = await openLocal(options);
  if (context.configuration.settings.authtoken === undefined) return context;
  const { withCachedTargets } = await import('../operations/cloud/cloud-targets.ts');
  return withCachedTargets(context);
}
