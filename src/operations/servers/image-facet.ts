import type { ImageFacet } from '../../engines/facets/image.ts';
import type { EngineId } from '../../engines/list.ts';
import { engineOf } from '../../engines/registry.ts';
import { UserError } from '../../runtime/errors.ts';

/** Throws `images_unsupported` for an engine without images. */
export async function imageFacet(engine: EngineId, { target }: { target: string }): Promise<ImageFacet> {
  const { images } = engineOf(engine);
  if (images) return images();
  throw new UserError('images_unsupported', `Cannot start a server for "${target}": images are of PostgreSQL only`, {
    hint: `Load the snapshot into a server of yours: tool load ${target}`,
  });
}
