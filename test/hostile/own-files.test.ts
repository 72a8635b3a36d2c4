import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { reportWorkingDirectory } from '../../src/operations/configuration/check/check.ts';
import { applyRemove, planRemove } from '../../src/operations/remove/remove.ts';
import { listServers } from '../../src/operations/servers/list/list.ts';
import { localRepository } from '../../src/operations/snapshots/local-repository.ts';
import { findSnapshot } from '../../src/operations/snapshots/snapshots.ts';
import { exportSnapshot } from '../../src/operations/snapshots/transfer/export.ts';
import { importSnapshot } from '../../src/operations/snapshots/transfer/import.ts';
import { identityOf } from '../../src/process/process-identity.ts';
import { createRepository } from '../../src/repository/repository.ts';
import { createStaging, liveStagings } from '../../src/repository/staging.ts';
import { createFolder, type Folder } from '../../src/repository/store/folder.ts';
import { createLocks } from '../../src/repository/store/locks.ts';
import { temporaryFolder } from '../helpers/postgres/postgres-server.ts';
import { type Machine, machine } from '../helpers/storage/machine.ts';
import { storeSnapshot } from '../helpers/storage/stored-snapshot.ts';

const DAY = 24 * 60 * 60 * 1000;

/** Of no process: Linux counts up to 2^22. */
const DEAD = 4_194_999;
const NOWHERE = { provider: 'minio', bucket: 'none', endpoint: 'http://127.0.0.1:1' } as const;
const named = { target: 'app', id: 'aaaa0000', created_at: '2026-01-01T00:00:00.000Z', content: 'one\n' };

let folder: Awaited<ReturnType<typeof temporaryFolder>>;

beforeEach(async () => {
  folder = await temporaryFolder();
});

afterEach(() => folder[Symbol.asyncDispose]());

async function plant(root: string, files: string[], age = 3 * DAY): Promise<void> {
  const then = new Date(Date.now() - age);
  for (const file of files) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), 'of somebody else');
    await utimes(join(root, file), then, then);
  }
}

async function there(root: string, files: string[]): Promise<string[]> {
  const found = await Promise.all(files.map((file) => stat(join(root, file)).catch(() => null)));
  return files.filter((_, at) => found[at]);
}

/** What a project may keep under names that are almost ours. */
const FOREIGN = [
  'staging/main.tf',
  'staging/4194999-deadbeef/main.tf',
  'staging/4194999/main.tf',
  'staging/4194999-DEADBEEF/owner.json',
  'objects/models/cube.obj',
  `objects/aa/${'a'.repeat(63)}`,
  `objects/aa/${'b'.repeat(64)}`,
  `objects/AA/${'A'.repeat(64)}`,
  `objects/aa/${'a'.repeat(64)}.bak`,
  `objects/aa/deeper/${'a'.repeat(64)}`,
  'objects/aa/draft.tmp',
  'objects/models/cube.123-0badcafe.tmp',
  'snapshots/draft.123-0badcafe.tmp',
  'src/draft.tmp',
  'src/draft.123-0badcafe.tmp',
  'draft.123-0badcafe.tmp',
  'images/0123456789abcdef/data/PG_VERSION',
  'images/logo.png',
  'servers/0badcafe.json',
  'servers/tool-server-0badcafe/main.tf',
];

