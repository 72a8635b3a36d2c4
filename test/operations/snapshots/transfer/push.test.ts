import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { globSync, readdirSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { annotate } from '../../../../src/operations/snapshots/annotate/annotate.ts';
import { listSnapshots } from '../../../../src/operations/snapshots/snapshots.ts';
import { pull } from '../../../../src/operations/snapshots/transfer/pull.ts';
import { push } from '../../../../src/operations/snapshots/transfer/push.ts';
import { verify } from '../../../../src/operations/snapshots/verify/verify.ts';
import { publicKeyText, signManifest } from '../../../../src/repository/manifest/signature.ts';
import { manifestKey } from '../../../../src/repository/repository.ts';
import type { BucketProfile } from '../../../../src/repository/s3/connection.ts';
import { createS3Store } from '../../../../src/repository/s3/store.ts';
import type { Store } from '../../../../src/repository/store/store.ts';
import { type Machine, machine } from '../../../helpers/storage/machine.ts';
import { describeWithS3, startS3 } from '../../../helpers/storage/s3-server.ts';
import { storeSnapshot, storeTables } from '../../../helpers/storage/stored-snapshot.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

describeWithS3('push and pull', () => {
  const server = suiteResource(() => startS3());
  let profile: BucketProfile;
  let here: Machine;
  let there: Machine;
  let store: Store;

  beforeEach(async () => {
    profile = await server.bucket();
    [here, there] = [await machine({ profile }), await machine({ profile })];
    store = await createS3Store({ name: 'team', profile, signal: here.context.signal });
  });

  afterEach(async () => {
    await here[Symbol.asyncDispose]();
    await there[Symbol.asyncDispose]();
  });

  const first = { target: 'app', id: 'aaaa0000', created_at: '2026-01-01T00:00:00.000Z' };
  const second = { target: 'app', id: 'bbbb1111', created_at: '2026-01-02T00:00:00.000Z' };

  it('pushes what only claims to be sanitized to the storage profile of originals, where trusted_keys is set', async () => {
    const sanitize = { override_query: 'SELECT 1', storage_profile: 'masked' };
    await using own = await machine({ profile, targets: { app: { storage_profile: 'team', snapshot: {}, sanitize } } });
    const { settings } = own.context.configuration;
    const masked = await server.bucket();
    settings.storage_profiles.masked = masked;
    settings.trusted_keys = [publicKeyText(generateKeyPairSync('ed25519').privateKey)];
    await storeSnapshot(own.directory, { ...first, sanitized: true, content: 'x' });
    const pushed = () => push(own.context, { target: 'app' });
    expect(await pushed()).toMatchObject({ storage: `s3://${profile.bucket}`, snapshot: { sanitized: false } });
    delete settings.trusted_keys;
    expect(await pushed()).toMatchObject({ storage: `s3://${masked.bucket}`, snapshot: { sanitized: true } });
  });

  it('pulls only what a trusted key has signed, and lists the signatures of the manifests', async () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    const key = publicKeyText(privateKey);
    const base = await storeSnapshot(here.directory, { ...first, id: 'aaaa0001', content: 'x' });
    await push(here.context, { target: 'app' });
    for (let second = 2; second <= 40; second += 1) {
      const two = String(second).padStart(2, '0');
      const copy = { ...base, id: `aaaa00${two}`, created_at: `2026-01-01T00:00:${two}.000Z` };
      const manifest = second % 2 === 0 ? signManifest(copy, privateKey) : copy;
      await store.write(manifestKey(manifest), JSON.stringify(manifest));
    }
    there.context.configuration.settings.trusted_keys = [key];
    const states = async ({ context }: Machine) =>
      new Set((await listSnapshots(context, 'app')).snapshots.map(({ signature }) => signature.state));
    await using third = await machine({ profile });
    expect(await states(there)).toEqual(new Set(['trusted', 'none']));
    expect(await states(third)).toEqual(new Set(['valid', 'none']));
    const unsigned = pull(there.context, { target: 'app', snapshot: 'aaaa0001' });
    await expect(unsigned).rejects.toMatchObject({ code: 'signature_untrusted', exit: 5 });
    expect(await there.repository.list('app')).toEqual([]);
    const pulled = await pull(there.context, { target: 'app', snapshot: 'aaaa0002' });
    expect(pulled.snapshot.signature).toEqual({ state: 'trusted', key });
    const allowed = { target: 'app', snapshot: 'aaaa0001', allowUntrusted: true };
    expect(await pull(there.context, allowed)).toMatchObject({ snapshot: { id: 'aaaa0001' } });
  });

  it('transfers a snapshot to another machine unchanged', async () => {
    const manifest = await storeTables(here.directory, {
      ...first,
      contents: { small: '1\tone\n', large: randomBytes(20_000_000), empty: '' },
      note: 'the first',
    });
    const pushed = await push(here.context, { target: 'app' });
    expect(pushed).toMatchObject({ objects: 3, storage: `s3://${profile.bucket}`, snapshot: { id: 'aaaa0000' } });
    expect(await listSnapshots(there.context, 'app')).toMatchObject({
      snapshots: [{ index: 0, id: 'aaaa0000', where: ['remote'], note: 'the first', tables: 3 }],
    });
    const pulled = await pull(there.context, { target: 'app', snapshot: 0 });
    expect(pulled).toMatchObject({ objects: 3, bytes: pushed.bytes, snapshot: { where: ['local', 'remote'] } });
    expect(await there.repository.list('app')).toEqual([manifest]);
    expect(await verify(there.context, { target: 'app' })).toMatchObject({ ok: true, files: 3 });
    expect(readdirSync(join(there.directory, 'staging'))).toEqual([]);
  });

  it('moves only what the other side lacks, each object once', async () => {
    const same = randomBytes(300_000);
    await storeTables(here.directory, { ...first, contents: { same, twin: same, changed: 'old\n' } });
    await storeTables(here.directory, { ...second, contents: { same, twin: same, changed: 'new\n' } });
    expect(await push(here.context, { target: 'app', snapshot: 1 })).toMatchObject({ objects: 2 });
    const next = await push(here.context, { target: 'app', snapshot: 0 });
    expect(next.objects).toBe(1);
    expect(next.bytes).toBeLessThan(100);
    expect(await push(here.context, { target: 'app', snapshot: 0 })).toMatchObject({ objects: 0, bytes: 0 });
    await pull(there.context, { target: 'app', snapshot: 1 });
    expect(await pull(there.context, { target: 'app', snapshot: 0 })).toMatchObject({ objects: 1 });
    expect(await pull(there.context, { target: 'app', snapshot: 0 })).toMatchObject({ objects: 0 });
  });

  it('lists what is here and there as one, newest first', async () => {
    await storeSnapshot(here.directory, { ...first, content: 'one\n' });
    await push(here.context, { target: 'app' });
    await storeSnapshot(here.directory, { ...second, content: 'two\n' });
    await storeSnapshot(there.directory, { ...first, id: 'cccc2222', content: 'x\n' });
    const { snapshots } = await listSnapshots(here.context, 'app');
    expect(snapshots.map(({ index, id, where }) => ({ index, id, where }))).toEqual([
      { index: 0, id: 'bbbb1111', where: ['local'] },
      { index: 1, id: 'aaaa0000', where: ['local', 'remote'] },
    ]);
    const elsewhere = await listSnapshots(there.context, 'app');
    expect(elsewhere.snapshots.map(({ id, where }) => ({ id, where }))).toEqual([
      { id: 'cccc2222', where: ['local'] },
      { id: 'aaaa0000', where: ['remote'] },
    ]);
  });

  it('reports its progress by bytes, up to the last', async () => {
    await storeTables(here.directory, { ...first, contents: { large: randomBytes(20_000_000) } });
    const { bytes } = await push(here.context, { target: 'app' });
    const progress = here.events.filter((event) => event.event === 'progress');
    expect(progress.at(-1)).toEqual({
      ...{ event: 'progress', step: 'push', done: bytes, total: bytes, unit: 'bytes', current: 'public.large' },
    });
  });

  it('does not send what is damaged here, and does not list it there', async () => {
    await storeSnapshot(here.directory, { ...first, content: 'one\n' });
    for (const file of globSync(`${here.directory}/objects/*/*`)) truncateSync(file, 3);
    await expect(push(here.context, { target: 'app' })).rejects.toMatchObject({
      code: 'snapshot_damaged',
      exit: 1,
      details: [expect.stringMatching(/^public\.items: /)],
    });
    expect(await store.list('snapshots')).toEqual([]);
    expect(await store.list('locks')).toEqual([]);
  });

  it('sends an object that is compressed otherwise than the manifest says, as it is here', async () => {
    const contents = { small: 'one\n', large: randomBytes(20_000_000) };
    const manifest = await storeTables(here.directory, { ...first, contents });
    const otherwise = manifest.tables.map((table) => ({
      ...table,
      file: { ...table.file, stored_sha256: 'ab'.repeat(32) },
    }));
    await here.repository.write({ ...manifest, tables: otherwise });
    expect(await push(here.context, { target: 'app' })).toMatchObject({ objects: 2, bytes: manifest.added_bytes });
    await pull(there.context, { target: 'app' });
    expect(await verify(there.context, { target: 'app' })).toMatchObject({ ok: true, files: 2 });
  });

  it('does not keep what arrives damaged, and says of what', async () => {
    const { tables } = await storeSnapshot(here.directory, { ...first, content: 'one\n' });
    await push(here.context, { target: 'app' });
    const sha256 = tables[0]?.file.sha256 ?? '';
    await store.write(`objects/${sha256.slice(0, 2)}/${sha256}`, 'not what it was');
    await expect(pull(there.context, { target: 'app' })).rejects.toMatchObject({
      code: 'snapshot_damaged',
      message: `Snapshot aaaa0000 of app is damaged in s3://${profile.bucket}`,
    });
    expect(await there.repository.list('app')).toEqual([]);
    expect(globSync(`${there.directory}/objects/*/*`)).toEqual([]);
  });

  it('note, tags and pin are kept in the bucket, for everybody', async () => {
    await storeSnapshot(here.directory, { ...first, content: 'one\n' });
    await push(here.context, { target: 'app' });
    await listSnapshots(there.context, 'app');
    await annotate(here.context, { target: 'app', note: 'before the migration' });
    expect((await listSnapshots(there.context, 'app')).snapshots[0]?.note).toBe('before the migration');

    const signed = (await here.repository.list('app'))[0]?.signature;
    await annotate(here.context, { target: 'app', addTags: ['v2.4', 'demo', 'v2.4'], pinned: true });
    const { snapshots } = await listSnapshots(there.context, 'app', { select: { by: 'tag', value: 'demo' } });
    expect(snapshots).toMatchObject([{ where: ['remote'], tags: ['demo', 'v2.4'], pinned: true }]);
    await pull(there.context, { target: 'app', snapshot: { by: 'tag', value: 'demo' } });
    expect(await there.repository.list('app')).toMatchObject([
      { tags: ['demo', 'v2.4'], pinned: true, note: 'before the migration', ...(signed && { signature: signed }) },
    ]);
    await expect(listSnapshots(there.context, 'app', { select: { by: 'tag', value: 'v3' } })).rejects.toMatchObject({
      message: 'Target "app" has no snapshot with tag "v3"',
      details: ['Tags of its snapshots: demo, v2.4'],
    });
    await annotate(there.context, { target: 'app', removeTags: ['demo', 'v2.4'], pinned: false });
    const [bare] = await there.repository.list('app');
    expect([bare?.tags, bare?.pinned]).toEqual([undefined, undefined]);
    const many = Array.from({ length: 33 }, (_, n) => `t${n}`);
    for (const addTags of [['two words'], ['a,b'], ['\u001b[31m'], ['x'.repeat(65)], [''], many]) {
      const refused = annotate(here.context, { target: 'app', addTags });
      await expect(refused).rejects.toMatchObject({ code: 'invalid_value', exit: 2 });
    }
  });

  it('push transfers the sanitized snapshot, or the original with --original', async () => {
    await storeSnapshot(here.directory, { ...first, content: 'secret\n' });
    const sibling = { sanitized: true, sanitized_of: first.id, sanitized_at: '2026-01-03T00:00:00.000Z' };
    await storeSnapshot(here.directory, { ...first, id: 'bbbb1111', content: 'safe\n', ...sibling });
    expect(await push(here.context, { target: 'app', snapshot: 0 })).toMatchObject({ snapshot: { id: 'bbbb1111' } });
    const listed = async (target: string, original: boolean) =>
      (await listSnapshots(there.context, target, { original })).snapshots.map(({ index, id }) => [index, id]);
    expect(await listed('app', true)).toEqual([[0, 'bbbb1111']]);
    const pulling = pull(there.context, { target: 'app', snapshot: 0, original: true });
    await expect(pulling).rejects.toMatchObject({ code: 'snapshot_missing', exit: 2 });

    await push(here.context, { target: 'app', snapshot: 0, original: true });
    expect(await listed('shared', false)).toEqual([[0, 'bbbb1111']]);
    for (const snapshot of [first.id, 1]) {
      const refused = pull(there.context, { target: 'shared', snapshot });
      await expect(refused).rejects.toMatchObject({ code: 'snapshot_missing', exit: 2 });
    }
    expect(await pull(there.context, { target: 'app', snapshot: 0 })).toMatchObject({ snapshot: { id: 'bbbb1111' } });
    const original = await pull(there.context, { target: 'app', snapshot: 0, original: true });
    expect(original.snapshot).toMatchObject({ index: 0, id: first.id, sanitized: false, where: ['local', 'remote'] });
  });

  it('a share target lists whatever is in the bucket and sanitized; the rest when originals are asked for', async () => {
    await storeSnapshot(here.directory, { ...first, content: 'secret\n' });
    await storeSnapshot(here.directory, { ...second, content: 'safe\n', sanitized: true });
    for (const snapshot of [0, 1]) await push(here.context, { target: 'app', snapshot });
    const shared = await listSnapshots(there.context, 'shared');
    expect(shared.snapshots).toMatchObject([{ index: 0, id: 'bbbb1111', origin: 'app', sanitized: true }]);
    await expect(pull(there.context, { target: 'shared', snapshot: 'aaaa0000' })).rejects.toMatchObject({ exit: 2 });
    const all = await listSnapshots(there.context, 'shared', { original: true });
    expect(all.snapshots.map(({ id }) => id)).toEqual(['bbbb1111', 'aaaa0000']);
    const pulled = await pull(there.context, { target: 'shared', snapshot: 'aaaa0000', original: true });
    expect(pulled.snapshot).toMatchObject({ origin: 'app', where: ['local', 'remote'] });
  });
});
