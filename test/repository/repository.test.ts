import { createHash } from 'node:crypto';
import { readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLocalRepository, type LocalRepository } from '../../src/repository/local-repository.ts';
import type { Manifest, ManifestFile } from '../../src/repository/manifest/manifest.ts';
import type { RunEvent } from '../../src/results/events.ts';
import { temporaryFolder } from '../helpers/postgres/postgres-server.ts';

const DAY = 24 * 60 * 60 * 1000;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let events: RunEvent[];
let repository: LocalRepository;

beforeEach(async () => {
  folder = await temporaryFolder();
  events = [];
  repository = createLocalRepository({ directory: folder.path, report: (event) => events.push(event) });
});

afterEach(() => folder[Symbol.asyncDispose]());

function file(digit: string): ManifestFile {
  return { name: `${digit}.dat`, sha256: digit.repeat(64), bytes: 10, stored_bytes: 4 };
}

/** Eight digits for each word, so that a test can speak of snapshots by names. */
function idOf(word: string): string {
  return createHash('sha256').update(word).digest('hex').slice(0, 8);
}

function manifest(
  word: string,
  { target = 'app', at = '2026-11-21T00:00:00.000Z', files = [file('a')] } = {},
): Manifest {
  return {
    ...{
      format: 1,
      id: idOf(word),
      target,
      created_at: at,
      engine: 'postgres',
      server_version: '15.1',
      tool_version: '15.1',
    },
    ...{ sanitized: false, note: null, schemas: ['public'], tables: [], files, added_bytes: 4, details: {} },
  };
}

async function store(digit: string, age = 0): Promise<void> {
  const path = join(folder.path, `packed-${digit}`);
  await writeFile(path, digit);
  await repository.store(path, { sha256: digit.repeat(64) });
  const then = new Date(Date.now() - age);
  await utimes(repository.object(file(digit)).path, then, then);
}

async function objects(): Promise<string[]> {
  return (await readdir(join(folder.path, 'objects'), { recursive: true })).filter((name) => name.includes('/')).sort();
}

test('snapshots are listed newest first', async () => {
  await repository.write(manifest('old', { at: '2026-11-20T10:00:00.000Z' }));
  await repository.write(manifest('new', { at: '2026-11-21T09:00:00.000Z' }));
  await repository.write(manifest('other', { target: 'other' }));
  expect((await repository.list('app')).map(({ id }) => id)).toEqual(['new', 'old'].map(idOf));
  expect(await repository.takenAt('app')).toEqual(['2026-11-21T09:00:00.000Z', '2026-11-20T10:00:00.000Z']);
});

test('a manifest that is damaged is warned of and hides no other', async () => {
  await repository.write(manifest('whole'));
  await writeFile(join(folder.path, 'snapshots', 'app', '20261122T000000000Z-broken.json'), '{"format": 1');
  expect((await repository.list('app')).map(({ id }) => id)).toEqual(['whole'].map(idOf));
  expect(events).toEqual([expect.objectContaining({ event: 'warning', code: 'manifest_damaged' })]);
});

test('a target may be called anything and stays inside', async () => {
  for (const target of ['../../outside', '.', 'a/b', 'ünïcode 🐘']) {
    await repository.write(manifest('one', { target }));
    expect((await repository.list(target)).map((found) => found.target)).toEqual([target]);
  }
  expect((await readdir(folder.path)).sort()).toEqual(['snapshots']);
});

test('an object is taken over once', async () => {
  await store('a');
  const again = join(folder.path, 'again');
  await writeFile(again, 'a');
  expect(await repository.store(again, { sha256: 'a'.repeat(64) })).toBe(false);
  expect(await readdir(folder.path)).not.toContain('again');
});

test('ownBytes counts objects of one snapshot only', async () => {
  const shared = manifest('shared', { files: [file('a')] });
  const both = manifest('both', { files: [file('a'), file('b')] });
  await repository.write(shared);
  await repository.write(both);
  expect(await repository.ownBytes([both])).toBe(4);
  expect(await repository.ownBytes([shared])).toBe(0);
});

