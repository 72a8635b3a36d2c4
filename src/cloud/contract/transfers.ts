import * as v from 'valibot';
import { count, sha256 } from '../../repository/manifest/values.ts';
import { headers, time, url } from './values.ts';

/** Objects in one request for URLs. */
export const MOST_OBJECTS = 200;

/** URLs of parts in one answer. */
export const MOST_PARTS = 1000;

const objects = <Item extends v.GenericSchema>(item: Item) =>
  v.pipe(v.array(item), v.minLength(1), v.maxLength(MOST_OBJECTS, `must have at most ${MOST_OBJECTS} objects`));

export const uploadsBodySchema = v.strictObject({
  sanitized: v.boolean(),
  objects: objects(
    v.strictObject({
      sha256,
      stored_sha256: sha256,
      stored_bytes: v.pipe(count, v.maxValue(5 * 1024 ** 4, 'must be at most 5 TiB')),
      /** Id of an upload in parts that has begun: the answer has the URLs from `from_part` on. */
      upload_id: v.exactOptional(v.pipe(v.string(), v.nonEmpty(), v.maxLength(1024))),
      from_part: v.exactOptional(v.pipe(count, v.minValue(1), v.maxValue(MOST_PARTS))),
    }),
  ),
});

export const uploadsSchema = v.object({
  objects: v.array(
    v.variant('answer', [
      v.object({ answer: v.literal('present'), sha256 }),
      v.object({ answer: v.literal('busy'), sha256, retry_after: count }),
      v.object({ answer: v.literal('upload'), sha256, href: url, header: headers, expires_at: time }),
      v.object({
        answer: v.literal('upload_parts'),
        sha256,
        upload_id: v.string(),
        part_bytes: count,
        from_part: count,
        parts: v.array(url),
        expires_at: time,
      }),
    ]),
  ),
});

export type Uploads = v.InferOutput<typeof uploadsSchema>;

export const verifyBodySchema = v.strictObject({
  sanitized: v.boolean(),
  objects: objects(
    v.strictObject({
      sha256,
      upload_id: v.exactOptional(v.pipe(v.string(), v.nonEmpty(), v.maxLength(1024))),
      etags: v.exactOptional(v.pipe(v.array(v.pipe(v.string(), v.maxLength(200))), v.maxLength(MOST_PARTS))),
    }),
  ),
});

export const verifySchema = v.object({
  objects: v.array(v.object({ sha256, answer: v.picklist(['stored', 'missing', 'differs']) })),
});

export const objectsBodySchema = v.strictObject({ objects: objects(sha256) });

export const downloadsSchema = v.object({
  objects: v.array(v.object({ sha256, href: url })),
  expires_at: time,
});

export const reportsSchema = v.object({
  objects: v.array(v.object({ sha256, answer: v.picklist(['damaged', 'checking', 'intact', 'not_checked']) })),
});
