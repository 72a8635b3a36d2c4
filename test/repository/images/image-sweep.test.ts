import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { globSync, statSync } from 'node:fs';
import { mkdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { applyRemove, planRemove } from '../../../src/operations/remove/remove.ts';
import { openRemote } from '../../../src/operations/snapshots/remote-repositories.ts';
import { listSnapshots } from '../../../src/operations/snapshots/snapshots.ts';
import { push } from '../../../src/operations/snapshots/transfer/push.ts';
import { fetchImage } from '../../../src/repository/images/fetch-image.ts';
import { type ImageFacts, parseImageManifest } from '../../../src/repository/images/image-manifest.ts';
import { pushImage } from '../../../src/repository/images/push-image.ts';
import type { Manifest } from '../../../src/repository/manifest/manifest.ts';
import { createObjectPool } from '../../../src/repository/objects/object-pool.ts';
import type { BucketRepository } from '../../../src/repository/remote-repository.ts';
import { imageKey, manifestKey } from '../../../src/repository/repository.ts';
import type { StorageProfile } from '../../../src/repository/s3/connection.ts';
import { temporaryFolder } from '../../helpers/postgres/postgres-server.ts';
import { type Machine, machine } from '../../helpers/storage/machine.ts';
import { storeTables } from '../../helpers/storage/stored-snapshot.ts';

const NAME = '1-y-x';
const DAY = 24 * 60 * 60 * 1000;
const BLOCK = 1024 * 1024;
const parts = { isData: () => true, isFolder: () => true };
const { privateKey: key } = generateKeyPairSync('ed25519');

describe.each([{ encrypt: false }, { encrypt: true }])('chunks of images, encrypt: $encrypt', ({ encrypt }) => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let here: Machine<StorageProfile>;
  let remote: BucketRepository;
  const shared = randomBytes(BLOCK);
  const snapshots: Manifest[] = [];
  /** The content of `big`, of which each has its own block. */
  const contents: Buffer[] = [];
  const bucket = () => join(folder.path, 'bucket');

  beforeEach(async () => {
    folder = await temporaryFolder();
    await mkdir(bucket());
    here = await machine({ profile: { provider: 'folder', path: bucket(), encrypt } });
    for (const n of [1, 2]) {
      snapshots[n] = await storeTables(here.directory, {
        ...{ target: 'app', id: `${n}`.repeat(8), created_at: `2026-01-0${n}T00:00:00.000Z`, sanitized: true },
        contents: { items: `row ${n}` },
      });
      await push(here.context, { target: 'app' });
      remote = await openRemote(here.context, 'team');
      contents[n] = Buffer.concat([shared, Buffer.alloc(3 * BLOCK), randomBytes(BLOCK)]);
      await pushed(n);
    }
  });

  afterEach(async () => {
    await here[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  async function pushed(n: number, to = remote) {
    const directory = join(folder.path, `image-${n}`);
    await mkdir(join(directory, 'base'), { recursive: true });
    await writeFile(join(directory, 'base', 'big'), contents[n] ?? '');
    await writeFile(join(directory, 'base', 'small'), 'small');
    await writeFile(join(directory, 'base', 'empty'), '');
    const { target, created_at, id: snapshot } = of(n);
    const words = { architecture: 'x', platform: 'y', version: '1', collations: '', database: 'app' };
    const facts: ImageFacts = { format: 1, engine: 'postgres', target, snapshot, created_at, extensions: [], ...words };
    await using staging = await here.repository.stage();
    await using pool = createObjectPool(1);
    const { report, signal } = here.context;
    return await pushImage({
      ...{ manifest: of(n), name: NAME, directory, facts, key, parts, staging },
      ...{ remote: to, pool, report, signal },
    });
  }

  function of(n: number): Manifest {
    const snapshot = snapshots[n];
    if (!snapshot) throw new Error(`${n}`);
    return snapshot;
  }

  async function fetched(n: number): Promise<Buffer> {
    const image = parseImageManifest((await remote.images.read(of(n), NAME)) ?? '');
    await using staging = await here.repository.stage();
    await using pool = createObjectPool(1);
    const directory = staging.path('data');
    const { report, signal } = here.context;
    const given = { image, directory, bases: [], parts, staging, manifest: of(n), remote, pool, report, signal };
    await fetchImage(given);
    expect(await readFile(join(directory, 'base', 'small'), 'utf8')).toBe('small');
    expect(await readFile(join(directory, 'base', 'empty'), 'utf8')).toBe('');
    return await readFile(join(directory, 'base', 'big'));
  }

  const later = () => ({ ...here.context, clock: () => new Date(Date.now() + 2 * DAY) });
  const remove = async (n: number) =>
    applyRemove(later(), await planRemove(here.context, { target: 'app', snapshot: of(n).id }));
  const files = (name: string): string[] => globSync(join(bucket(), name, '*', '*'));
  const sweep = (days: number) => remote.sweep(new Date(Date.now() + days * DAY));

  it('stay as long as a snapshot has their image, and go with the last one', async () => {
    // Each one has a table, and in its image a block of its own; the small files and a block are the same.
    expect(files('objects')).toHaveLength(2 + 2 + 2);
    expect(await sweep(2)).toBe(0);
    for (const n of [1, 2]) expect((await fetched(n)).equals(contents[n] ?? Buffer.alloc(0))).toBe(true);
    await remove(1);
    expect(files('objects')).toHaveLength(1 + 1 + 2);
    expect(await remote.images.read(of(1), NAME)).toBeNull();
    expect((await fetched(2)).equals(contents[2] ?? Buffer.alloc(0))).toBe(true);
    await remove(2);
    expect([files('objects'), files('snapshots')]).toEqual([[], []]);
  });

  it('go together where one snapshot has several for different servers, also one without a name', async () => {
    const first = (await remote.images.read(of(1), NAME)) ?? '';
    // As an earlier version has written it.
    await remote.store.write(imageKey(of(1)), first);
    await remote.images.write(of(1), '2-y-x', first.replace('"version":"1"', '"version":"2"'));
    expect(await remote.images.read(of(1), NAME)).toBe(first);
    expect(await remote.images.read(of(1), '2-y-x')).toContain('"version":"2"');
    expect(await remote.images.read(of(1), '3-y-x')).toBe(first);
    expect(await sweep(2)).toBe(0);
    const images = async () => (await remote.store.list('snapshots')).filter(({ key: one }) => one.includes('image+'));
    expect(await images()).toHaveLength(4);
    await remove(1);
    expect(await images()).toHaveLength(1);
    expect((await fetched(2)).equals(contents[2] ?? Buffer.alloc(0))).toBe(true);
  });

  it('go when another version has removed the snapshot only, once the image is old', async () => {
    await remote.store.remove(manifestKey(of(1)));
    expect(await sweep(0)).toBe(0);
    expect(await remote.images.read(of(1), NAME)).not.toBeNull();
    expect(await sweep(2)).toBeGreaterThan(BLOCK);
    expect(await remote.images.read(of(1), NAME)).toBeNull();
    expect((await fetched(2)).equals(contents[2] ?? Buffer.alloc(0))).toBe(true);
  });

  it('all stay while the manifest of an image is damaged', async () => {
    await remote.images.write(of(1), NAME, '{"format":2}');
    await remote.remove(of(2));
    expect(await sweep(2)).toBe(0);
    expect(here.events).toContainEqual(expect.objectContaining({ code: 'manifest_damaged' }));
    await remove(1);
    expect(files('objects')).toEqual([]);
  });

  it('go after a day when their push ended before its manifest, and the next push sends what is missing', async () => {
    await remote.remove(of(1));
    contents[1] = Buffer.concat([shared, randomBytes(BLOCK), randomBytes(BLOCK)]);
    await remote.write(of(1));
    const write = async (): Promise<void> => {
      throw new Error('killed');
    };
    const ended = { ...remote, images: { ...remote.images, read: async () => null, write } };
    await expect(pushed(1, ended)).rejects.toThrow('killed');
    expect(await pushed(1)).toMatchObject({ objects: 0 });
    await remote.remove(of(1));
    await remote.write(of(1));
    await expect(pushed(1, ended)).rejects.toThrow('killed');
    for (const file of files('objects')) await utimes(file, new Date(), new Date(Date.now() - 2 * DAY));
    expect(await sweep(0)).toBeGreaterThan(2 * BLOCK);
    expect(await pushed(1)).toMatchObject({ objects: 2 });
    expect((await fetched(1)).equals(contents[1])).toBe(true);
  });

  it('are replaced by the next push when they are damaged', async () => {
    const [large = ''] = files('objects').filter((file) => statSync(file).size > BLOCK / 2);
    await writeFile(large, 'damaged');
    const all = await Promise.allSettled([fetched(1), fetched(2)]);
    expect(all.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(0);
    expect(all).toContainEqual(
      expect.objectContaining({ reason: expect.objectContaining({ code: 'snapshot_damaged' }) }),
    );
    expect((await pushed(1)).objects + (await pushed(2)).objects).toBe(1);
    for (const n of [1, 2]) expect((await fetched(n)).equals(contents[n] ?? Buffer.alloc(0))).toBe(true);
  });

  it('are no snapshots of any list', async () => {
    expect((await listSnapshots(here.context, 'app')).snapshots).toHaveLength(2);
    expect((await listSnapshots(here.context, 'shared')).snapshots).toHaveLength(2);
    expect(here.events.filter(({ event }) => event === 'warning')).toEqual([]);
  });
});
