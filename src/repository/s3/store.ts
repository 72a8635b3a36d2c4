import { hash } from 'node:crypto';
import type {
  ListMultipartUploadsCommand,
  ListMultipartUploadsCommandInput,
  ListMultipartUploadsCommandOutput,
} from '@aws-sdk/client-s3';
import { mapWithConcurrency } from '../../runtime/map-with-concurrency.ts';
import { readBounded } from '../../runtime/read-bounded.ts';
import { createBufferPool } from '../buffer-pool.ts';
import { sealedBytes } from '../encryption/sealed-format.ts';
import { isObjectKey } from '../store/keys.ts';
import { MOST_TEXT_BYTES, type Store, type StoredFile, TooLarge } from '../store/store.ts';
import { openS3Bucket, type S3Bucket, type S3Options } from './bucket.ts';
import { CONNECTION_TIMEOUT, IDLE_TIMEOUT } from './client.ts';
import { BYTES_GATHERED, bucketRanges, downloadFile } from './download.ts';
import { isMissing } from './errors.ts';
import { PART_BYTES, uploadFile } from './upload.ts';

const BYTES_IN_FLIGHT = 4 * PART_BYTES;

const HEAD_REQUESTS = 16;

/** Up to this number, keys are checked one by one instead of by a list of a thousand. */
const WORTH_A_LIST = 4;

const MOST_STORED_BYTES = sealedBytes(MOST_TEXT_BYTES);

export async function createS3Store(options: S3Options): Promise<Store> {
  const [bucket, { createHttpReader }] = await Promise.all([openS3Bucket(options), import('./http-reader.ts')]);
  const { client, sdk, place, envelope } = bucket;
  const uploadBuffers = createBufferPool(BYTES_IN_FLIGHT);
  const downloadBuffers = createBufferPool(BYTES_GATHERED);
  const reader = createHttpReader({ connectionTimeout: CONNECTION_TIMEOUT, idleTimeout: IDLE_TIMEOUT });
  const ranges = bucketRanges(bucket, reader);
  return {
    name: bucket.name,

    list: (prefix) => list(bucket, prefix),

    top: () => top(bucket),

    find: (key) => find(bucket, key),

    read: (key) =>
      bucket
        .ask('read', async (request) => {
          const { Body, Metadata } = await client.send(new sdk.GetObjectCommand(place(key)), request);
          const body = (Body as AsyncIterable<Buffer> | undefined) ?? null;
          const stored = await readBounded(body, MOST_STORED_BYTES, () => new TooLarge());
          const { sha256 } = Metadata ?? {};
          if (sha256 !== undefined && sha256 !== hash('sha256', stored)) throw new Error(`${key} arrived damaged`);
          return envelope.open(key, stored).toString();
        })
        .catch(nullWhenMissing),

    async write(key, text) {
      const Body = envelope.seal(key, Buffer.from(text));
      const command = new sdk.PutObjectCommand({ ...place(key), Body, Metadata: { sha256: hash('sha256', Body) } });
      await bucket.ask('write', (request) => client.send(command, request));
    },

    present: (keys) => present(bucket, keys),

    put: (key, file, transfer) => uploadFile(key, file, { bucket, buffers: uploadBuffers, ...transfer }),

    get: (key, file, transfer) => downloadFile(key, file, { ranges, buffers: downloadBuffers, ...transfer }),

    async remove(key, signal) {
      await bucket
        .ask('write', (request) => client.send(new sdk.DeleteObjectCommand(place(key)), request), signal)
        .catch(nullWhenMissing);
    },

    removeUnfinished: (before) => abortUploads(bucket, before),
  };
}

async function list(bucket: S3Bucket, prefix: string): Promise<StoredFile[]> {
  const found: StoredFile[] = [];
  let next: string | undefined;
  do {
    const page = await listPage(bucket, prefix, next);
    found.push(...page.files);
    next = page.next;
  } while (next !== undefined);
  return found.sort((a, b) => (a.key < b.key ? -1 : 1));
}

async function top({ ask, bucket, client, sdk, nameOf }: S3Bucket): Promise<string[]> {
  const Prefix = nameOf('');
  const command = new sdk.ListObjectsV2Command({ Bucket: bucket, Prefix, Delimiter: '/' });
  const { Contents = [], CommonPrefixes = [] } = await ask('read', (request) => client.send(command, request));
  const names = [...CommonPrefixes.map((one) => one.Prefix ?? ''), ...Contents.map(({ Key = '' }) => Key)];
  return names.map((name) => name.slice(Prefix.length)).filter((name) => name !== '');
}

