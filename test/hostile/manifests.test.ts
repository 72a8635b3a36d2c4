import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { archiveDetails } from '../../src/engines/postgres/dump/archive.ts';
import { createLocalRepository, type LocalRepository } from '../../src/repository/local-repository.ts';
import { type Manifest, manifestText, parseManifest } from '../../src/repository/manifest/manifest.ts';
import { manifestKey } from '../../src/repository/repository.ts';
import { createFolder } from '../../src/repository/store/folder.ts';
import type { RunEvent } from '../../src/results/events.ts';
import { temporaryFolder } from '../helpers/postgres/postgres-server.ts';
import { storeSnapshot } from '../helpers/storage/stored-snapshot.ts';

const file = { name: '3456.dat', sha256: 'a'.repeat(64), bytes: 10, stored_bytes: 4 };

const MANIFEST: Manifest = {
  ...{ format: 1, id: 'aaaa0000', target: 'app', created_at: '2026-11-21T00:00:00.000Z', engine: 'postgres' },
  ...{ server_version: '15.18', tool_version: '15.18', sanitized: false, note: null, schemas: ['public'] },
  tables: [{ name: 'public.items', rows: 1, file }],
  files: [{ ...file, name: 'toc.dat' }],
  added_bytes: 4,
  details: {
    schemas: [{ oid: 2200, name: 'public' }],
    data: { '3456.dat': { schema: 'public', table: 'items', columns: ['id'], of_extension: false } },
    extensions: [],
    roles: [],
    locale: { encoding: 'UTF8', collate: 'C', ctype: 'C', provider: 'c', icu_locale: null },
    settings: ['search_path=public'],
    inventory: { objects: { table: ['public.items'] }, sequences: [] },
    left_out: [],
  },
};

const { details } = MANIFEST;

/** Each is said by somebody who can write to a bucket. */
const REFUSED: [string, Record<string, unknown>][] = [
  ['an id that leaves its folder', { id: '../../outside' }],
  ['an id of another length', { id: 'aaaa00001' }],
  ['an id that is no text', { id: 12345678 }],
  ['a time that leaves its folder', { created_at: '../../../outside' }],
  ['a time in another zone', { created_at: '2026-11-21T00:00:00+01:00' }],
  ['a day that no calendar has', { created_at: '2026-02-30T00:00:00.000Z' }],
  ['an original that is no id', { sanitized_of: '../../x' }],
  ['a target with a line feed', { target: 'app\n' }],
  ['a target that is no Unicode', { target: 'app\ud800' }],
  ['no target', { target: '' }],
  ['a version with an escape sequence', { server_version: '15\x1b[2J' }],
  ['a schema with NUL', { schemas: ['public\0'] }],
  ['a table with a line feed', { tables: [{ name: 'public.a\n\\! touch x', rows: 1, file }] }],
  ...['../../outside', '/etc/passwd', 'a/b', '..', '.', '', '.hidden', 'a..b', 'a\\b', 'a\0b', 'a b', 'ü.dat'].map(
    (name): [string, Record<string, unknown>] => [
      `a file called ${JSON.stringify(name)}`,
      { files: [{ ...file, name }] },
    ],
  ),
  ['a file called like what every object has', { files: [{ ...file, name: '__proto__' }] }],
  ['a file called constructor', { files: [{ ...file, name: 'constructor' }] }],
  ['two files of the same name', { files: [file] }],
  ['a part of the same name', { tables: [{ name: 'public.items', rows: 1, file, parts: [file] }], files: [] }],
  ['an object that leaves its folder', { files: [{ ...file, name: 'b', sha256: `../../${'a'.repeat(58)}` }] }],
  ['less than no bytes', { files: [{ ...file, name: 'b', bytes: -1 }] }],
  ['half a byte', { files: [{ ...file, name: 'b', stored_bytes: 0.5 }] }],
  ['more bytes than a number holds', { files: [{ ...file, name: 'b', bytes: 2 ** 53 }] }],
  ['rows that are no number', { tables: [{ name: 'public.items', rows: '1', file }] }],
  ['endless bytes', { added_bytes: Number.POSITIVE_INFINITY }],
  ['another format', { format: 3 }],
  [
    'parts that a program of format 1 would not load',
    { tables: [{ name: 'public.items', rows: 1, file, parts: [{ ...file, name: 'b' }] }] },
  ],
  ['another engine', { engine: 'oracle' }],
  ['details of another shape', { details: { ...details, settings: 'search_path=public' } }],
  ['a setting with a line feed', { details: { ...details, settings: ['search_path=public\n;\n\\! touch x'] } }],
  ['a role with a line feed', { details: { ...details, roles: ['a\nb'] } }],
  ['rows of a file that leaves its folder', { details: { ...details, data: { '../x': {} } } }],
  ['an oid that is SQL', { details: { ...details, schemas: [{ oid: '1; DROP', name: 'public' }] } }],
  ['details of MySQL in a snapshot of PostgreSQL', { details: { data: { 'a.rows': { table: 'a', columns: ['b'] } } } }],
];

