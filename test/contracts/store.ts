import { createHash, randomBytes } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ContentDiffers } from '../../src/repository/objects/checksum.ts';
import { objectKey } from '../../src/repository/store/keys.ts';
import { type ObjectStore, type Store, TooLarge } from '../../src/repository/store/store.ts';
import { temporaryFolder } from '../helpers/postgres/postgres-server.ts';

const MEGABYTE = 1024 * 1024;

export interface StoreOptions<Kind> {
  /** Makes an empty one. */
  create: (folder: string) => Promise<Kind>;
  /** Whether what is got passes through our hands, and not only those of the system. */
  seesBytes: boolean;
}

export interface ObjectStoreOptions extends StoreOptions<ObjectStore> {
  /** Bytes of an object with this content. Default: the content itself. */
  stored?: (content: Buffer) => Buffer;
}

/** What every place for objects keeps to: a folder, a bucket, a hub. */
export function testObjects({ create, seesBytes, stored = (content) => content }: ObjectStoreOptions): void {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let store: ObjectStore;
  const signal = new AbortController().signal;

  beforeEach(async () => {
    folder = await temporaryFolder();
    store = await create(folder.path);
  });

  afterEach(() => folder[Symbol.asyncDispose]());

  async function file(content: Uint8Array): Promise<string> {
    const path = join(folder.path, `source-${randomBytes(4).toString('hex')}`);
    await writeFile(path, content);
    return path;
  }

  const keyOf = (content: Uint8Array): string => objectKey(hash(content));

  const isThere = async (key: string): Promise<boolean> => (await store.present([key])).has(key);

  test.each([0, 1, MEGABYTE, 8 * MEGABYTE, 8 * MEGABYTE + 1, 20 * MEGABYTE])(
    'a file of %i bytes is stored and read unchanged, and every byte is reported',
    async (bytes) => {
      const plain = randomBytes(bytes);
      const [key, content] = [keyOf(plain), stored(plain)];
      const moved = { put: 0, got: 0 };
      await store.put(key, await file(content), { signal, onBytes: (n) => (moved.put += n) });
      expect(await isThere(key)).toBe(true);
      const destination = join(folder.path, 'got');
      await store.get(key, destination, { signal, onBytes: (n) => (moved.got += n) });
      expect(hash(await readFile(destination))).toBe(hash(content));
      expect(moved).toEqual({ put: content.length, got: content.length });
    },
  );

  test.each([1, 20 * MEGABYTE])('a file of %i bytes is put only when its SHA-256 is the given one', async (bytes) => {
    const plain = randomBytes(bytes);
    const [key, content] = [keyOf(plain), stored(plain)];
    const [path, transfer] = [await file(content), { signal, onBytes: () => {} }];
    const wrong = store.put(key, path, { ...transfer, sha256: hash(Buffer.from('another')) });
    await expect(wrong).rejects.toThrow(ContentDiffers);
    expect(await isThere(key)).toBe(false);
    await store.put(key, path, { ...transfer, sha256: hash(content) });
    expect(await store.get(key, join(folder.path, 'got'), transfer)).toBe(seesBytes ? hash(content) : null);
  });

  test('a file that is larger than it may be is not got', async () => {
    const plain = randomBytes(1000);
    await store.put(keyOf(plain), await file(stored(plain)), { signal, onBytes: () => {} });
    const destination = join(folder.path, 'got');
    const got = store.get(keyOf(plain), destination, { signal, onBytes: () => {}, maxBytes: 999 });
    await expect(got).rejects.toThrow(TooLarge);
    await expect(stat(destination)).rejects.toThrow('ENOENT');
  });

  test('a missing object cannot be read, and leaves no file', async () => {
    const destination = join(folder.path, 'got');
    const got = store.get(keyOf(randomBytes(8)), destination, { signal, onBytes: () => {} });
    await expect(got).rejects.toThrow();
    await expect(stat(destination)).rejects.toThrow('ENOENT');
  });

  test('a put that is given up leaves nothing under its key', async () => {
    const stopped = new AbortController();
    const content = randomBytes(20 * MEGABYTE);
    const path = await file(content);
    stopped.abort(new Error('stopped'));
    const put = store.put(keyOf(content), path, { signal: stopped.signal, onBytes: () => {} });
    await expect(put).rejects.toThrow('stopped');
    expect(await isThere(keyOf(content))).toBe(false);
  });
}

