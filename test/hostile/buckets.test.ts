import { randomBytes } from 'node:crypto';
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { CreateMultipartUploadCommand, ListMultipartUploadsCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { applyRemove, planRemove } from '../../src/operations/remove/remove.ts';
import { listSnapshots } from '../../src/operations/snapshots/snapshots.ts';
import { pull } from '../../src/operations/snapshots/transfer/pull.ts';
import { push } from '../../src/operations/snapshots/transfer/push.ts';
import { verify } from '../../src/operations/snapshots/verify/verify.ts';
import { manifestText } from '../../src/repository/manifest/manifest.ts';
import { manifestKey } from '../../src/repository/repository.ts';
import { createS3Store } from '../../src/repository/s3/store.ts';
import { objectKey } from '../../src/repository/store/keys.ts';
import type { Store } from '../../src/repository/store/store.ts';
import { startFaultProxy } from '../helpers/storage/fault-proxy.ts';
import { type Machine, machine } from '../helpers/storage/machine.ts';
import { describeWithS3, startS3 } from '../helpers/storage/s3-server.ts';
import { storeSnapshot } from '../helpers/storage/stored-snapshot.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

const named = { target: 'app', id: 'aaaa0000', created_at: '2026-01-01T00:00:00.000Z', content: 'one\ntwo\n' };
const MEGABYTE = 1024 * 1024;

describeWithS3('a bucket that others can write to', () => {
  const server = suiteResource(() => startS3());
  const proxy = suiteResource(() => startFaultProxy(server.endpoint));
  let here: Machine;
  let there: Machine;
  let store: Store;

  beforeEach(async () => {
    const profile = { ...(await server.bucket()), endpoint: proxy.endpoint };
    [here, there] = await Promise.all([machine({ profile }), machine({ profile })]);
    store = await createS3Store({ name: 'team', profile, signal: here.context.signal });
  });

  afterEach(async () => {
    for (const one of [here, there]) await one[Symbol.asyncDispose]();
  });

  async function put(Key: string, Body: string | Buffer): Promise<void> {
    await server.client.send(new PutObjectCommand({ Bucket: here.profile.bucket, Key, Body }));
  }

  const transfer = () => ({ signal: here.context.signal, onBytes: () => {} });

  it('a pull checks the content of an object, and does not trust the manifest', async () => {
    const wanted = await storeSnapshot(here.directory, named);
    const other = await storeSnapshot(here.directory, { ...named, id: 'bbbb1111', content: 'xxx\nxxx\n' });
    const [table, garbage] = [wanted.tables[0], other.tables[0]?.file];
    if (!table || !garbage) throw new Error('both have a table');
    const { stored_bytes, stored_sha256 = '' } = garbage;
    const hostile = { ...wanted, tables: [{ ...table, file: { ...table.file, stored_bytes, stored_sha256 } }] };
    await store.put(objectKey(table.file.sha256), here.repository.object(garbage).path, transfer());
    await store.write(manifestKey(hostile), manifestText(hostile));
    await expect(pull(there.context, { target: 'app' })).rejects.toMatchObject({ code: 'snapshot_damaged' });
    expect(await there.repository.list('app')).toEqual([]);
  });

  it('an object that is larger than its content can make it is not fetched', async () => {
    const { tables } = await storeSnapshot(here.directory, named);
    await push(here.context, { target: 'app' });
    await put(objectKey(tables[0]?.file.sha256 ?? ''), randomBytes(20 * MEGABYTE));
    await expect(pull(there.context, { target: 'app' })).rejects.toMatchObject({
      code: 'snapshot_damaged',
      details: [expect.stringContaining('larger than it may be'), expect.stringMatching(/^Reported: /)],
    });
  });

  it('a manifest of more than 64 MB is not read', async () => {
    await storeSnapshot(here.directory, named);
    await push(here.context, { target: 'app' });
    await put('snapshots/app/20260102T000000000Z-bbbb1111.json', Buffer.alloc(65 * MEGABYTE, ' '));
    expect((await listSnapshots(there.context, 'app')).snapshots).toMatchObject([{ id: 'aaaa0000' }]);
    const message = expect.stringContaining('larger than it may be');
    expect(there.events).toContainEqual(expect.objectContaining({ code: 'manifest_damaged', message }));
  });

  it('a forged index is rebuilt, and has no effect', async () => {
    await storeSnapshot(here.directory, named);
    await push(here.context, { target: 'app' });
    const [file] = await store.list('snapshots');
    const { snapshots } = await listSnapshots(here.context, 'app');
    const headline = { ...snapshots[0], target: 'app', created_at: named.created_at };
    for (const id of ['../../../../outside', 'bbbb1111']) {
      const headlines = { [file?.key ?? '']: { version: file?.version, headline: { ...headline, id } } };
      await store.write('index/app.json', JSON.stringify({ format: 1, headlines }));
      await using fresh = await machine({ profile: here.profile });
      expect((await listSnapshots(fresh.context, 'app')).snapshots).toMatchObject([{ id: 'aaaa0000' }]);
    }
  });

  it('a bucket with foreign objects is refused, unless it has our layout: then they stay unchanged', async () => {
    const foreign = ['objects/models/cube.obj', `objects/aa/${'b'.repeat(64)}`, 'locks/state.lock', 'readme.txt'];
    await storeSnapshot(here.directory, named);
    for (const key of foreign) await put(key, gzipSync(key));
    await expect(push(here.context, { target: 'app' })).rejects.toMatchObject({ code: 'storage_foreign', exit: 3 });
    expect(await store.top()).not.toContain('tool-storage.txt');
    const shared = await machine({ profile: { ...here.profile, prefix: 'mine' } });
    await using _shared = shared;
    await storeSnapshot(shared.directory, named);
    await push(shared.context, { target: 'app' });

    // As a former version has pushed to it.
    const manifest = await storeSnapshot(here.directory, named);
    const file = manifest.tables[0]?.file;
    if (!file) throw new Error('it has a table');
    await store.put(objectKey(file.sha256), here.repository.object(file).path, transfer());
    await store.write(manifestKey(manifest), manifestText(manifest));
    const { UploadId } = await server.client.send(
      new CreateMultipartUploadCommand({ Bucket: here.profile.bucket, Key: 'objects/models/half.obj' }),
    );
    const tomorrow = { ...here.context, clock: () => new Date(Date.now() + 2 * 24 * 60 * 60 * 1000) };
    await applyRemove(tomorrow, await planRemove(tomorrow, { target: 'app', snapshot: 0, from: 'remote' }));
    expect(await store.present([objectKey(file.sha256)])).toEqual(new Set());
    for (const key of foreign) expect(await store.find(key)).not.toBeNull();
    const uploads = await server.client.send(new ListMultipartUploadsCommand({ Bucket: here.profile.bucket }));
    expect(uploads.Uploads?.map((upload) => upload.UploadId)).toEqual([UploadId]);
  });

  it('one that is marked costs a push one request more than its objects, its locks and its manifest', async () => {
    await storeSnapshot(here.directory, named);
    await push(here.context, { target: 'app' });
    await storeSnapshot(here.directory, { ...named, id: 'bbbb1111' });
    proxy.requests.length = 0;
    await push(here.context, { target: 'app', snapshot: 'bbbb1111' });
    const tops = proxy.requests.filter(({ query }) => query.includes('delimiter'));
    expect(tops).toHaveLength(1);
    expect(proxy.requests.filter(({ key }) => key === 'tool-storage.txt')).toEqual([]);
  });

  it.each(['local', 'remote'] as const)('damage is repaired from the other side (%s)', async (place) => {
    const manifest = await storeSnapshot(here.directory, named);
    const file = manifest.tables[0]?.file;
    if (!file) throw new Error('it has a table');
    await push(here.context, { target: 'app' });
    const garbage = join(here.directory, 'objects', 'garbage');
    await writeFile(garbage, randomBytes(file.stored_bytes));
    const object = here.repository.object(file).path;
    if (place === 'local') await copyFile(garbage, object);
    else await store.put(objectKey(file.sha256), garbage, transfer());
    const request = { target: 'app', remote: place === 'remote' };
    expect(await verify(here.context, request)).toMatchObject({ ok: false, repaired: [], lost: [] });
    expect(await verify(here.context, { ...request, repair: true })).toMatchObject({
      ok: true,
      problems: [],
      repaired: [expect.stringContaining('public.items')],
      lost: [],
    });
    expect(await verify(here.context, request)).toMatchObject({ ok: true, repaired: [] });
  });

  it('objects lost on both sides are named, with the snapshots that need them', async () => {
    const manifest = await storeSnapshot(here.directory, named);
    const file = manifest.tables[0]?.file;
    if (!file) throw new Error('it has a table');
    await push(here.context, { target: 'app' });
    await writeFile(here.repository.object(file).path, randomBytes(20));
    await put(objectKey(file.sha256), randomBytes(20));
    for (const remote of [false, true]) {
      const verified = await verify(here.context, { target: 'app', remote, repair: true });
      expect(verified).toMatchObject({ ok: false, repaired: [], lost: [{ target: 'app', id: 'aaaa0000' }] });
    }
  });
});
