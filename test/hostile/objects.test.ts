import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { zstdCompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ZipFile } from 'yazl';
import type { DumpFacet } from '../../src/engines/facets/dump.ts';
import { listSnapshots } from '../../src/operations/snapshots/snapshots.ts';
import { storeDump } from '../../src/operations/snapshots/store-dump.ts';
import { importSnapshot } from '../../src/operations/snapshots/transfer/import.ts';
import { verify } from '../../src/operations/snapshots/verify/verify.ts';
import { type Manifest, manifestText } from '../../src/repository/manifest/manifest.ts';
import { encodeSeekTable, largestObject } from '../../src/repository/objects/object-format.ts';
import { createObjectPool } from '../../src/repository/objects/object-pool.ts';
import { objectKey } from '../../src/repository/store/keys.ts';
import { temporaryFolder } from '../helpers/postgres/postgres-server.ts';
import { type Machine, machine } from '../helpers/storage/machine.ts';
import { storeSnapshot } from '../helpers/storage/stored-snapshot.ts';

const NOWHERE = { provider: 'minio', bucket: 'none', endpoint: 'http://127.0.0.1:1' } as const;
const named = { target: 'app', id: 'aaaa0000', created_at: '2026-01-01T00:00:00.000Z' };

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let here: Machine;
let there: Machine;

beforeEach(async () => {
  folder = await temporaryFolder();
  const targets = { app: { snapshot: {} } };
  [here, there] = await Promise.all([machine({ profile: NOWHERE, targets }), machine({ profile: NOWHERE, targets })]);
});

afterEach(async () => {
  for (const one of [folder, here, there]) await one[Symbol.asyncDispose]();
});

async function zip(manifest: Manifest, objects: Record<string, Buffer>, compress = false): Promise<string> {
  const file = join(folder.path, `${randomBytes(4).toString('hex')}.zip`);
  const zip = new ZipFile();
  zip.addBuffer(Buffer.from(manifestText(manifest)), 'manifest.json');
  for (const [key, content] of Object.entries(objects)) zip.addBuffer(content, key, { compress });
  zip.end();
  await writeFile(file, await buffer(zip.outputStream));
  return file;
}

/** A snapshot whose object's stored bytes are what its manifest says, and whose content is another. */
async function poison(content: string): Promise<{ manifest: Manifest; key: string; garbage: Buffer }> {
  const wanted = await storeSnapshot(here.directory, { ...named, content });
  const other = await storeSnapshot(here.directory, { ...named, id: 'bbbb1111', content: 'x'.repeat(content.length) });
  const [table, another] = [wanted.tables[0], other.tables[0]];
  if (!table || !another) throw new Error('both have a table');
  const garbage = await readFile(here.repository.object(another.file).path);
  const { stored_sha256 = '', stored_bytes } = another.file;
  const file = { ...table.file, stored_sha256, stored_bytes };
  return { manifest: { ...wanted, tables: [{ ...table, file }] }, key: objectKey(file.sha256), garbage };
}

test('an import checks the content of an object, and does not trust the manifest', async () => {
  const { manifest, key, garbage } = await poison('one\ntwo\n');
  const file = await zip(manifest, { [key]: garbage });
  await expect(importSnapshot(there.context, { file })).rejects.toMatchObject({ code: 'snapshot_damaged' });
  expect((await listSnapshots(there.context, 'app')).snapshots).toEqual([]);
});

describe('garbage under the SHA-256 of stored content', () => {
  /** A database that dumps one table of the given rows. */
  function databaseOf(rows: string): { dump: DumpFacet } {
    const run: DumpFacet['run'] = async ({ directory, write }) => {
      await writeFile(join(directory, 'items.dat'), rows);
      const packed = await write('items.dat', { terminator: null });
      const tables = [{ name: 'public.items', rows: 2, file: packed.file }];
      return { serverVersion: '15.18', toolVersion: '15.18', schemas: ['public'], tables, files: [], details: {} };
    };
    return { dump: { run, isUnchanged: async () => false } };
  }

  test.each([
    ['of the same size', async (path: string, garbage: Buffer) => writeFile(path, garbage)],
    ['cut short', async (path: string) => truncate(path, 10)],
    ['empty', async (path: string) => truncate(path, 0)],
  ])('is replaced by a build (%s)', async (_, damage) => {
    const { manifest, garbage } = await poison('one\ntwo\n');
    const path = here.repository.object({ ...manifest.tables[0]?.file, bytes: 8 } as never).path;
    await damage(path, garbage);
    const building = { database: databaseOf('one\ntwo\n'), repository: here.repository, previous: undefined, cpus: 1 };
    await storeDump({ ...building, schemaConfig: undefined });
    expect(await verify(here.context, { target: 'app', snapshot: 'aaaa0000' })).toMatchObject({ ok: true });
  });

  test('does not keep an import from bringing the right content, where its size gives it away', async () => {
    const snapshot = await storeSnapshot(here.directory, { ...named, content: 'one\ntwo\n' });
    const object = snapshot.tables[0]?.file;
    if (!object) throw new Error('it has a table');
    const whole = await readFile(here.repository.object(object).path);
    const path = there.repository.object(object).path;
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, randomBytes(100));
    await importSnapshot(there.context, { file: await zip(snapshot, { [objectKey(object.sha256)]: whole }) });
    expect(await verify(there.context, { target: 'app' })).toMatchObject({ ok: true });
  });
});

