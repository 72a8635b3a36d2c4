import { open, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { GetObjectCommand, GetObjectCommandOutput } from '@aws-sdk/client-s3';
import { mapWithConcurrency } from '../../runtime/map-with-concurrency.ts';
import type { BufferPool } from '../buffer-pool.ts';
import type { Envelope, Sink } from '../encryption/envelope.ts';
import { createChecksum } from '../objects/checksum.ts';
import { TooLarge, type Transfer } from '../store/store.ts';
import type { Request, S3Bucket } from './bucket.ts';
import type { HttpReader, SignedRequest } from './http-reader.ts';
import { PART_BYTES } from './upload.ts';

export interface Download extends Transfer {
  maxBytes?: number | undefined;
  ranges: RangeReader;
  buffers: BufferPool;
}

/** Fetches ranges of objects: with the S3 client, or by signed URLs. */
export interface RangeReader {
  envelope: Pick<Envelope, 'contentBytes' | 'sink'>;
  /** Retries until success or a permanent error. */
  ask<Answer>(request: Request<Answer>, signal: AbortSignal): Promise<Answer>;
  /** One attempt. */
  fetch(
    wanted: { key: string; range: string; etag?: string | undefined },
    receiving: { take: Receiver['take']; abortSignal: AbortSignal },
  ): Promise<FetchedRange>;
}

/** `total` are the bytes of the object, `bytes` those that the answer was to have. */
export interface FetchedRange {
  total: number;
  bytes: number;
  etag: string | undefined;
}

const PARTS_AT_ONCE = 4;

/** A network delivers small pieces, which are gathered up to this size. */
const WRITE_BYTES = 1024 * 1024;

export const BYTES_GATHERED = 8 * WRITE_BYTES;

/** Downloads an object in ranges and returns its SHA-256, unless bytes came twice. A failed range restarts alone. */
export async function downloadFile(key: string, path: string, download: Download): Promise<string | null> {
  await using file = await open(path, 'wx+', 0o600);
  const checksum = createChecksum(file);
  const { envelope } = download.ranges;
  const { maxBytes = Number.POSITIVE_INFINITY } = download;
  const sinkFor = (total: number): Sink => {
    if (envelope.contentBytes(total) > maxBytes) throw new TooLarge();
    return envelope.sink(key, { file, checksum, total });
  };
  try {
    const { total, etag, sink } = await fetchRange({ key, start: 0, sinkFor }, download);
    const starts = Array.from(
      { length: Math.max(0, Math.ceil(total / PART_BYTES) - 1) },
      (_, index) => (index + 1) * PART_BYTES,
    );
    await mapWithConcurrency(starts, PARTS_AT_ONCE, (start) =>
      fetchRange({ key, start, sinkFor: () => sink, etag }, download),
    );
    return await checksum.digest();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

interface Range {
  key: string;
  start: number;
  sinkFor: (total: number) => Sink;
  /** ETag of the first range: an object that was replaced meanwhile is not mixed in. */
  etag?: string | undefined;
}

interface DownloadState {
  total: number;
  etag: string | undefined;
  sink: Sink;
}

async function fetchRange({ key, start, sinkFor, etag }: Range, download: Download): Promise<DownloadState> {
  const { ranges, buffers, signal, onBytes } = download;
  using room = await buffers.acquire(WRITE_BYTES);
  const range = `bytes=${start}-${start + PART_BYTES - 1}`;
  return await ranges.ask(async ({ abortSignal }) => {
    const receiver = createReceiver({ gathered: room.bytes, sinkFor, start, onBytes });
    try {
      const fetched = await ranges.fetch({ key, range, etag }, { take: receiver.take, abortSignal });
      const sink = await receiver.end({ total: fetched.total, expected: fetched.bytes });
      return { total: fetched.total, etag: fetched.etag ?? etag, sink };
    } catch (error) {
      receiver.takeBack();
      throw error;
    }
  }, signal);
}

export function bucketRanges(bucket: S3Bucket, reader: HttpReader): RangeReader {
  const { client, sdk, place, envelope } = bucket;
  return {
    envelope,
    ask: (request, signal) => bucket.ask('read', request, signal),
    async fetch({ key, range, etag }, { take, abortSignal }) {
      const command = new sdk.GetObjectCommand({ ...place(key), Range: range, ...(etag && { IfMatch: etag }) });
      receiveBy(command, { reader, take, abortSignal });
      const answer = await client.send(command, { abortSignal }).catch(ignoreEmpty);
      const total = totalOf(answer);
      for await (const chunk of (answer?.Body ?? []) as AsyncIterable<Buffer>) await take(chunk, total);
      return { total, bytes: answer?.ContentLength ?? 0, etag: answer?.ETag };
    },
  };
}

/** Bytes of the whole object. */
function totalOf(answer: Pick<GetObjectCommandOutput, 'ContentRange' | 'ContentLength'> | null): number {
  return Number(answer?.ContentRange?.split('/')[1] ?? answer?.ContentLength ?? 0);
}

export function totalIn(headers: Record<string, string>): number {
  const { 'content-range': ContentRange, 'content-length': length } = headers;
  return totalOf({ ContentRange, ContentLength: Number(length) });
}

interface ReceiveOptions {
  reader: HttpReader;
  take: Receiver['take'];
  abortSignal: AbortSignal;
}

/** The project's reader receives the body; the client sees an empty answer. */
function receiveBy(
  { middlewareStack }: GetObjectCommand,
  { reader, take: receive, abortSignal }: ReceiveOptions,
): void {
  middlewareStack.add(
    (next) => async (args) => {
      const errors: Buffer[] = [];
      const head = await reader.get(args.request as SignedRequest, {
        signal: abortSignal,
        take(piece, { statusCode, headers }) {
          if (statusCode < 300) return receive(piece, totalIn(headers));
          errors.push(Buffer.from(piece));
          return undefined;
        },
      });
      if (head === null) return await next(args);
      return { response: { ...head, body: Readable.from(errors) }, output: { $metadata: {} } };
    },
    { step: 'deserialize', priority: 'low' },
  );
}

/** An empty object has no range. */
function ignoreEmpty(error: Error): null {
  if (error.name !== 'InvalidRange') throw error;
  return null;
}

interface Receiver {
  /** Returns a promise when there is no room until it resolves. */
  take(piece: Buffer, total: number): Promise<void> | undefined;
  /** Throws when bytes are missing. */
  end(range: { total: number; expected: number }): Promise<Sink>;
  /** Before a retry: takes back the reported bytes. */
  takeBack(): void;
}

interface ReceiverOptions extends Pick<Transfer, 'onBytes'>, Pick<Range, 'start' | 'sinkFor'> {
  gathered: Buffer;
}

function createReceiver({ gathered, start, sinkFor, onBytes }: ReceiverOptions): Receiver {
  let [written, told, bytes] = [0, 0, 0];
  let sink: Sink | undefined;

  async function write(total: number): Promise<Sink> {
    sink ??= sinkFor(total);
    const content = bytes > 0 ? await sink.write(gathered.subarray(0, bytes), start + written) : 0;
    written += bytes;
    told += content;
    bytes = 0;
    onBytes(content);
    return sink;
  }

  function take(piece: Buffer, total: number): Promise<void> | undefined {
    // A service that sends more than requested would fill the disk.
    if (written + bytes + piece.length > Math.min(total - start, PART_BYTES)) throw new TooLarge();
    const copied = piece.copy(gathered, bytes);
    bytes += copied;
    if (bytes < gathered.length) return undefined;
    return write(total).then(() => take(piece.subarray(copied), total));
  }

  return {
    take,
    async end({ total, expected }) {
      if (written + bytes !== expected) {
        throw new Error(`the answer ended after ${written + bytes} of ${expected} bytes`);
      }
      return await write(total);
    },
    takeBack: () => onBytes(-told),
  };
}
