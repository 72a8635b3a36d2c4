import { createHash, randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { findObject } from '../../hub/objects/bucket-calls.ts';
import { openTargetBucket, type TargetBucket } from '../../hub/objects/buckets.ts';
import type { StorageSettings } from '../../src/cloud/contract/resources.ts';
import { objectKey } from '../../src/repository/store/keys.ts';
import { describeWithS3, startS3 } from '../helpers/storage/s3-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

function hash(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** The signature of an upload covers length, SHA-256 and `If-None-Match`: what a bucket makes of that. */
describeWithS3('a signed upload', () => {
  const s3 = suiteResource(() => startS3());
  let settings: StorageSettings;
  let bucket: TargetBucket;
  let content: Buffer;
  let key: string;
  let href: string;
  let headers: Record<string, string>;

  beforeAll(async () => {
    settings = (await s3.bucket()) as StorageSettings;
  });

  beforeEach(async () => {
    bucket = await openTargetBucket({ name: 'team', settings, folder: 'target' });
    content = randomBytes(1000);
    key = objectKey(hash(content));
    headers = {
      'content-length': '1000',
      'if-none-match': '*',
      ...bucket.checksumHeader(hash(content)),
    };
    href = await bucket.presign({ method: 'PUT', key, seconds: 60, headers });
  });

  /** Without `fetch`, which chooses headers of its own. */
  function put(body: Buffer, change: Record<string, string | undefined> = {}, url = href): Promise<number> {
    const sent = Object.fromEntries(
      Object.entries({ ...headers, ...change }).filter(([, value]) => value !== undefined),
    );
    return new Promise((resolve, reject) => {
      const asked = request(url, { method: 'PUT', headers: sent as Record<string, string> }, (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
      });
      asked.on('error', reject).end(body);
    });
  }

  test('stores what was signed, once', async () => {
    expect(await put(content)).toBe(200);
    expect((await findObject(bucket, key))?.bytes).toBe(1000);
    expect(await put(content)).toBe(412);
  });

  test('refuses other content of the same length', async () => {
    expect(await put(randomBytes(1000))).toBe(400);
    expect(await findObject(bucket, key)).toBeNull();
  });

  test('refuses other content with its own SHA-256', async () => {
    const other = randomBytes(1000);
    expect(await put(other, bucket.checksumHeader(hash(other)))).toBe(403);
    expect(await findObject(bucket, key)).toBeNull();
  });

  test.each([999, 1001])('refuses %i bytes', async (bytes) => {
    const other = randomBytes(bytes);
    expect(await put(other, { 'content-length': String(bytes) })).toBe(403);
    expect(await put(other, { 'content-length': String(bytes), ...bucket.checksumHeader(hash(other)) })).toBe(403);
    expect(await findObject(bucket, key)).toBeNull();
  });

  test.each(['if-none-match', 'x-amz-content-sha256'])('refuses an upload without %s', async (name) => {
    expect(await put(content, { [name]: undefined })).toBe(403);
    expect(await findObject(bucket, key)).toBeNull();
  });

  test('a stored object is not replaced by any upload', async () => {
    expect(await put(content)).toBe(200);
    const other = randomBytes(1000);
    const signed = { ...headers, ...bucket.checksumHeader(hash(other)) };
    const url = await bucket.presign({ method: 'PUT', key, seconds: 60, headers: signed });
    expect(await put(other, signed, url)).toBe(412);
    expect(await put(content, { 'if-none-match': undefined })).toBe(403);
  });

  test('refuses another key, another method and a later time', async () => {
    const other = href.replace(key, objectKey(hash(randomBytes(8))));
    expect(await put(content, {}, other)).toBe(403);
    expect((await fetch(href)).status).toBe(403);
    expect((await fetch(href, { method: 'DELETE' })).status).toBe(403);
    const expired = await bucket.presign({ method: 'PUT', key, seconds: 1, headers });
    await expect.poll(() => put(content, {}, expired), { timeout: 5000 }).toBe(403);
  });
});