test('a sweep removes unreferenced objects older than a day, and nothing else', async () => {
  await store('a', 2 * DAY);
  await store('b', 2 * DAY);
  await store('c', DAY / 2);
  await repository.write(manifest('names a'));
  expect(await repository.sweep(new Date())).toBe(1);
  expect(await objects()).toEqual([`aa/${'a'.repeat(64)}`, `cc/${'c'.repeat(64)}`]);
});

test('a sweep removes nothing while a manifest is damaged', async () => {
  await store('a', 2 * DAY);
  await repository.write(manifest('named'));
  const [name] = await readdir(join(folder.path, 'snapshots', 'app'));
  const path = join(folder.path, 'snapshots', 'app', name ?? '');
  const whole = await readFile(path, 'utf8');
  await writeFile(path, whole.replace('"format": 1', '"format": 2'));
  expect(await repository.sweep(new Date())).toBe(0);
  await writeFile(path, whole);
  expect((await repository.list('app')).map(({ id }) => id)).toEqual(['named'].map(idOf));
  expect(await objects()).toEqual([`aa/${'a'.repeat(64)}`]);
});

test('an object that is stored again is young again', async () => {
  await store('a', 2 * DAY);
  const again = join(folder.path, 'again');
  await writeFile(again, 'a');
  await repository.store(again, { sha256: 'a'.repeat(64) });
  expect(await repository.sweep(new Date())).toBe(0);
});

test('a rewritten manifest keeps its key, and a removed one is gone', async () => {
  const first = manifest('first', { at: '2026-11-20T10:00:00.000Z' });
  const second = manifest('second', { at: '2026-11-20T10:00:00.001Z' });
  for (const written of [first, second, { ...first, note: 'kept' }]) await repository.write(written);
  expect((await repository.list('app')).map(({ id, note }) => [id, note])).toEqual([
    [idOf('second'), null],
    [idOf('first'), 'kept'],
  ]);
  await repository.remove(second);
  await repository.remove(second);
  expect((await repository.list('app')).map(({ id }) => id)).toEqual(['first'].map(idOf));
});

test('the query of a snapshot stays until the snapshot is removed, and no id leads out of its folder', async () => {
  const [kept, gone] = [manifest('kept'), manifest('gone')];
  for (const each of [kept, gone]) {
    await repository.write(each);
    await repository.writeQuery(each.id, 'UPDATE a SET b = 1;');
  }
  await repository.remove(gone);
  await repository.sweep(new Date());
  expect(await repository.listQueries()).toEqual(
    new Map([[kept.id, join(folder.path, 'query-texts', `${kept.id}.sql`)]]),
  );
  await expect(repository.writeQuery('../../0', '')).rejects.toMatchObject({ code: 'content_refused' });
});

test('a target whose name begins like another has its own snapshots only', async () => {
  await repository.write(manifest('one', { target: 'app' }));
  await repository.write(manifest('two', { target: 'app2' }));
  await repository.write(manifest('three', { target: 'app/2' }));
  expect((await repository.list('app')).map(({ id }) => id)).toEqual(['one'].map(idOf));
  expect(await repository.list('ap')).toEqual([]);
});

test('a partial manifest is not listed, and files are readable by their owner only', async () => {
  await repository.write(manifest('whole'));
  const snapshots = join(folder.path, 'snapshots', 'app');
  await writeFile(join(snapshots, '20261122T000000000Z-half.json.123.tmp'), '{');
  expect((await repository.list('app')).map(({ id }) => id)).toEqual(['whole'].map(idOf));
  expect(events).toEqual([]);
  const [name] = (await readdir(snapshots)).filter((file) => file.endsWith('.json'));
  expect((await stat(join(snapshots, name ?? ''))).mode & 0o777).toBe(0o600);
  expect((await stat(snapshots)).mode & 0o777).toBe(0o700);
});

test('a sweep removes nothing during a build', async () => {
  await store('b', 2 * DAY);
  {
    await using _building = await repository.stage();
    expect(await repository.sweep(new Date())).toBe(0);
  }
  expect(await repository.sweep(new Date())).toBe(1);
});
