import { createHash } from 'node:crypto';
import { isMissing } from '../../src/repository/s3/errors.ts';
import type { TargetBucket } from './buckets.ts';

// What the hub itself asks a bucket for; the bytes of objects do not pass through it.

/** Bytes under a key; `null` when there is nothing. */
export async function findBytes({ bucket, signal }: TargetBucket, key: string): Promise<number | null> {
  const command = new bucket.sdk.HeadObjectCommand(bucket.place(key));
  try {
    const found = await bucket.ask('read', (options) => bucket.client.send(command, options), signal());
    return found.ContentLength ?? 0;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

export async function writeText({ bucket, signal }: TargetBucket, key: string, text: string): Promise<void> {
  const Body = Buffer.from(text);
  const sha256 = createHash('sha256').update(Body).digest('hex');
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
