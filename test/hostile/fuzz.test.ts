import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { archiveDetails } from '../../src/engines/postgres/dump/archive.ts';
import { materialize } from '../../src/engines/postgres/restore/rows/fill.ts';
import { applyRemove, planRemove } from '../../src/operations/remove/remove.ts';
import { snapshotReader } from '../../src/operations/snapshots/snapshot-reader.ts';
import { listSnapshots } from '../../src/operations/snapshots/snapshots.ts';
import { exportSnapshot } from '../../src/operations/snapshots/transfer/export.ts';
import { importSnapshot } from '../../src/operations/snapshots/transfer/import.ts';
import { createLocalRepository } from '../../src/repository/local-repository.ts';
import type { Manifest } from '../../src/repository/manifest/manifest.ts';
import { createObjectPool, type ObjectPool } from '../../src/repository/objects/object-pool.ts';
import { manifestKey } from '../../src/repository/repository.ts';
import { objectKey } from '../../src/repository/store/keys.ts';
import type { Context } from '../../src/runtime/context.ts';
import { UserError } from '../../src/runtime/errors.ts';
import { fc } from '../helpers/fast-check.ts';
import { temporaryFolder, testContext } from '../helpers/postgres/postgres-server.ts';
import { storeTables } from '../helpers/storage/stored-snapshot.ts';
import { type Trials, trials } from '../helpers/trials.ts';

const manifests = trials('configurations/manifests');
const archives = trials('configurations/archives');
const objects = trials('configurations/objects');

const TIMEOUT = 30 * 60_000;

/**
 * A folder with a working directory in it, and files that nobody may touch around that. `work` is what a machine has,
 * `away` what another one imports to.
 */
let sandbox: Awaited<ReturnType<typeof temporaryFolder>>;
let pool: ObjectPool;
let manifest: Manifest;
let text: string;
let zip: Buffer;
let commands: string[];

const at = (...path: string[]): string => join(sandbox.path, ...path);

beforeAll(async () => {
  sandbox = await temporaryFolder();
  pool = createObjectPool(1);
  commands = [];
  await Promise.all(['template', 'around', 'runs'].map((name) => mkdir(at(name), { recursive: true })));
  await writeFile(at('around', 'kept.txt'), 'kept');
  await writeFile(at('outside.json'), 'kept');
  const stored = await storeTables(at('template'), {
    ...{ target: 'app', id: 'aaaa0000', created_at: '2026-01-01T00:00:00.000Z' },
    contents: { toc: 'PGDMP of a kind', blobs: 'a blob\n', items: '1\tone\n', large: 'x'.repeat(3 * 1024 * 1024) },
  });
  const [toc, blob, ...tables] = stored.tables;
  manifest = {
    ...stored,
    tables: tables.map((table) => ({ ...table })),
    files: [toc, blob].flatMap((table) => table?.file ?? []),
    details: {
      schemas: [{ oid: 2200, name: 'public' }],
      data: Object.fromEntries(
        tables.map(({ file, name }) => [
          file.name,
          { schema: 'public', table: name, columns: ['a'], of_extension: false },
        ]),
      ),
      ...{ extensions: [], roles: ['app'], settings: ['search_path=public'], left_out: [] },
      locale: { encoding: 'UTF8', collate: 'C', ctype: 'C', provider: 'c', icu_locale: null },
      inventory: { objects: { table: ['public.items'] }, sequences: [] },
    },
  };
  await createLocalRepository({ directory: at('template'), report: () => {} }).write(manifest);
  text = await readFile(at('template', manifestKey(manifest)), 'utf8');
  await exportSnapshot(contextOf(at('template')), { target: 'app', file: at('app.zip') });
  zip = await readFile(at('app.zip'));
}, TIMEOUT);

