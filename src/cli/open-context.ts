import { type Context, type ContextOptions, createContext } from '../runtime/context.ts';

/**
 * Opens the context of a command; in cloud mode with the targets of the hub that this machine knows, and the one that a
 * command names.
 */
export async function openCommandContext(options: ContextOptions): Promise<Context> {
  const { target, environment } = options;
  const context = await createContext(options);
  const { settings } = context.configuration;
  const { ACTIONS_ID_TOKEN_REQUEST_URL, TOOL_ID_TOKEN } = environment;
  const isLocal = settings.authtoken === undefined && !ACTIONS_ID_TOKEN_REQUEST_URL && !TOOL_ID_TOKEN;
  if (isLocal) return context;
  const { withCachedTargets, withNamedTarget } = await import('../operations/cloud/cloud-targets.ts');
  return target === undefined ? withCachedTargets(context) : withNamedTarget(context, target);
}