test.each(REFUSED)('a manifest with %s is refused, and the reason quotes nothing of it', (_, change) => {
  // JSON.stringify has no number without an end.
  const text = JSON.stringify({ ...MANIFEST, ...change }).replace('"added_bytes":null', '"added_bytes":1e999');
  let message = '';
  try {
    parseManifest(text);
  } catch (error) {
    message = (error as Error).message;
  }
  expect(message).not.toBe('');
  expect(message).not.toMatch(/\p{Cc}|outside|touch|\.\.\//u);
});

test('a manifest of more than 64 MB is refused before it is parsed', () => {
  const note = 'x'.repeat(65 * 1024 * 1024);
  expect(() => parseManifest(JSON.stringify({ ...MANIFEST, note }))).toThrow('too large');
});

test('a database with too many objects for a manifest is refused with a hint', () => {
  const note = 'x'.repeat(65 * 1024 * 1024);
  expect(() => manifestText({ ...MANIFEST, note })).toThrow(expect.objectContaining({ code: 'manifest_too_large' }));
});

test('brackets without an end are refused like any other text', () => {
  expect(() => parseManifest('['.repeat(5_000_000))).toThrow('not valid JSON');
  const deep = `{"details":{"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  expect(() => parseManifest(JSON.stringify(MANIFEST).replace(/^\{/, `${deep},`))).not.toThrow(RangeError);
});

test('keys that a later version adds are no reason to refuse a manifest', () => {
  expect(parseManifest(JSON.stringify({ ...MANIFEST, later: { a: 1 } }))).toEqual(MANIFEST);
});

test('names of a database are restored unchanged, and a manifest has no control characters', () => {
  const names = ['a\nb', 'tab\there', '\x1b[2J', '\u241b', '\u241b000a', 'ü🐘', '\x7f\x85', 'o\'hara"; --'];
  const columns = names.map((name) => `${name}.column`);
  const hostile: Manifest = {
    ...MANIFEST,
    schemas: names,
    tables: names.map((name, at) => ({ name: `public.${name}`, rows: 1, file: { ...file, name: `${at}.dat` } })),
    details: { ...details, data: { '0.dat': { schema: 'public', table: names[0], columns, of_extension: false } } },
  };
  const text = manifestText(hostile);
  expect(text).not.toMatch(/\\[ntbfr]|\\u00|\x7f|\x85/);
  expect(parseManifest(text)).toEqual(hostile);
  expect(archiveDetails(parseManifest(text)).data['0.dat']?.columns).toEqual(columns);
});

describe('rejects paths in a working directory', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let directory: string;
  let events: RunEvent[];
  let repository: LocalRepository;

  beforeEach(async () => {
    folder = await temporaryFolder();
    directory = join(folder.path, 'work');
    events = [];
    repository = createLocalRepository({ directory, report: (event) => events.push(event) });
  });

  afterEach(() => folder[Symbol.asyncDispose]());

  async function plant(key: string, manifest: unknown): Promise<string> {
    const path = join(directory, key);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, JSON.stringify(manifest));
    return path;
  }

  test('a manifest in the place of another is not listed, so that removing it removes no other', async () => {
    const whole = await storeSnapshot(directory, {
      ...{ target: 'app', id: 'aaaa0000', created_at: '2026-01-01T00:00:00.000Z', content: 'one\n' },
    });
    await plant('snapshots/app/20260102T000000000Z-bbbb1111.json', whole);
    expect((await repository.list('app')).map(({ id }) => id)).toEqual(['aaaa0000']);
    expect(events).toMatchObject([{ event: 'warning', code: 'manifest_damaged' }]);
  });

  test('a manifest writes and removes files below the folder only', async () => {
    const victim = join(folder.path, 'outside.json');
    await writeFile(victim, 'kept');
    for (const id of ['/../../../../outside', '/../../objects/aa/x', '../../../../../../outside']) {
      const hostile = { ...MANIFEST, id };
      await expect(repository.remove(hostile)).rejects.toMatchObject({ code: 'content_refused', exit: 5 });
      await expect(repository.write(hostile)).rejects.toMatchObject({ code: 'content_refused' });
    }
    expect(await readFile(victim, 'utf8')).toBe('kept');
  });

  test.each(['../outside', '/outside', 'objects/../../outside', 'objects\0', '..', ''])(
    'a folder touches nothing by the key %j',
    async (key) => {
      const store = createFolder(directory);
      await writeFile(join(folder.path, 'outside'), 'kept');
      const { signal } = new AbortController();
      const transfer = { signal, onBytes: () => {} };
      const source = join(folder.path, 'source');
      await writeFile(source, 'new');
      const attempts = [
        () => store.read(key),
        () => store.write(key, 'new'),
        () => store.list(key),
        () => store.find(key),
        () => store.present([key]),
        () => store.put(key, source, transfer),
        () => store.get(key, join(folder.path, 'got'), transfer),
        () => store.adopt(source, key),
        () => store.renew(key),
        () => store.remove(key),
      ];
      for (const attempt of attempts) {
        await expect((async () => await attempt())()).rejects.toMatchObject({ code: 'content_refused' });
      }
      expect(await readFile(join(folder.path, 'outside'), 'utf8')).toBe('kept');
    },
  );

  test('a manifest that was made before times had milliseconds is found under its key', async () => {
    const old = { ...MANIFEST, created_at: '2026-11-21T00:00:00Z' };
    await plant(manifestKey(old), old);
    expect(await repository.list('app')).toEqual([old]);
  });
});