describe('folder with foreign files', () => {
  let one: Machine;

  beforeEach(async () => {
    one = await machine({ profile: NOWHERE, targets: { app: { snapshot: {} } } });
  });

  afterEach(() => one[Symbol.asyncDispose]());

  test('a sweep and the creation of a staging folder remove none of them', async () => {
    await storeSnapshot(one.directory, named);
    await plant(one.directory, FOREIGN);
    const own = [`objects/aa/${'a'.repeat(64)}`, `objects/aa/${'a'.repeat(64)}.123-0badcafe.tmp`];
    await plant(one.directory, own);
    await (await one.repository.stage())[Symbol.asyncDispose]();
    await applyRemove(one.context, await planRemove(one.context, { target: 'app', snapshot: 0 }));
    expect((await listServers(one.context)).servers).toEqual([]);
    expect(await there(one.directory, FOREIGN)).toEqual(FOREIGN);
    expect(await there(one.directory, own)).toEqual([]);
  });

  test('a record of a server is taken only with a folder that the program makes', async () => {
    const dead = { ...(await identityOf()), pid: DEAD };
    const record = (id: string, directory: string, owner: object) => ({
      ...{
        format: 1,
        id,
        engine: 'postgres',
        target: 'app',
        snapshot: 'aaaa0000',
        database: 'app',
        port: null,
        url: null,
      },
      ...{ detached: true, created_at: '2026-01-01T00:00:00.000Z', directory, owner },
    });
    // Of another name, with other rights, of another host, and as the program makes it.
    const foreign = [join(one.directory, 'servers', 'tool-server'), join(folder.path, 'tool-server-00000001')];
    const elsewhere = join(folder.path, 'tool-server-00000002');
    const own = join(folder.path, 'tool-server-00000003');
    for (const [index, directory] of [...foreign, elsewhere, own].entries()) {
      await mkdir(directory, { recursive: true, mode: directory === foreign[1] ? 0o755 : 0o700 });
      const owner = directory === elsewhere ? { ...dead, host: 'elsewhere' } : dead;
      const file = join(one.directory, 'servers', `0000000${index}.json`);
      await writeFile(file, JSON.stringify(record(`0000000${index}`, directory, owner)));
    }
    expect((await listServers(one.context)).servers).toEqual([]);
    expect(await there('/', [...foreign, elsewhere, own])).toEqual([...foreign, elsewhere]);
    const left = ['00000000.json', '00000001.json', '00000002.json', 'tool-server'];
    expect((await readdir(join(one.directory, 'servers'))).sort()).toEqual(left);
  });

  test.each([
    ['src/main.ts'],
    ['staging/main.tf'],
    ['objects/models/cube.obj'],
    ['notes.txt'],
    ['snapshots/disk.json'],
  ])('%s: it is refused as a working directory, and stays as it is', async (file) => {
    const work = await machine({ profile: NOWHERE, targets: { app: { snapshot: {} } } });
    await using _work = work;
    await storeSnapshot(work.directory, named);
    const exported = join(folder.path, 'app.zip');
    await exportSnapshot(work.context, { target: 'app', file: exported });
    await plant(one.directory, [file, 'tool.yml']);
    const refusal = { code: 'working_directory_foreign', exit: 3 };
    await expect(importSnapshot(one.context, { file: exported })).rejects.toMatchObject(refusal);
    expect((await readdir(one.directory)).sort()).toEqual([file.split('/')[0], 'tool.yml'].sort());
    expect(await reportWorkingDirectory(one.directory)).toMatchObject({ ok: false, error: expect.any(String) });
  });

  test('one with our layout and without the mark is adopted, whatever else is in it; an empty one is marked', async () => {
    await storeSnapshot(one.directory, named);
    await plant(one.directory, ['src/main.ts']);
    const exported = join(folder.path, 'app.zip');
    await exportSnapshot(one.context, { target: 'app', file: exported });
    expect(await readdir(one.directory)).toContain('tool-storage.txt');
    await using empty = await machine({ profile: NOWHERE, targets: { app: { snapshot: {} } } });
    await plant(empty.directory, ['tool.yml', 'logs/tool.log']);
    await importSnapshot(empty.context, { file: exported });
    expect(await readdir(empty.directory)).toContain('tool-storage.txt');
    // With the mark it may hold anything.
    await plant(empty.directory, ['notes.txt']);
    await importSnapshot(empty.context, { file: exported });
  });

  test('one with what a check remembers and with configured query files is ours, and no other SQL files are', async () => {
    const query_file = join(one.directory, 'sanitize.sql');
    const below = join(one.directory, 'queries/shop.sql');
    const targets = { app: { snapshot: {}, sanitize: { query_file } }, shop: { sanitize: { query_file: below } } };
    await using work = await machine({ profile: NOWHERE, targets });
    const { settings } = work.context.configuration;
    const context = {
      ...work.context,
      configuration: { ...work.context.configuration, settings: { ...settings, working_directory: one.directory } },
    };
    await plant(one.directory, ['identities.json', 'identities.json.0badcafe.tmp', 'sanitize.sql', 'queries/shop.sql']);
    const stage = async () => (await localRepository(context).stage())[Symbol.asyncDispose]();
    await plant(one.directory, ['backup.sql']);
    await expect(stage()).rejects.toMatchObject({ code: 'working_directory_foreign' });
    await rm(join(one.directory, 'backup.sql'));
    await stage();
    expect(await readdir(one.directory)).toContain('tool-storage.txt');
  });

  test('an id that two snapshots begin with is refused, and a whole one is not', async () => {
    await storeSnapshot(one.directory, named);
    await storeSnapshot(one.directory, { ...named, id: 'aaaa0001' });
    await storeSnapshot(one.directory, { ...named, id: 'bbbb0000' });
    const found = async (snapshot: string) => (await findSnapshot(one.context, { target: 'app', snapshot })).row.id;
    await expect(found('aaaa')).rejects.toMatchObject({ code: 'name_ambiguous', exit: 2 });
    await expect(found('')).rejects.toMatchObject({ code: 'snapshot_missing' });
    await expect(found('cccc')).rejects.toMatchObject({ code: 'snapshot_missing' });
    expect(await Promise.all([found('aaaa0001'), found('aaaa0000'), found('b')])).toEqual([
      'aaaa0001',
      'aaaa0000',
      'bbbb0000',
    ]);
    await storeSnapshot(one.directory, { ...named, created_at: '2026-01-02T00:00:00.000Z' });
    await expect(found('aaaa0000')).rejects.toMatchObject({ code: 'name_ambiguous' });
  });
});

