import { ListObjectsV2Command, PutObjectCommand, type S3Client, UploadPartCommand } from '@aws-sdk/client-s3';
import { expect, test } from 'vitest';
import { createS3Client } from '../../../src/repository/s3/client.ts';
import type { BucketProfile } from '../../../src/repository/s3/providers.ts';

interface Signed {
  url: string;
  headers: Record<string, string>;
}

/** What would be sent for a command, signed. */
async function signed(
  profile: Partial<BucketProfile>,
  send = (client: S3Client): Promise<unknown> => client.send(new ListObjectsV2Command({ Bucket: 'shelf' })),
): Promise<Signed> {
  const keys = { access_key: 'key', secret_key: 'secret' };
  const client = await createS3Client({ provider: 's3', bucket: 'shelf', ...keys, ...profile });
  const seen: Signed[] = [];
  client.middlewareStack.add(
    () => async (args) => {
      const request = args.request as Signed & { protocol: string; hostname: string; port?: number; path: string };
      const { protocol, hostname, port, path, headers } = request;
      seen.push({ url: `${protocol}//${hostname}${port ? `:${port}` : ''}${path}`, headers });
      throw new Error('nothing is sent');
    },
    { step: 'deserialize', priority: 'low' },
  );
  await expect(send(client)).rejects.toThrow('nothing is sent');
  return seen[0] as Signed;
}

test.each<[Partial<BucketProfile>, string, string]>([
  [{ provider: 's3', region: 'eu-central-1' }, 'https://shelf.s3.eu-central-1.amazonaws.com/', 'eu-central-1'],
  [{ provider: 's3' }, 'https://shelf.s3.us-east-1.amazonaws.com/', 'us-east-1'],
  [{ provider: 's3', region: 'eu', endpoint: 'https://s3.example.com' }, 'https://s3.example.com/shelf', 'eu'],
  [{ provider: 'r2', account_id: 'abc' }, 'https://abc.r2.cloudflarestorage.com/shelf', 'auto'],
  [{ provider: 'r2', endpoint: 'https://eu.example.com' }, 'https://eu.example.com/shelf', 'auto'],
  [{ provider: 'minio', endpoint: 'http://localhost:9000' }, 'http://localhost:9000/shelf', 'us-east-1'],
  [{ provider: 'minio', endpoint: 'http://10.0.0.1:9000' }, 'http://10.0.0.1:9000/shelf', 'us-east-1'],
  [
    { provider: 'dospaces', endpoint: 'https://fra1.digitaloceanspaces.com' },
    'https://shelf.fra1.digitaloceanspaces.com/',
    'us-east-1',
  ],
])('%o asks at %s and signs for %s', async (profile, url, region) => {
  const { url: asked, headers } = await signed(profile);
  expect(asked.replace(/\/$/, '')).toBe(url.replace(/\/$/, ''));
  expect(headers.authorization).toContain(`/${region}/s3/aws4_request`);
});

test.each<[string, (client: S3Client) => Promise<unknown>]>([
  ['an object', (client) => client.send(new PutObjectCommand({ Bucket: 'shelf', Key: 'k', Body: Buffer.from('one') }))],
  [
    'a part',
    (client) => {
      const part = { Bucket: 'shelf', Key: 'k', UploadId: 'u', PartNumber: 1, Body: Buffer.from('one') };
      return client.send(new UploadPartCommand(part));
    },
  ],
])('%s is signed with its SHA-256, and without the checksums that several services refuse', async (_what, send) => {
  const { headers } = await signed({ provider: 'minio', endpoint: 'http://localhost:9000' }, send);
  expect(headers['x-amz-content-sha256']).toBe('7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed');
  expect(Object.keys(headers).filter((name) => /checksum|trailer/.test(name))).toEqual([]);
  expect(headers['content-encoding']).toBeUndefined();
});
