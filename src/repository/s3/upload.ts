import { open } from 'node:fs/promises';
import type { CompletedPart, PutObjectCommand } from '@aws-sdk/client-s3';
import type { BufferPool } from '../buffer-pool.ts';
import type { StoredSource } from '../encryption/envelope.ts';
import { ContentDiffers, createChecksum } from '../objects/checksum.ts';
import type { Transfer } from '../store/store.ts';
import type { S3Bucket } from './bucket.ts';

export const PART_BYTES = 8 * 1024 * 1024;

const PARTS_AT_ONCE = 4;

const MOST_PARTS = 10_000;

const ABORT_TIMEOUT = 10_000;

export interface Upload extends Transfer {
  bucket: S3Bucket;
  buffers: BufferPool;
  sha256?: string | undefined;
}

/** The signature contains the checksum, so that the service refuses damaged content. */
export async function uploadFile(key: string, path: string, upload: Upload): Promise<void> {
  await using file = await open(path);
  const { bucket, buffers, signal, onBytes } = upload;
  const { client, sdk, place, envelope } = bucket;
  const checksum = createChecksum(file);
  const source = await envelope.source(key, { file, checksum });
  const checkContent = async (): Promise<string | null> => {
    const sha256 = await checksum.digest();
    if (upload.sha256 !== undefined && upload.sha256 !== sha256) throw new ContentDiffers();
    return sha256;
  };
  if (source.bytes > PART_BYTES) return await sendParts(key, { ...source, checkContent }, upload);
  using room = await buffers.acquire(source.bytes);
  const Body = await source.read(0, room.bytes);
  const sha256 = await checkContent();
  const command = new sdk.PutObjectCommand({ ...place(key), Body });
  if (sha256 !== null && source.isClear) signChecksum(command, sha256);
  await bucket.ask('write', (options) => client.send(command, options), signal);
  onBytes(envelope.contentBytes(source.bytes));
}

/** Without it, the signature would compute the checksum a second time. */
function signChecksum({ middlewareStack }: PutObjectCommand, sha256: string): void {
  middlewareStack.add(
    (next) => (args) => {
      Object.assign((args.request as { headers: object }).headers, { 'x-amz-content-sha256': sha256 });
      return next(args);
    },
    { step: 'build' },
  );
}

interface CheckedSource extends StoredSource {
  checkContent: () => Promise<string | null>;
}

async function sendParts(key: string, source: CheckedSource, upload: Upload): Promise<void> {
  const { bucket, signal } = upload;
  const { client, sdk, place } = bucket;
  const { UploadId } = await bucket.ask(
    'write',
    (options) => client.send(new sdk.CreateMultipartUploadCommand(place(key)), options),
    signal,
  );
  const one = { ...place(key), UploadId };
  try {
    const Parts = await sendEachPart(one, source, upload);
    await source.checkContent();
    const command = new sdk.CompleteMultipartUploadCommand({ ...one, MultipartUpload: { Parts } });
    await bucket
      .ask('write', (options) => client.send(command, options), signal)
      .catch(async (error) => {
        // After a lost answer, the service no longer knows the completed upload.
        if (!(await isWhole(key, source, upload))) throw error;
      });
  } catch (error) {
    const options = { abortSignal: AbortSignal.timeout(ABORT_TIMEOUT) };
    // The next sweep removes a remaining upload.
    await client.send(new sdk.AbortMultipartUploadCommand(one), options).catch(() => {});
    throw error;
  }
}

type UploadPlace = ReturnType<S3Bucket['place']> & { UploadId: string | undefined };

/** Returns or throws only after the last part has ended. */
async function sendEachPart(one: UploadPlace, source: StoredSource, upload: Upload): Promise<CompletedPart[]> {
  const { bucket, buffers, onBytes } = upload;
  const { client, sdk, envelope } = bucket;
  const { bytes: size } = source;
  const failed = new AbortController();
  const signal = AbortSignal.any([upload.signal, failed.signal]);
  const length = PART_BYTES * Math.ceil(size / MOST_PARTS / PART_BYTES);
  const starts = Array.from({ length: Math.ceil(size / length) }, (_, index) => index * length);
  const parts: CompletedPart[] = [];
  let reading: Promise<unknown> = Promise.resolve();
  /** In order, for the checksum. */
  const read: StoredSource['read'] = (start, into) => {
    const turn = reading.then(() => source.read(start, into));
    reading = turn.catch(() => {});
    return turn;
  };
  const worker = async (): Promise<void> => {
    using room = await buffers.acquire(Math.min(length, size));
    for (let start = starts.shift(); start !== undefined; start = starts.shift()) {
      signal.throwIfAborted();
      const Body = await read(start, room.bytes.subarray(0, Math.min(length, size - start)));
      const PartNumber = start / length + 1;
      const command = new sdk.UploadPartCommand({ ...one, PartNumber, Body });
      const { ETag } = await bucket.ask('write', (options) => client.send(command, options), signal);
      parts.push({ PartNumber, ETag });
      onBytes(envelope.contentBytes(start + Body.length) - envelope.contentBytes(start));
    }
  };
  const giveUp = (error: unknown): void => failed.abort(error);
  await Promise.all(Array.from({ length: Math.min(PARTS_AT_ONCE, starts.length) }, () => worker().catch(giveUp)));
  signal.throwIfAborted();
  return parts.sort((one, other) => (one.PartNumber ?? 0) - (other.PartNumber ?? 0));
}

async function isWhole(key: string, { bytes }: StoredSource, { bucket, signal }: Upload): Promise<boolean> {
  const { client, sdk, place } = bucket;
  const head = new sdk.HeadObjectCommand(place(key));
  const found = await bucket.ask('read', (options) => client.send(head, options), signal).catch(() => undefined);
  return found?.ContentLength === bytes;
}
