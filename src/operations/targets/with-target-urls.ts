import type { Context } from '../../runtime/context.ts';

export interface NeededUrls {
  /** The operation reads the source: without the permission to read its URL it is refused. */
  source: boolean;
}

/** Adds the URLs of a cloud target, which are on the hub, to the configuration. */
export async function withTargetUrls(context: Context, name: string, { source }: NeededUrls): Promise<Context> {
  if (!context.configuration.cloud?.has(name)) return context;
  const { fetchCloudUrls } = await import('../cloud/cloud-urls.ts');
  return fetchCloudUrls(context, name, { required: source });
}
