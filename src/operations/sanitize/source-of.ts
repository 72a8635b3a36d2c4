import { connectionUrl } from '../../config/urls/connection-url.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';

export function sourceOf({ configuration }: Context, target: string): string {
  const key = `targets.${target}.snapshot.src_url`;
  const text = connectionUrl(configuration, key);
  if (text !== undefined) return text;
  throw new UserError('source_missing', `Target "${target}" has no source`, {
    hint: `Set ${key} in the configuration.`,
  });
}
