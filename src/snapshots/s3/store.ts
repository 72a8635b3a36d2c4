import { createHash } from 'node:crypto';
import type {
  ListMultipartUploadsCommand,
  ListMultipartUploadsCommandInput,
  ListMultipartUploadsCommandOutput,
} from '@aws-sdk/client-s3';
import { createBudget } from '../budget.ts';
import type { Store, StoredFile } from '../store.ts';
import { openS3Bucket, type S3Bucket, type S3Options } from './bucket.ts';
import { downloadFile, FETCHES_AT_ONCE } from './download.ts';
import { isMissing } from './errors.ts';
import { PART_BYTES, uploadFile } from './upload.ts';

/** Bytes that are held at the same moment, all uploads together. */
const BYTES_IN_FLIGHT = 4 * PART_BYTES;

/** A store in a bucket of an S3-compatible service: keys below the profile's prefix. */
export async function createS3Store(options: S3Options): Promise<Store> {
  const bucket = await openS3Bucket(options);
  const { client, sdk, place, envelope } = bucket;
  const budget = createBudget(BYTES_IN_FLIGHT);
  const fetches = createBudget(FETCHES_AT_ONCE);
  return {
    name: bucket.name,

    list: (prefix) => list(bucket, prefix),

    read: (key) =>
      bucket
        .ask('read', async (request) => {
          const { Body, Metadata } = await client.send(new sdk.GetObjectCommand(place(key)), request);
          const stored = Buffer.from((await Body?.transformToByteArray()) ?? '');
          const { sha256 } = Metadata ?? {};
          if (sha256 !== undefined && sha256 !== checksum(stored)) throw new Error(`${key} arrived damaged`);
          return envelope.open(key, stored).toString();
        })
        .catch(nullWhenMissing),

    async write(key, text) {
      const Body = envelope.seal(key, Buffer.from(text));
      const command = new sdk.PutObjectCommand({ ...place(key), Body, Metadata: { sha256: checksum(Body) } });
      await bucket.ask('write', (request) => client.send(command, request));
    },

    size: (key) =>
      bucket
        .ask('read', async (request) => {
          const head = client.send(new sdk.HeadObjectCommand(place(key)), request);
          const { ContentLength } = await head.catch(async (error) => {
            // An answer to HEAD has no body, and so no reason; one to GET has.
            if (!isMissing(error))
              await client.send(new sdk.GetObjectCommand({ ...place(key), Range: 'bytes=0-0' }), request);
            throw error;
          });
          return envelope.contentBytes(ContentLength ?? 0);
        })
        .catch(nullWhenMissing),

    put: (key, file, transfer) => uploadFile(key, file, { bucket, budget, ...transfer }),

    get: (key, file, transfer) => downloadFile(key, file, { bucket, fetches, ...transfer }),

    async remove(key, signal) {
      await bucket
        .ask('write', (request) => client.send(new sdk.DeleteObjectCommand(place(key)), request), signal)
        .catch(nullWhenMissing);
    },

    removeUnfinished: (before) => abortUploads(bucket, before),
  };
}

async function list(
  { ask, bucket, client, sdk, envelope, nameOf, keyOf }: S3Bucket,
  prefix: string,
): Promise<StoredFile[]> {
  const found: StoredFile[] = [];
  let ContinuationToken: string | undefined;
  do {
    const command = new sdk.ListObjectsV2Command({ Bucket: bucket, Prefix: `${nameOf(prefix)}/`, ContinuationToken });
    const page = await ask('read', async (request) => {
      const answer = await client.send(command, request);
      // The client takes whatever is no list for an empty one.
      if (answer.Name === undefined) throw Object.assign(new Error('the answer is no list'), { name: 'NoStorage' });
      return answer;
    });
    for (const { Key = '', Size = 0, LastModified = new Date(0), ETag = '' } of page.Contents ?? []) {
      const key = keyOf(Key);
      if (key === null) continue;
      const bytes = envelope.contentBytes(Size);
      found.push({ key, bytes, modified: LastModified, version: ETag.replaceAll('"', '') });
    }
    ContinuationToken = page.IsTruncated ? page.NextContinuationToken : undefined;
  } while (ContinuationToken !== undefined);
  return found.sort((a, b) => (a.key < b.key ? -1 : 1));
}

async function abortUploads({ ask, bucket, client, sdk, nameOf }: S3Bucket, before: Date): Promise<void> {
  let more: ListMultipartUploadsCommandInput | undefined = { Bucket: bucket, Prefix: `${nameOf('objects')}/` };
  while (more) {
    const command: ListMultipartUploadsCommand = new sdk.ListMultipartUploadsCommand(more);
    const page: ListMultipartUploadsCommandOutput = await ask('read', (request) => client.send(command, request));
    for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
      if (!Initiated || Initiated >= before) continue;
      const abort = new sdk.AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId });
      await ask('write', (request) => client.send(abort, request)).catch(nullWhenMissing);
    }
    const { NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page;
    more = page.IsTruncated ? { ...more, KeyMarker, UploadIdMarker } : undefined;
  }
}

function checksum(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function nullWhenMissing(error: unknown): null {
  if (!isMissing(error)) throw error;
  return null;
}