/** What every store keeps to. */
export function testStore({ create, seesBytes }: StoreOptions<Store>): void {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let store: Store;

  beforeEach(async () => {
    folder = await temporaryFolder();
    store = await create(folder.path);
  });

  afterEach(() => folder[Symbol.asyncDispose]());

  testObjects({ create, seesBytes });

  test('the list has an object with its size', async () => {
    const path = join(folder.path, 'source');
    await writeFile(path, randomBytes(9 * MEGABYTE));
    const { signal } = new AbortController();
    await store.put('objects/aa/one', path, { signal, onBytes: () => {} });
    expect(await store.list('objects')).toMatchObject([{ key: 'objects/aa/one', bytes: 9 * MEGABYTE }]);
  });

  test('a written file is read again with any characters; a missing one is null', async () => {
    await store.write('snapshots/ünï/one.json', '{"note": "🐘 \\u0000"}\n');
    expect(await store.read('snapshots/ünï/one.json')).toBe('{"note": "🐘 \\u0000"}\n');
    expect(await store.read('snapshots/ünï/two.json')).toBeNull();
  });

  test('a second write replaces the first, and its version is another', async () => {
    await store.write('index/app.json', 'one');
    const [before] = await store.list('index');
    await store.write('index/app.json', 'two');
    const [after] = await store.list('index');
    expect(await store.read('index/app.json')).toBe('two');
    expect(after?.version).not.toBe(before?.version);
  });

  test('a list returns key, size and age of objects below a prefix, sorted by key', async () => {
    await store.write('snapshots/app/b.json', '12345');
    await store.write('snapshots/app/a.json', '123');
    await store.write('snapshots/app2/c.json', '1');
    const listed = await store.list('snapshots/app');
    expect(listed.map(({ key, bytes }) => ({ key, bytes }))).toEqual([
      { key: 'snapshots/app/a.json', bytes: 3 },
      { key: 'snapshots/app/b.json', bytes: 5 },
    ]);
    for (const { modified } of listed) expect(Math.abs(Date.now() - modified.getTime())).toBeLessThan(60_000);
    expect(await store.list('snapshots/none')).toEqual([]);
  });

  test.each([1, 6])('%i existing keys are found among as many missing ones', async (count) => {
    const names = Array.from({ length: count }, (_, index) => `objects/aa/${index}`);
    for (const name of names) await store.write(name, name);
    const others = names.map((name) => `${name}x`);
    expect(await store.present([...names, ...others])).toEqual(new Set(names));
    expect(await store.present([])).toEqual(new Set());
  });

  test('a removed object is absent; a second removal is no error', async () => {
    await store.write('snapshots/app/a.json', '1');
    await store.remove('snapshots/app/a.json');
    await store.remove('snapshots/app/a.json');
    expect(await store.list('snapshots')).toEqual([]);
  });

  test('more than a thousand keys are listed completely', { timeout: 60_000 }, async () => {
    const keys = Array.from({ length: 1100 }, (_, index) => `snapshots/app/${String(index).padStart(4, '0')}.json`);
    const queue = [...keys];
    const worker = async (): Promise<void> => {
      for (let key = queue.pop(); key !== undefined; key = queue.pop()) await store.write(key, key);
    };
    await Promise.all(Array.from({ length: 16 }, worker));
    expect((await store.list('snapshots')).map(({ key }) => key)).toEqual(keys);
    expect(await store.present([...keys, 'snapshots/app/2000.json'])).toEqual(new Set(keys));
  });
}

function hash(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
