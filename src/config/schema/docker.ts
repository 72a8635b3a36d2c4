import * as v from 'valibot';
import { ENGINE_IDS, type EngineId, profileOf } from '../../engines/list.ts';
import type { EngineProfile } from '../../engines/profile.ts';
import { key, optionalKey } from './key.ts';
import { traits } from './traits.ts';
import { text } from './values.ts';

const image = v.pipe(
  text,
  v.regex(/^[^\s:@]+(:\d+\/[^\s:@]+)?(:[\w.-]+)?(@sha256:[0-9a-f]{64})?$/, 'must be an image reference: image:tag'),
  traits({ effect: 'runs_image' }),
);

function imageOf({ products: [product], defaultImage }: EngineProfile) {
  return key(image, `Image for the ${product} engine.`, { example: defaultImage });
}

export const dockerSchema = v.strictObject({
  images: optionalKey(
    v.strictObject(
      Object.fromEntries(ENGINE_IDS.toSorted().map((id) => [id, v.exactOptional(imageOf(profileOf(id)))])) as Record<
        EngineId,
        v.ExactOptionalSchema<ReturnType<typeof imageOf>, undefined>
      >,
    ),
    'Images of the database engines.',
  ),
});
