import type { Context } from '../runtime/context.ts';

export interface NeededUrls {
  /** An operation on the source: who may not read its URL is refused. Otherwise it goes on without. */
  source: boolean;
}

/** The context with the URLs of the target: those of a cloud target are on the hub. */
export async function withTargetUrls(context: Context, name: string, { source }: NeededUrls): Promise<Context> {
  if (!context.configuration.cloud?.has(name)) return context;
  const { fetchCloudUrls } = await import('./cloud/cloud-urls.ts');
  return fetchCloudUrls(context, name, { required: source });
}