describe('object that unpacks to more than its size', () => {
  const MEGABYTE = 1024 * 1024;

  async function objectOf(frames: { stored: Buffer; bytes: number }[]): Promise<string> {
    const path = join(folder.path, 'object');
    const table = encodeSeekTable(frames.map(({ stored, bytes }) => ({ storedBytes: stored.length, bytes })));
    await writeFile(path, Buffer.concat([...frames.map(({ stored }) => stored), table]));
    return path;
  }

  const bomb = zstdCompressSync(Buffer.alloc(32 * MEGABYTE));

  test.each([
    ['frames that hold more than the table says', [{ stored: bomb, bytes: 8 }], 8],
    ['a table that says more than the manifest', [{ stored: bomb, bytes: 32 * MEGABYTE }], 8],
    ['many frames that say more than the manifest', Array(100).fill({ stored: bomb, bytes: 32 * MEGABYTE }), 8],
    ['a frame that says it is four gigabytes', [{ stored: bomb, bytes: 2 ** 32 - 1 }], 2 ** 32 - 1],
    ['a million frames without content', Array(1_000_000).fill({ stored: Buffer.alloc(0), bytes: 0 }), 8],
  ])('is not unpacked: %s', async (_, frames, bytes) => {
    const path = await objectOf(frames);
    await using pool = createObjectPool(1);
    const unpacked: number[] = [];
    const reading = (async () => {
      for await (const frame of pool.read({ path, sha256: '0'.repeat(64), bytes })) unpacked.push(frame.length);
    })();
    await expect(reading).rejects.toThrow();
    expect(unpacked).toEqual([]);
  });

  test('an object that is larger than its content can make it is not copied out of a zip', async () => {
    const snapshot = await storeSnapshot(here.directory, { ...named, content: 'one\n' });
    const sha256 = snapshot.tables[0]?.file.sha256 ?? '';
    const file = await zip(snapshot, { [objectKey(sha256)]: Buffer.alloc(8 * MEGABYTE) }, true);
    expect((await stat(file)).size).toBeLessThan(MEGABYTE);
    await expect(importSnapshot(there.context, { file })).rejects.toMatchObject({
      code: 'snapshot_damaged',
      details: [expect.stringContaining('larger than it may be')],
    });
    expect(await readdir(join(there.directory, 'staging'))).toEqual([]);
  });

  test('no object is mistaken for too large', () => {
    for (const bytes of [0, 1, 1000, MEGABYTE - 1, MEGABYTE, MEGABYTE + 1, 10 * MEGABYTE]) {
      const content = randomBytes(bytes);
      const frames: { storedBytes: number; bytes: number }[] = [];
      for (let at = 0; at < bytes; at += MEGABYTE) {
        const part = content.subarray(at, at + MEGABYTE);
        frames.push({ storedBytes: zstdCompressSync(part).length, bytes: part.length });
      }
      const stored = frames.reduce((sum, frame) => sum + frame.storedBytes, encodeSeekTable(frames).length);
      expect(stored).toBeLessThan(largestObject(bytes));
    }
  });
});

describe('a zip', () => {
  test('a manifest of more than 64 MB is refused before it is read', async () => {
    const manifest = await storeSnapshot(here.directory, { ...named, content: 'one\n' });
    const file = join(folder.path, 'large.zip');
    const zip = new ZipFile();
    zip.addBuffer(
      Buffer.concat([Buffer.from(manifestText(manifest)), Buffer.alloc(70 * 1024 * 1024, ' ')]),
      'manifest.json',
    );
    zip.end();
    await writeFile(file, await buffer(zip.outputStream));
    await expect(importSnapshot(there.context, { file })).rejects.toMatchObject({ code: 'archive_not_understood' });
  });

  test.each(['../../outside', '/outside', 'objects/../../outside', 'a\\b'])(
    'an entry %s writes nothing there',
    async (name) => {
      const manifest = await storeSnapshot(here.directory, { ...named, content: 'one\n' });
      const object = manifest.tables[0]?.file;
      if (!object) throw new Error('it has a table');
      const content = await readFile(here.repository.object(object).path);
      const safe = 'x'.repeat(Buffer.byteLength(name));
      const file = await zip(manifest, { [objectKey(object.sha256)]: content, [safe]: Buffer.from('hostile') });
      const bytes = (await readFile(file)).toString('latin1').replaceAll(safe, name);
      await writeFile(file, bytes, 'latin1');
      await importSnapshot(there.context, { file }).catch((error) => {
        expect(error).toMatchObject({ code: 'archive_not_understood' });
      });
      await expect(stat(join(there.directory, '..', 'outside'))).rejects.toThrow();
      await expect(stat('/outside')).rejects.toThrow();
    },
  );
});

test('verify --repair without another side names every snapshot that is lost', async () => {
  const content = 'one\ntwo\n';
  const manifest = await storeSnapshot(here.directory, { ...named, content });
  await storeSnapshot(here.directory, { ...named, target: 'other', id: 'cccc2222', content });
  const object = here.repository.object(manifest.tables[0]?.file as never);
  const other = await storeSnapshot(here.directory, { ...named, id: 'bbbb1111', content: 'else\n' });
  await copyFile(here.repository.object(other.tables[0]?.file as never).path, object.path);
  const verified = await verify(here.context, { target: 'app', snapshot: 'aaaa0000', repair: true });
  expect(verified).toMatchObject({ ok: false, repaired: [], problems: [expect.stringContaining('public.items')] });
  expect(verified.lost.map(({ id }) => id).sort()).toEqual(['aaaa0000', 'cccc2222']);
});
