import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { clearEnvelope, type Envelope, sealedEnvelope } from '../../../src/repository/encryption/envelope.ts';
import { openSharedFolder } from '../../../src/repository/store/shared-folder.ts';
import type { Store } from '../../../src/repository/store/store.ts';
import { testStore } from '../../contracts/store.ts';
import { temporaryFolder } from '../../helpers/postgres/postgres-server.ts';

const sealed = sealedEnvelope('ab'.repeat(16));

async function openIn(folder: string, envelope: Envelope): Promise<Store> {
  const path = join(folder, 'shared');
  await mkdir(path, { recursive: true });
  return openSharedFolder({ profile: 'nas', path, envelope });
}

describe.each([
  { what: 'clear', envelope: clearEnvelope },
  { what: 'encrypted', envelope: sealed },
])('a shared folder, $what', ({ envelope }) => {
  testStore({ create: (folder) => openIn(folder, envelope), seesBytes: true });
});

describe('a shared folder', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let store: Store;
  let path: string;
  const transfer = { signal: new AbortController().signal, onBytes: () => {} };

  beforeEach(async () => {
    folder = await temporaryFolder();
    store = await openIn(folder.path, clearEnvelope);
    path = store.name;
  });

  afterEach(() => folder[Symbol.asyncDispose]());

  test('a missing folder is never made', async () => {
    await rm(path, { recursive: true });
    const missing = { code: 'bucket_missing', message: `Folder not found: ${path}` };
    await expect(store.list('snapshots')).rejects.toMatchObject(missing);
    await expect(store.write('index/app.json', '{}')).rejects.toMatchObject(missing);
    await expect(stat(path)).rejects.toThrow('ENOENT');
  });

  test('a folder that vanishes between two calls is not made again', async () => {
    await store.write('index/app.json', '{}');
    await rm(path, { recursive: true });
    await expect(store.write('index/app.json', '{}')).rejects.toMatchObject({ code: 'bucket_missing' });
    await expect(stat(path)).rejects.toThrow('ENOENT');
  });

  test('a file in place of the folder is named', async () => {
    await rm(path, { recursive: true });
    await writeFile(path, '');
    await expect(store.list('snapshots')).rejects.toMatchObject({ code: 'bucket_missing' });
  });

  test('files and folders get the permissions of the folder, whatever the umask; a pulled file is private', async () => {
    await chmod(path, 0o2770);
    const umask = process.umask(0o077);
    try {
      await store.write('index/app.json', '{}');
      const source = join(folder.path, 'source');
      await writeFile(source, 'content', { mode: 0o600 });
      await store.put('objects/aa/one', source, transfer);
    } finally {
      process.umask(umask);
    }
    const modeOf = async (name: string) => (await stat(join(path, name))).mode & 0o7777;
    expect(await modeOf('index/app.json')).toBe(0o660);
    expect(await modeOf('objects/aa/one')).toBe(0o660);
    expect(await modeOf('objects/aa')).toBe(0o2770);
    const got = join(folder.path, 'got');
    await store.get('objects/aa/one', got, transfer);
    expect((await stat(got)).mode & 0o777).toBe(0o600);
  });

  test('a link or a pipe of somebody else is not followed', async () => {
    const secret = join(folder.path, 'secret');
    await writeFile(secret, 'a secret of this machine');
    await mkdir(join(path, 'objects/aa'), { recursive: true });
    await mkdir(join(path, 'index'));
    await symlink(secret, join(path, 'objects/aa/link'));
    await symlink(secret, join(path, 'index/link.json'));
    execFileSync('mkfifo', [join(path, 'index/pipe.json')]);
    const got = join(folder.path, 'got');
    for (const refused of [
      () => store.get('objects/aa/link', got, transfer),
      () => store.read('index/link.json'),
      () => store.read('index/pipe.json'),
    ]) {
      await expect(refused()).rejects.toMatchObject({ code: 'content_refused' });
    }
    await expect(stat(got)).rejects.toThrow('ENOENT');
    expect(await store.list('index')).toEqual([]);
    expect(await store.find('index/link.json')).toBeNull();
    await store.write('index/link.json', 'new');
    expect(await readFile(secret, 'utf8')).toBe('a secret of this machine');
    expect(await store.read('index/link.json')).toBe('new');
  });

  test('a linked folder in it leads nowhere: nothing is listed, read, written or removed through it', async () => {
    const victim = join(folder.path, 'victim');
    await mkdir(join(victim, 'aa'), { recursive: true });
    await writeFile(join(victim, 'aa/one'), 'mine');
    await symlink(victim, join(path, 'objects'));
    const source = join(folder.path, 'source');
    await writeFile(source, 'other');
    for (const refused of [
      () => store.list('objects'),
      () => store.find('objects/aa/one'),
      () => store.read('objects/aa/one'),
      () => store.present(['objects/aa/one']),
      () => store.get('objects/aa/one', join(folder.path, 'got'), transfer),
      () => store.put('objects/aa/one', source, transfer),
      () => store.remove('objects/aa/one'),
      () => store.removeUnfinished(new Date(Date.now() + 60_000)),
    ]) {
      await expect(refused()).rejects.toMatchObject({ code: 'content_refused' });
    }
    expect(await readFile(join(victim, 'aa/one'), 'utf8')).toBe('mine');
  });

  test('the working directory behind a link is refused', async () => {
    const working = join(folder.path, 'working');
    await mkdir(working);
    await rm(path, { recursive: true });
    await symlink(working, path);
    const same = openSharedFolder({ profile: 'nas', path, envelope: clearEnvelope, workingDirectory: working });
    await expect(same.list('snapshots')).rejects.toMatchObject({ code: 'storage_foreign' });
  });

  test('an encrypted folder shows neither names nor content', async () => {
    const encrypted = await openIn(folder.path, sealed);
    await encrypted.write('snapshots/customers/one.json', 'Zebediah Quux');
    const files = (await readdir(path, { recursive: true, withFileTypes: true })).filter((one) => one.isFile());
    expect(files).toHaveLength(1);
    for (const file of files) {
      const full = join(file.parentPath, file.name);
      expect(full).not.toContain('customers');
      expect(await readFile(full, 'latin1')).not.toContain('Zebediah');
    }
    expect(await store.list('snapshots')).toHaveLength(1);
    expect((await encrypted.list('snapshots')).map(({ key }) => key)).toEqual(['snapshots/customers/one.json']);
  });

  test('remains of a killed transfer to an encrypted folder are removed when old', async () => {
    const encrypted = await openIn(folder.path, sealed);
    await encrypted.write('objects/aa/one', 'x');
    const [name = ''] = await readdir(join(path, 'objects'));
    const [file = ''] = await readdir(join(path, 'objects', name));
    await writeFile(join(path, 'objects', name, `${file}.99-0a0b.tmp`), 'half');
    await encrypted.removeUnfinished(new Date(Date.now() + 60_000));
    expect(await readdir(join(path, 'objects', name))).toEqual([file]);
  });
});
