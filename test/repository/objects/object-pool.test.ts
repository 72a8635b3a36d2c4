import { appendFile, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FRAME_BYTES } from '../../../src/repository/objects/object-format.ts';
import { createObjectPool, type ObjectPool } from '../../../src/repository/objects/object-pool.ts';
import { objectKey } from '../../../src/repository/store/keys.ts';
import { temporaryFolder } from '../../helpers/postgres/postgres-server.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let pool: ObjectPool;

const MANY_BYTES = 100 * FRAME_BYTES;

describe.for([
  { how: 'threads', expectedBytes: MANY_BYTES },
  { how: 'the event loop for the first bytes', expectedBytes: 0 },
])('an object pool with $how', ({ expectedBytes }) => {
  beforeEach(async () => {
    folder = await temporaryFolder();
    pool = createObjectPool(2, { expectedBytes });
  });

  afterEach(async () => {
    await pool[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  async function start(name: string, content: string | Uint8Array, terminator: string | null = null) {
    const { promise: grown, resolve: finish } = Promise.withResolvers<void>();
    const path = join(folder.path, `${name}.object`);
    const source = join(folder.path, `${name}.source`);
    await writeFile(source, content);
    const seen: number[] = [];
    const packed = pool.pack({ source, destination: path, terminator, grown, onBytes: (bytes) => seen.push(bytes) });
    return { path, source, seen, packed, finish };
  }

  async function pack(name: string, content: string | Uint8Array) {
    const { path, packed, finish } = await start(name, content);
    finish();
    return { path, ...(await packed) };
  }

  async function readAll(object: { path: string; sha256: string; bytes: number }): Promise<Buffer> {
    const frames: Uint8Array[] = [];
    for await (const frame of pool.read(object)) frames.push(frame);
    return Buffer.concat(frames);
  }

  test('more files than threads are packed and read concurrently', async () => {
    const contents = Array.from({ length: 7 }, (_, index) =>
      Buffer.alloc(index * FRAME_BYTES * 0.7, `${index} of seven\n`),
    );
    const objects = await Promise.all(contents.map((content, index) => pack(`${index}`, content)));
    const read = await Promise.all(objects.map(readAll));
    expect(read.map((content, index) => content.equals(contents[index] ?? Buffer.of()))).toEqual(
      contents.map(() => true),
    );
  });

  test('a file that grows is packed when its terminator has come, before all is finished', async () => {
    const { packed, source, seen } = await start('growing', 'x'.repeat(FRAME_BYTES), 'END\n');
    await appendFile(source, 'one\nEN');
    await appendFile(source, 'D\n');
    expect(await packed).toMatchObject({ bytes: FRAME_BYTES + 8, lines: 2, terminated: true });
    expect(seen).toEqual([FRAME_BYTES, 8]);
  });

  test('a file without a terminator is packed when nothing grows any more', async () => {
    const { packed, source, finish } = await start('endless', 'one');
    await appendFile(source, ' two');
    finish();
    expect(await packed).toMatchObject({ bytes: 7, lines: 0, terminated: false });
  });

  test('a check reads every byte, and rejects with the damage', async () => {
    const object = await pack('checked', Buffer.alloc(2 * FRAME_BYTES + 5, 'checked\n'));
    const seen: number[] = [];
    await pool.check(object, (bytes) => seen.push(bytes));
    expect(seen).toEqual([FRAME_BYTES, FRAME_BYTES, 5]);
    await expect(pool.check({ ...object, sha256: '0'.repeat(64) }, () => {})).rejects.toThrow('checksum');
    await expect(pool.check({ ...object, path: `${object.path}.gone` }, () => {})).rejects.toMatchObject({
      code: 'ENOENT',
    });
    const bytes = await readFile(object.path);
    await writeFile(object.path, bytes.subarray(0, bytes.length - 1));
    await expect(pool.check(object, () => {})).rejects.toThrow('cut short');
  });

  test('reading a damaged object fails after the intact frames', async () => {
    const object = await pack('read', Buffer.alloc(3 * FRAME_BYTES, 'read\n'));
    let frames = 0;
    const reading = async (): Promise<void> => {
      for await (const frame of pool.read({ ...object, sha256: '0'.repeat(64) })) frames += frame.length > 0 ? 1 : 0;
    };
    await expect(reading()).rejects.toThrow('checksum');
    expect(frames).toBe(3);
  });

  test('a thread whose reader has gone away, or whose task has failed, works on', async () => {
    const one = createObjectPool(1);
    const object = await pack('left', Buffer.alloc(20 * FRAME_BYTES, 'left\n'));
    for await (const frame of one.read(object)) {
      expect(frame.length).toBe(FRAME_BYTES);
      break;
    }
    await expect(one.check({ ...object, sha256: '0'.repeat(64) }, () => {})).rejects.toThrow('checksum');
    await one.check(object, () => {});
    await one[Symbol.asyncDispose]();
  });

  test('an object that is there already is not written over', async () => {
    const { path } = await pack('once', 'one');
    const before = await readFile(path);
    await expect(pack('once', 'two')).rejects.toMatchObject({ code: 'EEXIST' });
    expect((await readFile(path)).equals(before)).toBe(true);
  });

  test('closing ends active and waiting tasks and refuses new ones', async () => {
    const endless = await Promise.all(['a', 'b', 'c', 'd'].map((name) => start(name, 'never ends')));
    const ends = endless.map(({ packed }) => expect(packed).rejects.toThrow('closed'));
    await pool[Symbol.asyncDispose]();
    await Promise.all(ends);
    await expect(pool.check({ path: '', sha256: '', bytes: 0 }, () => {})).rejects.toThrow('closed');
  });

  test('an object is verified by its stored bytes, or else by its content', async () => {
    const { path, sha256, bytes, storedSha256 } = await pack('stored', 'rows\n'.repeat(10_000));
    const object = { path, sha256, bytes };
    await pool.checkStored(object, storedSha256);
    await pool.checkStored({ ...object, sha256: 'f'.repeat(64) }, storedSha256);
    await pool.checkStored(object, 'f'.repeat(64));
    await pool.checkStored(object, undefined);
    const stored = await readFile(path);
    stored[20] = (stored[20] ?? 0) ^ 1;
    await writeFile(path, stored);
    await expect(pool.checkStored(object, storedSha256)).rejects.toThrow();
  });

  test('contents in memory become the objects that files of the same content become', async () => {
    const texts = ['', 'one\ntwo\n', 'x'.repeat(FRAME_BYTES), `${'y\n'.repeat(FRAME_BYTES)}END\n`];
    const contents = texts.map((text, index) => ({
      content: new Uint8Array(Buffer.from(text)),
      destination: join(folder.path, `content-${index}`),
      terminator: 'END\n',
    }));
    const packed = await pool.packContents(contents, folder.path);
    for (const [index, text] of texts.entries()) {
      const { path, packed: ofFile, finish } = await start(`file-${index}`, text, 'END\n');
      finish();
      const { sha256 } = await ofFile;
      expect(packed[index]).toEqual({ ...(await ofFile), isStored: true, isNew: true });
      expect((await readFile(join(folder.path, objectKey(sha256)))).equals(await readFile(path))).toBe(true);
      await expect(stat(join(folder.path, `content-${index}`))).rejects.toThrow('ENOENT');
    }
  });

  test('an object that the store has is not written again, unless it is damaged', async () => {
    const inMemory = (name: string) => ({
      content: new Uint8Array(Buffer.from('rows\nEND\n')),
      destination: join(folder.path, name),
      terminator: 'END\n',
    });
    const [first] = await pool.packContents([inMemory('first')], folder.path);
    const { isNew, ...same } = first ?? {};
    expect(isNew).toBe(true);
    const stored = join(folder.path, objectKey(first?.sha256 ?? ''));
    await utimes(stored, 1, 1);
    expect(await pool.packContents([inMemory('second')], folder.path)).toEqual([same]);
    await expect(stat(join(folder.path, 'second'))).rejects.toThrow('ENOENT');
    // A sweep removes what is old and not named yet.
    expect((await stat(stored)).mtimeMs).toBeGreaterThan(Date.now() - 60_000);

    const bytes = await readFile(stored);
    bytes[3] = (bytes[3] ?? 0) + 1;
    await writeFile(stored, bytes);
    expect(await pool.packContents([inMemory('third')], folder.path)).toEqual([{ ...same, isNew: false }]);
    expect((await readFile(stored)).equals(bytes)).toBe(false);
  });

  test('equal contents of one call are stored once', async () => {
    const contents = ['a', 'b', 'c'].map((name) => ({
      content: new Uint8Array(Buffer.from('rows\nEND\n')),
      destination: join(folder.path, name),
      terminator: 'END\n',
    }));
    const packed = await pool.packContents(contents, folder.path);
    expect(packed.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(await readdir(folder.path)).toEqual(['objects']);
  });

  test('a complete file is found equal to an object, or packed', async () => {
    const text = 'rows\n'.repeat(1000);
    const first = await pack('first', text);
    const source = join(folder.path, 'again');
    const files = { source, destination: join(folder.path, 'second'), terminator: null, onBytes() {} };
    await writeFile(source, text);
    expect(await pool.pack({ ...files, stored: first })).toMatchObject({ isStored: true, sha256: first.sha256 });
    await writeFile(source, `${text}more`);
    expect(await pool.pack({ ...files, stored: first })).toMatchObject({ isStored: false, bytes: text.length + 4 });
  });
});
