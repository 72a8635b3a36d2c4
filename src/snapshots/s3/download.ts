import { open, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { Budget } from '../budget.ts';
import type { Sink } from '../encryption/envelope.ts';
import { createChecksum } from '../objects/checksum.ts';
import type { Transfer } from '../store.ts';
import type { S3Bucket } from './bucket.ts';
import { PART_BYTES } from './upload.ts';

export interface Download extends Transfer {
  bucket: S3Bucket;
  /** Lets so many parts of all objects be fetched at the same moment. */
  fetches: Budget;
}

/** Parts of one object that are fetched at the same moment. */
const PARTS_AT_ONCE = 4;

/** Parts of all objects together. */
export const FETCHES_AT_ONCE = 8;

/** Fetches an object into a new file, and its SHA-256 if its bytes came in order; by ranges: what breaks off is fetched again from the range's beginning only. */
export async function downloadFile(key: string, path: string, download: Download): Promise<string | null> {
  await using file = await open(path, 'wx', 0o600);
  const checksum = createChecksum();
  const sinkFor = (total: number): Sink => download.bucket.envelope.sink(key, { file, checksum, total });
  try {
    const { total, etag, sink } = await fetchRange({ key, start: 0, sinkFor }, download);
    const starts = Array.from(
      { length: Math.max(0, Math.ceil(total / PART_BYTES) - 1) },
      (_, index) => (index + 1) * PART_BYTES,
    );
    const worker = async (): Promise<void> => {
      for (let start = starts.shift(); start !== undefined; start = starts.shift()) {
        await fetchRange({ key, start, sinkFor: () => sink, etag }, download);
      }
    };
    await Promise.all(Array.from({ length: PARTS_AT_ONCE }, worker));
    return checksum.digest();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

interface Range {
  key: string;
  start: number;
  /** Takes the bytes of an object of so many. */
  sinkFor: (total: number) => Sink;
  /** Of the object that the first range belongs to: an object that was replaced meanwhile is not mixed in. */
  etag?: string | undefined;
}

interface Fetched {
  /** Bytes of the whole object. */
  total: number;
  etag: string | undefined;
  sink: Sink;
}

async function fetchRange({ key, start, sinkFor, etag }: Range, download: Download): Promise<Fetched> {
  const { bucket, fetches, signal, onBytes } = download;
  using _turn = await fetches.take(1);
  const { client, sdk, place } = bucket;
  const range = `bytes=${start}-${start + PART_BYTES - 1}`;
  const command = new sdk.GetObjectCommand({ ...place(key), Range: range, ...(etag && { IfMatch: etag }) });
  return await bucket.ask(
    'read',
    async (options) => {
      const answer = await client.send(command, options).catch(ignoreEmpty);
      if (answer === null) return { total: 0, etag, sink: sinkFor(0) };
      const expected = answer.ContentLength ?? 0;
      const total = Number(answer.ContentRange?.split('/')[1] ?? expected);
      const sink = sinkFor(total);
      await writeAll(answer.Body as Readable, { sink, start, expected, onBytes });
      return { total, etag: answer.ETag, sink };
    },
    signal,
  );
}

/** An object without bytes has no range. */
function ignoreEmpty(error: Error): null {
  if (error.name !== 'InvalidRange') throw error;
  return null;
}

/** A network hands over 64 kB at a time, for each of which a write would cost more than it writes. */
const WRITE_BYTES = 1024 * 1024;

interface Writing extends Pick<Transfer, 'onBytes'> {
  sink: Sink;
  start: number;
  expected: number;
}

async function writeAll(body: Readable, { sink, start, expected, onBytes }: Writing): Promise<void> {
  let [taken, told] = [0, 0];
  try {
    const gathered = Buffer.allocUnsafeSlow(Math.min(WRITE_BYTES, expected));
    let bytes = 0;
    const flush = async (): Promise<void> => {
      const written = await sink.write(gathered.subarray(0, bytes), start + taken);
      taken += bytes;
      told += written;
      onBytes(written);
      bytes = 0;
    };
    for await (const chunk of body as AsyncIterable<Buffer<ArrayBuffer>>) {
      for (let at = 0; at < chunk.length; ) {
        const copied = chunk.copy(gathered, bytes, at);
        at += copied;
        bytes += copied;
        if (bytes === gathered.length) await flush();
      }
      // The garbage collector would let some sixty megabytes of them lie.
      if (chunk.buffer.byteLength === chunk.length) chunk.buffer.transfer(0);
    }
    if (taken + bytes !== expected) throw new Error(`the answer ended after ${taken + bytes} of ${expected} bytes`);
    if (bytes > 0) await flush();
  } catch (error) {
    onBytes(-told);
    throw error;
  }
}