async function find({ ask, client, sdk, place, envelope }: S3Bucket, key: string): Promise<StoredFile | null> {
  const head = await ask('read', (request) => client.send(new sdk.HeadObjectCommand(place(key)), request)).catch(
    nullWhenMissing,
  );
  if (!head) return null;
  const { ContentLength = 0, LastModified = new Date(0), ETag = '' } = head;
  const bytes = envelope.contentBytes(ContentLength);
  return { key, bytes, modified: LastModified, version: ETag.replaceAll('"', '') };
}

interface Page {
  files: StoredFile[];
  next: string | undefined;
}

async function listPage(bucket: S3Bucket, prefix: string, ContinuationToken?: string): Promise<Page> {
  const { ask, client, sdk, envelope, nameOf, keyOf } = bucket;
  const place = { Bucket: bucket.bucket, Prefix: `${nameOf(prefix)}/` };
  const command = new sdk.ListObjectsV2Command({ ...place, ContinuationToken });
  const page = await ask('read', async (request) => {
    const answer = await client.send(command, request);
    // The client takes any other document for an empty list.
    if (answer.Name === undefined) throw Object.assign(new Error('the response is not a list'), { name: 'NoStorage' });
    return answer;
  });
  const files = (page.Contents ?? []).flatMap(({ Key = '', Size = 0, LastModified = new Date(0), ETag = '' }) => {
    const key = keyOf(Key);
    if (key === null) return [];
    return [{ key, bytes: envelope.contentBytes(Size), modified: LastModified, version: ETag.replaceAll('"', '') }];
  });
  return { files, next: page.IsTruncated ? page.NextContinuationToken : undefined };
}

/** By the beginning of the list, which covers a small bucket, and else by one request per key. */
async function present(bucket: S3Bucket, keys: string[]): Promise<Set<string>> {
  const prefix = keys[0]?.split('/')[0] ?? '';
  const begin = keys.length > WORTH_A_LIST ? await listPage(bucket, prefix) : { files: [], next: prefix };
  const listed = new Set(begin.files.map(({ key }) => key));
  const unsure = begin.next === undefined ? [] : keys.filter((key) => !listed.has(key));
  const found = await mapWithConcurrency(unsure, HEAD_REQUESTS, (key) => isThere(bucket, key));
  return new Set([...keys.filter((key) => listed.has(key)), ...unsure.filter((_, index) => found[index])]);
}

function isThere({ ask, client, sdk, place }: S3Bucket, key: string): Promise<boolean> {
  const found = ask('read', async (request) => {
    const head = client.send(new sdk.HeadObjectCommand(place(key)), request);
    await head.catch(async (error) => {
      // An error of HEAD has no body with a reason; one of GET has.
      if (!isMissing(error)) {
        await client.send(new sdk.GetObjectCommand({ ...place(key), Range: 'bytes=0-0' }), request);
      }
      throw error;
    });
    return true;
  });
  return found.catch((error) => nullWhenMissing(error) ?? false);
}

/** Others may use `objects/` too. */
async function abortUploads({ ask, bucket, client, sdk, nameOf, keyOf }: S3Bucket, before: Date): Promise<void> {
  let more: ListMultipartUploadsCommandInput | undefined = { Bucket: bucket, Prefix: `${nameOf('objects')}/` };
  while (more) {
    const command: ListMultipartUploadsCommand = new sdk.ListMultipartUploadsCommand(more);
    const page: ListMultipartUploadsCommandOutput = await ask('read', (request) => client.send(command, request));
    for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
      const key = Key === undefined ? null : keyOf(Key);
      if (!Initiated || Initiated >= before || key === null || !isObjectKey(key)) continue;
      const abort = new sdk.AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId });
      await ask('write', (request) => client.send(abort, request)).catch(nullWhenMissing);
    }
    const { NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page;
    more = page.IsTruncated ? { ...more, KeyMarker, UploadIdMarker } : undefined;
  }
}

function nullWhenMissing(error: unknown): null {
  if (!isMissing(error)) throw error;
  return null;
}