afterAll(async () => {
  await pool[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
});

afterEach(() => expect(commands.filter((command) => !command.startsWith('pg_restore --list --verbose '))).toEqual([]));

function contextOf(working_directory: string): Context {
  const context = testContext({ settings: { working_directory, targets: { app: { snapshot: {} } } } });
  const run: Context['runner']['run'] = async ({ file, args }) => {
    commands.push([file, ...args].join(' '));
    return { exitCode: 0, stdout: '', stderr: '' };
  };
  return { ...context, runner: { id: 'local', run, start: () => expect.fail('a program was started') } };
}

const ODD = [
  ...[
    '../../outside',
    '/tmp/outside',
    '..',
    '',
    'a/b',
    'a\\b',
    'toc.dat',
    'items.dat',
    'constructor',
    '__proto__',
    'app',
  ],
  ...[
    'a\0b',
    'a\n\\! touch outside',
    '\x1b[2J',
    '\u241b000a',
    '\ud800',
    "'; DROP DATABASE app; --",
    'x'.repeat(100_000),
  ],
  ...['aaaa0000', 'bbbb1111', 'a'.repeat(64), '2026-01-01T00:00:00.000Z', '2026-02-30T00:00:00Z', 'mysql', 'postgres'],
  ...[0, 1, -1, 0.5, 2 ** 53, 1e300, 10_000_000, null, true, [], {}, [[]], { name: 'public' }, { '../x': {} }],
];

type Json = Record<string, unknown>;

/** Every place in a value, as the object that holds it and the key. */
function placesIn(value: unknown): { holder: Json; key: string }[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => [{ holder: value as Json, key }, ...placesIn(item)]);
}

const change = fc.record({
  place: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  other: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  how: fc.constantFrom('replace', 'replace', 'replace', 'remove', 'copy', 'add'),
  odd: fc.constantFrom(...ODD),
});

const mutatedManifest = fc.array(change, { minLength: 1, maxLength: 4 }).map((changes) => {
  const mutated = JSON.parse(text);
  for (const { place, other, how, odd } of changes) {
    const places = placesIn(mutated);
    const [one, another] = [place, other].map((part) => places[Math.floor(part * places.length)]);
    if (!one || !another) continue;
    const { holder, key } = one;
    if (how === 'replace') holder[key] = odd;
    else if (how === 'copy') holder[key] = structuredClone(another.holder[another.key]);
    else if (how === 'add') holder[Array.isArray(holder) ? holder.length : String(odd)] = odd;
    else if (Array.isArray(holder)) holder.splice(Number(key), 1);
    else delete holder[key];
  }
  return JSON.stringify(mutated);
});

/** What a disk, a network or a person does to bytes. */
function mutatedBytes(whole: () => Buffer): fc.Arbitrary<Buffer> {
  const spot = fc.record({
    // Both ends have what says how long the rest is.
    where: fc.oneof(fc.constant(0), fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true })),
    off: fc.integer({ min: -200, max: 200 }),
    how: fc.constantFrom('flip', 'flip', 'flip', 'cut', 'insert', 'remove', 'double', 'ones'),
    by: fc.integer({ min: 1, max: 255 }),
  });
  return fc.array(spot, { minLength: 1, maxLength: 4 }).map((spots) => {
    let bytes = Buffer.from(whole());
    for (const { where, off, how, by } of spots) {
      const place = Math.min(bytes.length - 1, Math.max(0, Math.floor(where * bytes.length) + off));
      const [before, after] = [bytes.subarray(0, place), bytes.subarray(place)];
      if (bytes.length === 0) break;
      if (how === 'flip') bytes.writeUInt8(bytes.readUInt8(place) ^ by, place);
      else if (how === 'ones') bytes.fill(0xff, place, Math.min(bytes.length, place + 8));
      else if (how === 'cut') bytes = Buffer.from(before);
      else if (how === 'remove') bytes = Buffer.concat([before, after.subarray(by)]);
      else if (how === 'double') bytes = Buffer.concat([before, after.subarray(0, by), after]);
      else bytes = Buffer.concat([before, Buffer.alloc(by, by), after]);
    }
    return bytes;
  });
}

