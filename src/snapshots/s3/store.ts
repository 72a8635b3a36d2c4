import { createHash } from 'node:crypto';
import type {
  ListMultipartUploadsCommand,
  ListMultipartUploadsCommandInput,
  ListMultipartUploadsCommandOutput,
} from '@aws-sdk/client-s3';
import { createMemory } from '../memory.ts';
import { mapSideBySide } from '../side-by-side.ts';
import type { Store, StoredFile } from '../store.ts';
import { openS3Bucket, type S3Bucket, type S3Options } from './bucket.ts';
import { CONNECTION_TIMEOUT, IDLE_TIMEOUT } from './client.ts';
import { BYTES_GATHERED, downloadFile } from './download.ts';
import { isMissing } from './errors.ts';
import { PART_BYTES, uploadFile } from './upload.ts';

/** Bytes that are held at the same moment, all uploads together. */
const BYTES_IN_FLIGHT = 4 * PART_BYTES;

/** Keys that are looked for at the same moment. */
const LOOKS_AT_ONCE = 16;

/** So many keys are looked for one by one before a list of a thousand is worth it. */
const WORTH_A_LIST = 4;

/** A store in a bucket of an S3-compatible service: keys below the profile's prefix. */
export async function createS3Store(options: S3Options): Promise<Store> {
  const [bucket, { createHttpReader }] = await Promise.all([openS3Bucket(options), import('./http-reader.ts')]);
  const { client, sdk, place, envelope } = bucket;
  const memory = createMemory(BYTES_IN_FLIGHT);
  const gathering = createMemory(BYTES_GATHERED);
  const reader = createHttpReader({ connectionTimeout: CONNECTION_TIMEOUT, idleTimeout: IDLE_TIMEOUT });
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

    present: (keys) => present(bucket, keys),

    put: (key, file, transfer) => uploadFile(key, file, { bucket, memory, ...transfer }),

    get: (key, file, transfer) => downloadFile(key, file, { bucket, reader, memory: gathering, ...transfer }),

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

interface Page {
  files: StoredFile[];
  /** Where the list goes on; nothing at its end. */
  next: string | undefined;
}

async function listPage(bucket: S3Bucket, prefix: string, ContinuationToken?: string): Promise<Page> {
  const { ask, client, sdk, envelope, nameOf, keyOf } = bucket;
  const place = { Bucket: bucket.bucket, Prefix: `${nameOf(prefix)}/` };
  const command = new sdk.ListObjectsV2Command({ ...place, ContinuationToken });
  const page = await ask('read', async (request) => {
    const answer = await client.send(command, request);
    // The client takes whatever is no list for an empty one.
    if (answer.Name === undefined) throw Object.assign(new Error('the answer is no list'), { name: 'NoStorage' });
    return answer;
  });
  const files = (page.Contents ?? []).flatMap(({ Key = '', Size = 0, LastModified = new Date(0), ETag = '' }) => {
    const key = keyOf(Key);
    if (key === null) return [];
    return [{ key, bytes: envelope.contentBytes(Size), modified: LastModified, version: ETag.replaceAll('"', '') }];
  });
  return { files, next: page.IsTruncated ? page.NextContinuationToken : undefined };
}

/** By the beginning of the list, which on a small shelf is all of it, and else by asking for each key. */
async function present(bucket: S3Bucket, keys: string[]): Promise<Set<string>> {
  const prefix = keys[0]?.split('/')[0] ?? '';
  const begin = keys.length > WORTH_A_LIST ? await listPage(bucket, prefix) : { files: [], next: prefix };
  const listed = new Set(begin.files.map(({ key }) => key));
  const unsure = begin.next === undefined ? [] : keys.filter((key) => !listed.has(key));
  const found = await mapSideBySide(unsure, LOOKS_AT_ONCE, (key) => isThere(bucket, key));
  return new Set([...keys.filter((key) => listed.has(key)), ...unsure.filter((_, index) => found[index])]);
}

function isThere({ ask, client, sdk, place }: S3Bucket, key: string): Promise<boolean> {
  const look = ask('read', async (request) => {
    const head = client.send(new sdk.HeadObjectCommand(place(key)), request);
    await head.catch(async (error) => {
      // An answer to HEAD has no body, and so no reason; one to GET has.
      if (!isMissing(error)) {
        await client.send(new sdk.GetObjectCommand({ ...place(key), Range: 'bytes=0-0' }), request);
      }
      throw error;
    });
    return true;
  });
  return look.catch((error) => nullWhenMissing(error) ?? false);
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
