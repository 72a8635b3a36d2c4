import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { applyPrune, planPrune } from '../../../src/operations/prune/prune.ts';
import { annotate } from '../../../src/operations/snapshots/annotate/annotate.ts';
import { diff } from '../../../src/operations/snapshots/diff/diff.ts';
import { listSnapshots } from '../../../src/operations/snapshots/snapshots.ts';
import { allowClearStorage } from '../../../src/operations/snapshots/transfer/encrypted-storage.ts';
import { pull } from '../../../src/operations/snapshots/transfer/pull.ts';
import { push } from '../../../src/operations/snapshots/transfer/push.ts';
import { verify } from '../../../src/operations/snapshots/verify/verify.ts';
import type { BucketProfile } from '../../../src/repository/s3/connection.ts';
import { startFaultProxy } from '../../helpers/storage/fault-proxy.ts';
import { type Machine, machine } from '../../helpers/storage/machine.ts';
import { describeWithS3, startS3 } from '../../helpers/storage/s3-server.ts';
import { startOperation } from '../../helpers/storage/storage-process.ts';
import { storeTables } from '../../helpers/storage/stored-snapshot.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const DAY = 24 * 60 * 60 * 1000;
const OTHER_KEY = 'cd'.repeat(16);

describeWithS3('an encrypted bucket', () => {
  const server = suiteResource(() => startS3());
  const proxy = suiteResource(() => startFaultProxy(server.endpoint));
  let clear: BucketProfile;
  let profile: BucketProfile;
  let here: Machine;
  let there: Machine;

  beforeEach(async () => {
    clear = await server.bucket();
    profile = { ...clear, encrypt: true };
    [here, there] = [await machine({ profile }), await machine({ profile })];
  });

  afterEach(async () => {
    proxy.fault = () => null;
    for (const one of [here, there]) await one[Symbol.asyncDispose]();
  });

  const first = { target: 'app', id: 'aaaa0000', created_at: '2026-01-01T00:00:00.000Z' };
  const second = { target: 'app', id: 'bbbb1111', created_at: '2026-01-02T00:00:00.000Z' };
  const secret = 'the customer Zebediah Quux\n';

  async function inBucket(): Promise<{ name: string; content: Buffer }[]> {
    const { Contents = [] } = await server.client.send(new ListObjectsV2Command({ Bucket: profile.bucket }));
    return Promise.all(
      Contents.map(async ({ Key = '' }) => {
        const { Body } = await server.client.send(new GetObjectCommand({ Bucket: profile.bucket, Key }));
        return { name: Key, content: await buffer(Body as Readable) };
      }),
    );
  }

  const put = (Key: string, Body: Buffer) =>
    server.client.send(new PutObjectCommand({ Bucket: profile.bucket, Key, Body }));

  it('is not followed by a push without encryption, wherever it goes, until the user allows it', async () => {
    const contents = { customers: secret };
    await storeTables(here.directory, { ...first, contents });
    await push(here.context, { target: 'app' });
    await storeTables(here.directory, { ...second, contents: { customers: `${secret}again\n` } });
    const elsewhere = await server.bucket();
    const { settings } = here.context.configuration;
    const refused = { code: 'encryption_removed', exit: 5, hint: expect.stringContaining('--clear-storage') };
    settings.storage_profiles = { team: clear };
    await expect(push(here.context, { target: 'app' })).rejects.toMatchObject({ code: 'encryption_differs' });
    for (const change of [elsewhere, { ...clear, prefix: 'other' }]) {
      settings.storage_profiles = { team: change };
      await expect(push(here.context, { target: 'app' })).rejects.toMatchObject(refused);
    }
    // Another profile for the same target.
    settings.storage_profiles = { team: profile, open: elsewhere };
    settings.targets = { app: { storage_profile: 'open', snapshot: {} } };
    await expect(push(here.context, { target: 'app' })).rejects.toMatchObject(refused);
    const { Contents = [] } = await server.client.send(new ListObjectsV2Command({ Bucket: elsewhere.bucket }));
    expect(Contents).toEqual([]);
    await expect(allowClearStorage(here.context, 'nobody')).rejects.toMatchObject({ exit: 2 });
    expect(await allowClearStorage(here.context, 'open')).toEqual({ clear_storage: 'open' });
    expect(await push(here.context, { target: 'app' })).toMatchObject({ objects: 1 });
  });

  it('transfers a snapshot to another machine, and the bucket contains nothing readable', async () => {
    const contents = { customers: secret, large: randomBytes(20_000_000), empty: '' };
    const manifest = await storeTables(here.directory, { ...first, contents, note: 'before the merger' });
    expect(await push(here.context, { target: 'app' })).toMatchObject({ objects: 3 });
    expect((await listSnapshots(there.context, 'app')).snapshots).toMatchObject([
      { id: 'aaaa0000', where: ['remote'], note: 'before the merger' },
    ]);
    expect(await verify(there.context, { target: 'app', remote: true })).toMatchObject({ ok: true, files: 3 });
    expect(await pull(there.context, { target: 'app' })).toMatchObject({ objects: 3 });
    expect(await there.repository.list('app')).toEqual([manifest]);
    expect(await verify(there.context, { target: 'app' })).toMatchObject({ ok: true, files: 3 });

    const all = await inBucket();
    expect(all.map(({ name }) => name.split('/')[0]).sort()).toEqual([
      ...['encrypted', 'objects', 'objects', 'objects', 'snapshots'],
    ]);
    const hashes = manifest.tables.map(({ file }) => file.sha256);
    for (const { name, content } of all) {
      const seen = name + content.toString('latin1');
      for (const told of ['"app"', 'customers', 'Zebediah', 'merger', 'aaaa0000', '2026-01', 'sha256', ...hashes]) {
        expect(seen.includes(told), `${told} in ${name}`).toBe(false);
      }
    }
  });

  it('moves only what the other side lacks, and tells what changed', async () => {
    const same = randomBytes(300_000);
    await storeTables(here.directory, { ...first, contents: { same, changed: 'old\n' } });
    await storeTables(here.directory, { ...second, contents: { same, changed: 'new\n' } });
    expect(await push(here.context, { target: 'app', snapshot: 1 })).toMatchObject({ objects: 2 });
    expect(await push(here.context, { target: 'app', snapshot: 0 })).toMatchObject({ objects: 1 });
    expect(await push(here.context, { target: 'app', snapshot: 0 })).toMatchObject({ objects: 0, bytes: 0 });
    expect((await diff(there.context, { target: 'app', a: 1, b: 0 })).changes).toMatchObject([
      { table: 'public.changed', change: 'changed' },
    ]);
    await annotate(there.context, { target: 'app', note: 'seen' });
    expect((await listSnapshots(here.context, 'app')).snapshots[0]).toMatchObject({ where: ['local', 'remote'] });
    await pull(there.context, { target: 'app', snapshot: 1 });
    expect(await pull(there.context, { target: 'app', snapshot: 0 })).toMatchObject({ objects: 1 });
  });

  it('is shared, and pruned: what no snapshot needs any more goes, and the rest is whole', async () => {
    const shared = randomBytes(50_000);
    await storeTables(here.directory, { ...first, contents: { shared, own: randomBytes(10_000) }, sanitized: true });
    await storeTables(here.directory, { ...second, contents: { shared, own: randomBytes(10_000) }, sanitized: true });
    for (const snapshot of [0, 1]) await push(here.context, { target: 'app', snapshot });
    expect((await listSnapshots(there.context, 'shared')).snapshots).toMatchObject([{ origin: 'app' }, {}]);
    const later = { ...here.context, clock: () => new Date(Date.now() + 2 * DAY) };
    const plan = await planPrune(later, { keep: { last: 1 }, from: 'remote' });
    await applyPrune(later, plan);
    expect((await inBucket()).filter(({ name }) => name.startsWith('objects/'))).toHaveLength(2);
    expect((await inBucket()).filter(({ name }) => name.startsWith('locks/'))).toHaveLength(0);
    expect(await verify(there.context, { target: 'shared', snapshot: 0 })).toMatchObject({ ok: true, files: 2 });
  });

  it('a push that is killed is finished by doing it again', async () => {
    await using pushing = await machine({ profile: { ...profile, endpoint: proxy.endpoint } });
    const contents = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`t${n}`, randomBytes(500_000)]));
    const large = { ...contents, large: randomBytes(30_000_000) };
    const { added_bytes } = await storeTables(pushing.directory, { ...first, contents: large });
    proxy.sent = 0;
    const { child, ended } = await startOperation(pushing, { operation: 'push', snapshot: 'aaaa0000' });
    proxy.fault = () => {
      if (proxy.sent > added_bytes / 2) child.kill('SIGKILL');
      return null;
    };
    expect(await ended).toMatchObject({ end: 'SIGKILL' });
    expect((await listSnapshots(there.context, 'app')).snapshots).toEqual([]);
    proxy.fault = () => null;
    await push(pushing.context, { target: 'app' });
    expect(await verify(there.context, { target: 'app' })).toMatchObject({ ok: true, files: 21 });
  });

  it.each<[string, (content: Buffer) => Buffer]>([
    ['cut short', (content) => content.subarray(0, 2 * 64 * 1024)],
    ['changed', (content) => Buffer.concat([content.subarray(0, -1), Buffer.from([(content.at(-1) ?? 0) ^ 1])])],
    ['emptied', () => Buffer.alloc(0)],
  ])('an object that was %s in the bucket is not taken, and is told of', async (_what, change) => {
    await storeTables(here.directory, { ...first, contents: { items: randomBytes(200_000) } });
    await push(here.context, { target: 'app' });
    const [object] = (await inBucket()).filter(({ name }) => name.startsWith('objects/'));
    if (!object) throw new Error('there is none');
    await put(object.name, change(object.content));
    expect(await verify(there.context, { target: 'app' })).toMatchObject({
      ok: false,
      problems: [expect.stringMatching(/^public\.items: it is damaged, or was not encrypted with this secret_key/)],
    });
    await expect(pull(there.context, { target: 'app' })).rejects.toMatchObject({ code: 'snapshot_damaged', exit: 1 });
    expect(await there.repository.list('app')).toEqual([]);
  });

  it('objects that were exchanged are noticed, and a manifest in the place of another', async () => {
    await storeTables(here.directory, { ...first, contents: { one: randomBytes(5000), two: randomBytes(5000) } });
    await storeTables(here.directory, { ...second, contents: { one: randomBytes(5000) } });
    for (const snapshot of [0, 1]) await push(here.context, { target: 'app', snapshot });
    const objects = (await inBucket()).filter(({ name }) => name.startsWith('objects/'));
    for (const [index, { name }] of objects.entries()) {
      await put(name, objects[(index + 1) % objects.length]?.content ?? Buffer.alloc(0));
    }
    expect((await verify(there.context, { target: 'app', snapshot: 1 })).problems).toHaveLength(2);
    const [one, two] = (await inBucket()).filter(({ name }) => name.startsWith('snapshots/'));
    if (!one || !two) throw new Error('there are none');
    await put(one.name, two.content);
    expect((await listSnapshots(there.context, 'app')).snapshots).toHaveLength(1);
    expect(there.events).toContainEqual(expect.objectContaining({ event: 'warning', code: 'manifest_damaged' }));
  });

  it('another secret_key is reported by every command', async () => {
    await storeTables(here.directory, { ...first, contents: { items: secret } });
    await push(here.context, { target: 'app' });
    await using stranger = await machine({ profile, secretKey: OTHER_KEY });
    await storeTables(stranger.directory, { ...second, contents: { items: 'x\n' } });
    const differs = { code: 'encryption_key_differs', exit: 3, message: expect.stringContaining('another key') };
    await expect(listSnapshots(stranger.context, 'app')).rejects.toMatchObject(differs);
    await expect(listSnapshots(stranger.context, 'shared')).rejects.toMatchObject(differs);
    await expect(push(stranger.context, { target: 'app' })).rejects.toMatchObject(differs);
    await expect(pull(stranger.context, { target: 'app' })).rejects.toMatchObject(differs);
    await expect(planPrune(stranger.context, { keep: { last: 1 } })).rejects.toMatchObject(differs);
    expect(await inBucket()).toHaveLength(3);
  });

  it('a profile that does not encrypt is told so, and changes nothing', async () => {
    await storeTables(here.directory, { ...first, contents: { items: secret } });
    await push(here.context, { target: 'app' });
    await using plain = await machine({ profile: clear });
    await storeTables(plain.directory, { ...second, contents: { items: 'x\n' } });
    const refused = { code: 'encryption_differs', exit: 3, hint: expect.stringContaining('team.encrypt: true') };
    await expect(listSnapshots(plain.context, 'app')).rejects.toMatchObject(refused);
    await expect(listSnapshots(plain.context, 'shared')).rejects.toMatchObject(refused);
    await expect(push(plain.context, { target: 'app', snapshot: 'bbbb1111' })).rejects.toMatchObject(refused);
    expect(await inBucket()).toHaveLength(3);
  });

  it('a bucket that is not encrypted is not taken for an encrypted one', async () => {
    await using plain = await machine({ profile: clear });
    await storeTables(plain.directory, { ...first, contents: { items: 'x\n' } });
    await push(plain.context, { target: 'app' });
    await storeTables(here.directory, { ...second, contents: { items: secret } });
    const refused = { code: 'encryption_differs', exit: 3 };
    await expect(listSnapshots(here.context, 'app')).rejects.toMatchObject(refused);
    await expect(push(here.context, { target: 'app' })).rejects.toMatchObject(refused);
    expect((await listSnapshots(plain.context, 'app')).snapshots).toHaveLength(1);
  });
});
