import { createHash } from 'node:crypto';
import { isMissing } from '../../src/repository/s3/errors.ts';
import type { TargetBucket } from './buckets.ts';
import type { ReadableObject } from './check-content.ts';

// Calls of the hub itself to a bucket. It reads objects only to verify them.

/** The present object in the bucket: `read` fails when the object is replaced. */
export interface FoundObject extends ReadableObject {
  etag: string;
}

/** Smaller objects are fetched by one request. */
const WHOLE_BYTES = 1024 * 1024;

export async function findObject(
  { bucket, signal }: TargetBucket,
  key: string,
  ending: AbortSignal = new AbortController().signal,
): Promise<FoundObject | null> {
  const { sdk, client } = bucket;
  const bounded = (): AbortSignal => AbortSignal.any([signal(), ending]);
  const request = new sdk.HeadObjectCommand(bucket.place(key));
  const head = await bucket
    .ask('read', (options) => client.send(request, options), bounded())
    .catch((error) => {
      if (isMissing(error)) return null;
      throw error;
    });
  if (head === null) return null;
  const { ContentLength: bytes = 0, ETag: etag = '' } = head;
  const fetchRange = (start: number, length: number): Promise<Buffer> => {
    const Range = `bytes=${start}-${start + length - 1}`;
    const command = new sdk.GetObjectCommand({ ...bucket.place(key), Range, ...(etag && { IfMatch: etag }) });
    return bucket.ask(
      'read',
      async (options) => readExactly((await client.send(command, options)).Body as AsyncIterable<Buffer>, length),
      bounded(),
    );
  };
  let whole: Promise<Buffer> | undefined;
  return {
    bytes,
    etag,
    async read(start, length) {
      if (bytes > WHOLE_BYTES) return fetchRange(start, length);
      whole ??= fetchRange(0, bytes);
      return (await whole).subarray(start, start + length);
    },
  };
}

async function readExactly(body: AsyncIterable<Buffer>, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  for await (const piece of body) {
    if (filled + piece.length > length) throw new Error('the answer is longer than the range');
    filled += piece.copy(bytes, filled);
  }
  if (filled < length) throw new Error(`the answer ended after ${filled} of ${length} bytes`);
  return bytes;
}

/** `sha256`: of the text, where it is known. */
export async function writeText(
  { bucket, signal }: TargetBucket,
  key: string,
  { text, sha256 = createHash('sha256').update(text).digest('hex') }: { text: string; sha256?: string },
): Promise<void> {
  const Body = Buffer.from(text);
  const command = new bucket.sdk.PutObjectCommand({ ...bucket.place(key), Body, Metadata: { sha256 } });
  await bucket.ask('write', (options) => bucket.client.send(command, options), signal());
}

export async function removeKey({ bucket, signal }: TargetBucket, key: string): Promise<void> {
  const command = new bucket.sdk.DeleteObjectCommand(bucket.place(key));
  try {
    await bucket.ask('write', (options) => bucket.client.send(command, options), signal());
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

/** Does not retry: a lost attempt that the bucket executes late could remove what was sent again since. */
export async function removeKeyOnce({ bucket, signal }: TargetBucket, key: string): Promise<void> {
  const command = new bucket.sdk.DeleteObjectCommand(bucket.place(key));
  await bucket.client.send(command, { abortSignal: signal() });
}

export async function beginUpload({ bucket, signal }: TargetBucket, key: string): Promise<string> {
  const command = new bucket.sdk.CreateMultipartUploadCommand(bucket.place(key));
  const { UploadId } = await bucket.ask('write', (options) => bucket.client.send(command, options), signal());
  if (UploadId === undefined) throw new Error('the bucket has begun no upload');
  return UploadId;
}

/** One that is unknown may be complete: the answer to an earlier request got lost. The length tells. */
export async function completeUpload(
  { bucket, signal }: TargetBucket,
  key: string,
  { upload_id, etags }: { upload_id: string; etags: string[] },
): Promise<void> {
  const Parts = etags.map((ETag, index) => ({ ETag, PartNumber: index + 1 }));
  const upload = { UploadId: upload_id, MultipartUpload: { Parts } };
  const command = new bucket.sdk.CompleteMultipartUploadCommand({ ...bucket.place(key), ...upload });
  try {
    await bucket.ask('write', (options) => bucket.client.send(command, options), signal());
  } catch (error) {
    if (!isMissing(error) && !isRefused(error)) throw error;
  }
}

/** Parts that are not those that were sent: the object does not come about. */
function isRefused(error: unknown): boolean {
  const name = ((error as { cause?: { name?: string } }).cause ?? (error as { name?: string })).name ?? '';
  return [
    'InvalidPart',
    'InvalidPartOrder',
    'InvalidArgument',
    'EntityTooSmall',
    'MalformedXML',
    'NoSuchUpload',
  ].includes(name);
}