describe('staging folders', () => {
  const root = (): string => join(folder.path, 'staging');

  /** A staging folder of this process, as one of another host or another process would be. */
  async function stagingOf(
    change: Record<string, unknown>,
    { pid, silent }: { pid: number; silent: number },
  ): Promise<string> {
    const made = (await createStaging(root())).path('');
    const name = basename(made).replace(/^\d+/, String(pid));
    const directory = join(root(), name);
    await rename(made, directory);
    const owner = join(directory, 'owner.json');
    await writeFile(owner, JSON.stringify({ ...JSON.parse(await readFile(owner, 'utf8')), pid, ...change }));
    const then = new Date(Date.now() - silent);
    await utimes(owner, then, then);
    return name;
  }

  test.each([
    { of: 'another host that shows signs of life', change: { host: 'elsewhere' }, pid: DEAD, silent: 0, stays: true },
    { of: 'another host, silent for a day', change: { host: 'elsewhere' }, pid: DEAD, silent: 2 * DAY, stays: false },
    { of: 'a process that has ended', change: {}, pid: DEAD, silent: 0, stays: false },
    {
      of: 'a process whose number another has',
      change: { process: 'boot 1' },
      pid: process.pid,
      silent: 0,
      stays: false,
    },
  ])('one of $of stays only while it may be alive', async ({ change, stays, ...given }) => {
    const name = await stagingOf(change, given);
    expect(await liveStagings(root())).toBe(stays ? 1 : 0);
    await (await createStaging(root()))[Symbol.asyncDispose]();
    expect(await readdir(root())).toEqual(stays ? [name] : []);
  });
});

