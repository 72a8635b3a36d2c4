import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tryStorage, tryStore } from '../../../../src/operations/configuration/check/try-storage.ts';
import { createFolder } from '../../../../src/repository/store/folder.ts';
import { temporaryFolder } from '../../../helpers/postgres/postgres-server.ts';
import { describeWithS3, startS3 } from '../../../helpers/storage/s3-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

test('a store that is tried holds nothing more than before', async () => {
  await using folder = await temporaryFolder();
  const store = createFolder(folder.path);
  await tryStore(store);
  expect(await readdir(join(folder.path, 'probe'))).toEqual([]);
});

test('one that gives back something else is refused, and its probe removed', async () => {
  await using folder = await temporaryFolder();
  const store = { ...createFolder(folder.path), read: async () => '<html>' };
  await expect(tryStore(store)).rejects.toMatchObject({ code: 'storage_unreliable' });
  expect(await readdir(join(folder.path, 'probe'))).toEqual([]);
});

describeWithS3('a bucket that is tried', () => {
  const server = suiteResource(() => startS3());
  const signal = new AbortController().signal;

  test('is named when it works, and left empty', async () => {
    const profile = await server.bucket();
    expect(await tryStorage(profile, { signal })).toBe(`s3://${profile.bucket}`);
    const { ListObjectsV2Command } = await import('@aws-sdk/client-s3');
    const { KeyCount } = await server.client.send(new ListObjectsV2Command({ Bucket: profile.bucket }));
    expect(KeyCount).toBe(0);
  });

  test('reports its problem by the code of a push', async () => {
    const profile = await server.bucket();
    const denied = tryStorage({ ...profile, secret_key: 'wrong' }, { signal });
    await expect(denied).rejects.toMatchObject({ code: 'storage_denied' });
    await expect(tryStorage({ ...profile, bucket: 'none' }, { signal })).rejects.toMatchObject({
      code: 'bucket_missing',
    });
  });
});
