import * as v from 'valibot';
import { traits } from './traits.ts';
import { text } from './values.ts';

const image = v.pipe(
  text,
  v.regex(/^[^\s:@]+(:\d+\/[^\s:@]+)?(:[\w.-]+)?(@sha256:[0-9a-f]{64})?$/, 'must be an image reference: image:tag'),
  traits({ trust: 'image' }),
);

/** `docker`: the images of the engines' own programs. */
export const dockerSchema = v.strictObject({
  images: v.exactOptional(
    v.pipe(
      v.strictObject({
        mysql: v.exactOptional(v.pipe(image, v.description('Image for the MySQL engine.'), v.examples(['mysql:8.4']))),
        postgres: v.exactOptional(
          v.pipe(image, v.description('Image for the PostgreSQL engine.'), v.examples(['postgres:17'])),
        ),
      }),
      v.description('Images of the database engines.'),
    ),
  ),
});