/** Every file of the sandbox but those below `runs`, with what is in it. */
async function around(): Promise<Record<string, string>> {
  const entries = await readdir(sandbox.path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const kept = files.filter((file) => !file.startsWith(`${at('runs')}/`));
  return Object.fromEntries(
    await Promise.all(kept.map(async (file) => [file, (await readFile(file)).toString('base64')])),
  );
}

/** Does it in a folder of its own: what it writes is below that, what it fails of is told, and nothing is left half. */
async function contained(act: (directory: string, context: Context) => Promise<void>): Promise<void> {
  const run = await mkdtemp(at('runs', 'run-'));
  const directory = join(run, 'work');
  await mkdir(directory);
  try {
    await act(directory, contextOf(directory));
  } catch (error) {
    expect(error).toBeInstanceOf(UserError);
    const { code, message, details, hint = '' } = error as UserError;
    expect(code).not.toBe('unexpected');
    expect([message, ...details, hint].join('')).not.toMatch(/\p{Cc}/u);
  }
  expect(await readdir(run)).toEqual(['work']);
  const own = ['objects', 'snapshots', 'staging', 'tool-storage.txt', 'history.jsonl'];
  expect(own).toEqual(expect.arrayContaining(await readdir(directory)));
  expect(await readdir(join(directory, 'staging')).catch(() => [])).toEqual([]);
  await rm(run, { recursive: true });
}

/** What a load does with the files of a snapshot, up to the server. */
async function layOut(context: Context, { manifest: one, directory }: { manifest: Manifest; directory: string }) {
  const repository = createLocalRepository({ directory, report: () => {} });
  const read = snapshotReader({ manifest: one, repository, pool, signal: context.signal });
  await using staging = await repository.stage();
  const details = archiveDetails(one);
  const tools = { pg_restore: 'pg_restore' };
  const work = await staging.folder('restore');
  const fill = { manifest: one, directory: work, read, tools, details, plan: { schemas: one.schemas } };
  await materialize(context, fill as never);
  expect((await readdir(join(work, 'archive'))).sort()).toEqual(one.files.map(({ name }) => name).sort());
  for (const { name, sha256 } of one.files) {
    const written = await readFile(join(work, 'archive', name));
    expect(createHash('sha256').update(written).digest('hex')).toBe(sha256);
  }
  for (const { file } of one.tables) for await (const frame of read(file)) expect(frame.length).toBeGreaterThan(0);
}

async function check<Case>(part: Trials, cases: fc.Arbitrary<Case>, act: (one: Case) => Promise<void>): Promise<void> {
  const before = await around();
  const property = fc.asyncProperty(cases, act);
  await part.each(({ run }) => fc.assert(property, run));
  expect(await around()).toEqual(before);
}

test(
  manifests.title('a mutated manifest is refused, or all that is read, written and removed by it is its own'),
  { timeout: manifests.timeout },
  () =>
    check(manifests, mutatedManifest, (mutated) =>
      contained(async (directory, context) => {
        await cp(at('template', 'objects'), join(directory, 'objects'), { recursive: true });
        const path = join(directory, manifestKey(manifest));
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, mutated);
        const repository = createLocalRepository({ directory, report: () => {} });
        for (const { id } of (await listSnapshots(context, 'app')).snapshots) {
          const [one] = await repository.list('app');
          if (one) await layOut(context, { manifest: one, directory });
          await applyRemove(context, await planRemove(context, { target: 'app', snapshot: id }));
        }
      }),
    ),
);

test(archives.title('a mutated zip is refused, or what is imported is whole'), { timeout: archives.timeout }, () =>
  check(
    archives,
    mutatedBytes(() => zip),
    (mutated) =>
      contained(async (directory, context) => {
        const file = join(dirname(directory), 'app.zip');
        await writeFile(file, mutated);
        try {
          await importSnapshot(context, { file });
        } finally {
          await rm(file);
        }
        const [one] = await createLocalRepository({ directory, report: () => {} }).list('app');
        if (!one) throw new Error('it was imported');
        await layOut(context, { manifest: one, directory });
      }),
  ),
);

test(objects.title('a mutated object is refused, or what is read of it is what was stored'), {
  timeout: objects.timeout,
}, async () => {
  const { sha256 } = manifest.files[0] ?? { sha256: '' };
  const whole = await readFile(at('template', objectKey(sha256)));
  await check(
    objects,
    mutatedBytes(() => whole),
    (mutated) =>
      contained(async (directory, context) => {
        await cp(at('template', 'objects'), join(directory, 'objects'), { recursive: true });
        await writeFile(join(directory, objectKey(sha256)), mutated);
        await layOut(context, { manifest, directory });
      }),
  );
});