describe('a sweep looks again before each removal', () => {
  const old = `objects/aa/${'a'.repeat(64)}`;
  const other = `objects/bb/${'b'.repeat(64)}`;
  let store: Folder;

  beforeEach(async () => {
    store = createFolder(folder.path);
    await plant(folder.path, [old, other]);
  });

  /** A store in which something happens while the sweep waits for the list of the objects. */
  function meanwhile(event: () => Promise<unknown>): Folder {
    const list: Folder['list'] = async (prefix) => {
      const listed = await store.list(prefix);
      if (prefix === 'objects') await event();
      return listed;
    };
    return { ...store, list };
  }

  test('an object that a build has renewed meanwhile stays', async () => {
    const swept = createRepository(
      meanwhile(() => store.renew(old)),
      () => {},
    );
    await swept.sweep(new Date());
    expect(await store.present([old, other])).toEqual(new Set([old]));
  });

  test('an object that a new manifest names stays, and all stay when that cannot be read', async () => {
    const sha256 = 'a'.repeat(64);
    const manifest = {
      ...{ format: 1, id: 'aaaa0000', target: 'app', created_at: '2026-01-01T00:00:00.000Z', engine: 'postgres' },
      ...{ server_version: '15', tool_version: '15', sanitized: false, note: null, schemas: [], tables: [] },
      ...{ files: [{ name: 'toc.dat', sha256, bytes: 1, stored_bytes: 1 }], added_bytes: 1, details: {} },
    } as Parameters<ReturnType<typeof createRepository>['write']>[0];
    let looked = 0;
    const find: Folder['find'] = async (key) => {
      looked += 1;
      return await store.find(key);
    };
    const late = { ...meanwhile(async () => {}), find };
    const catalog = createRepository(late, () => {});
    // Comes when the manifests have been read once: the first look at whether to go on.
    await catalog.sweep(new Date(), async () => {
      await catalog.write(manifest);
      return true;
    });
    expect(await store.present([old, other])).toEqual(new Set([old]));
    expect(looked).toBe(1);
    await plant(folder.path, [other]);
    await catalog.sweep(new Date(), async () => {
      await plant(folder.path, ['snapshots/app/20260102T000000000Z-bbbb1111.json']);
      return true;
    });
    expect(await store.present([other])).toEqual(new Set([other]));
  });

  test('a sweep removes nothing once a run has begun to stage', async () => {
    await using one = await machine({ profile: NOWHERE, targets: { app: { snapshot: {} } } });
    await plant(one.directory, [old]);
    const catalog = createRepository(createFolder(one.directory), () => {});
    const isQuiet = async (): Promise<boolean> => (await liveStagings(join(one.directory, 'staging'))) === 0;
    await using _staging = await one.repository.stage();
    await catalog.sweep(new Date(), isQuiet);
    expect(await one.repository.sweep(new Date())).toBe(0);
    expect(await there(one.directory, [old])).toEqual([old]);
  });

  test('a sweep that the machine has slept through ends, and so does one that a push did not wait for', async () => {
    const { signal } = new AbortController();
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      const answers = await createLocks(store, { signal, report: () => {} }).whileSweeping(async (mayGoOn) => {
        const before = await mayGoOn();
        vi.setSystemTime(Date.now() + 60 * 60 * 1000);
        return [before, await mayGoOn()];
      });
      expect(answers).toEqual([true, false]);
    } finally {
      vi.useRealTimers();
    }
    const pushed = await createLocks(store, { signal, report: () => {} }).whileSweeping(async (mayGoOn) => {
      await store.write(`locks/push-${'0'.repeat(16)}`, 'going on\n');
      return await mayGoOn();
    });
    expect(pushed).toBe(false);
  });

  test('a push that the machine has slept through for more than a day ends before it relies on anything', async () => {
    const { signal } = new AbortController();
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      const pushing = createLocks(store, { signal, report: () => {} }).whilePushing(async (renew) => {
        vi.setSystemTime(Date.now() + 2 * DAY);
        await renew();
      });
      await expect(pushing).rejects.toMatchObject({ code: 'push_expired' });
    } finally {
      vi.useRealTimers();
    }
  });

  test('foreign locks stay at any age, and block nothing', async () => {
    const foreign = ['locks/terraform.tfstate.lock', 'locks/sweep-of-the-chimney', 'locks/push-notifications'];
    await plant(folder.path, foreign);
    const { signal } = new AbortController();
    expect(await createLocks(store, { signal, report: () => {} }).whileSweeping(async () => 'swept')).toBe('swept');
    expect(await there(folder.path, foreign)).toEqual(foreign);
  });
});
