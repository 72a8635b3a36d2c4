import { generateKeyPairSync } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, test } from 'vitest';
import { COMMANDS } from '../../src/commands/registry.ts';
import { signingKey, signingKeyFile } from '../../src/config/signing-key.ts';
import { build } from '../../src/operations/build/build.ts';
import { ownKey } from '../../src/operations/key.ts';
import { applyLoad, planLoad } from '../../src/operations/load/load.ts';
import { loadQuestion } from '../../src/operations/load/text.ts';
import { applySanitize, planSanitize } from '../../src/operations/sanitize/sanitize.ts';
import { annotate } from '../../src/operations/snapshots/annotate/annotate.ts';
import { localRepository } from '../../src/operations/snapshots/local-repository.ts';
import { listSnapshots } from '../../src/operations/snapshots/snapshots.ts';
import { exportSnapshot } from '../../src/operations/snapshots/transfer/export.ts';
import { importSnapshot } from '../../src/operations/snapshots/transfer/import.ts';
import type { Manifest } from '../../src/repository/manifest/manifest.ts';
import { publicKeyText, signManifest, verifyManifest } from '../../src/repository/manifest/signature.ts';
import type { RunEvent } from '../../src/results/events.ts';
import type { Context } from '../../src/runtime/context.ts';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
  testContext,
} from '../helpers/postgres/postgres-server.ts';
import { runWith } from '../helpers/terminal/cli-host.ts';

const file = { name: 'toc.dat', sha256: 'ab'.repeat(32), bytes: 1, stored_bytes: 2 };
const MANIFEST: Manifest = {
  ...{ format: 1, id: 'aaaa0000', target: 'app', created_at: '2026-01-01T00:00:00.000Z', engine: 'postgres' },
  ...{ server_version: '17.5', tool_version: '17.5', sanitized: false, note: 'mine', schemas: ['public', 'a'] },
  tables: [{ name: 'public.t', rows: 3, file }],
  ...{ files: [file], added_bytes: 2, details: { settings: { b: 1, a: ['x', null] } } },
  ...{ git: { repository: null, branch: 'main', commit: null }, classified: [{ name: 'public.t.a', state: 'kept' }] },
};

describe('the signature of a manifest', () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const other = generateKeyPairSync('ed25519').privateKey;
  const signed = signManifest(MANIFEST, privateKey);
  const key = publicKeyText(privateKey);

  test('is valid for the manifest as JSON keeps it, in any order of keys, and with another note', () => {
    const read: Manifest = JSON.parse(JSON.stringify(signed));
    const turned = Object.fromEntries(Object.entries(read).reverse()) as Manifest;
    for (const manifest of [signed, read, turned, { ...read, note: null }]) {
      expect(verifyManifest(manifest)).toEqual({ state: 'valid', key });
    }
    expect(verifyManifest(MANIFEST)).toEqual({ state: 'none' });
  });

  test.each<[string, Partial<Manifest>]>([
    ['id', { id: 'bbbb1111' }],
    ['target', { target: 'billing' }],
    ['created_at', { created_at: '2026-01-02T00:00:00.000Z' }],
    ['sanitized', { sanitized: true }],
    ['rows', { tables: [{ name: 'public.t', rows: 4, file }] }],
    ['object', { files: [{ ...file, sha256: 'cd'.repeat(32) }] }],
    ['order', { schemas: ['a', 'public'] }],
    ['details', { details: { settings: { b: 1, a: ['x', null], c: 2 } } }],
    ['a key of somebody else', { signature: { key: publicKeyText(other), value: signed.signature?.value ?? '' } }],
    ['a key that is none', { signature: { key: 'ed25519-x', value: signed.signature?.value ?? '' } }],
    ['a value that is none', { signature: { key, value: '' } }],
    ['a key of small order', { signature: { key: `ed25519-${Buffer.alloc(32).toString('base64')}`, value: '' } }],
  ])('is invalid after a change of: %s', (_, change) => {
    expect(verifyManifest({ ...signed, ...change }).state).toBe('invalid');
  });

  test.each(['git', 'classified'] as const)('is invalid without the signed %s', (part) => {
    const { [part]: _, ...rest } = signed;
    expect(verifyManifest(rest).state).toBe('invalid');
  });
});

describe('the key of a machine', () => {
  test('is one, whoever needs it first, and for its owner alone', async () => {
    const folder = await temporaryFolder();
    onTestFinished(() => folder[Symbol.asyncDispose]());
    const environment = { HOME: folder.path };
    const keys = await Promise.all(Array.from({ length: 20 }, () => signingKey(environment)));
    expect(new Set(keys.map(publicKeyText)).size).toBe(1);
    expect((await stat(signingKeyFile(environment))).mode & 0o777).toBe(0o600);
    expect(await readdir(join(folder.path, '.config/tool'))).toEqual(['signing-key.pem']);
    const { stdout } = await runWith(['key'], COMMANDS, { environment });
    expect(stdout).toBe(`${(await ownKey(environment)).public_key}\n`);
  });
});

describeWithPostgres('snapshots that somebody else has built', () => {
  let server: TestPostgres;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let unsigned: string;

  /** A context of the person whose home folder is called so; all share one working directory. */
  function contextOf(person: string, { trusted, user = 'postgres' }: { trusted?: string[]; user?: string } = {}) {
    const events: RunEvent[] = [];
    const as = (database: string) =>
      server.url(database).replace(/(?<=:\/\/)[^@]*/, (own) => (user === 'postgres' ? own : `${user}:${user}`));
    const target = {
      snapshot: { src_url: server.url('source'), dst_url: as('copy') },
      sanitize: { override_query: 'UPDATE t SET a = 0', dst_url: as('clean') },
    };
    const settings = {
      working_directory: join(folder.path, 'work'),
      targets: { app: target },
      ...(trusted && { trusted_keys: trusted }),
    };
    const context: Context = {
      ...testContext({ settings, events }),
      environment: { ...process.env, HOME: homeOf(person) },
    };
    return { context, events };
  }

  const homeOf = (person: string): string => join(folder.path, person);
  const keyOf = async (person: string): Promise<string> => (await ownKey({ HOME: homeOf(person) })).public_key;

  beforeAll(async () => {
    folder = await temporaryFolder();
    server = await startPostgres();
    await server.createDatabase('source');
    await server.psql('source', {
      sql: 'CREATE TABLE t (a integer); INSERT INTO t VALUES (1); CREATE ROLE plain LOGIN CREATEDB PASSWORD $$plain$$',
    });
    const { context } = contextOf('ann');
    await build(context, { target: 'app' });
    const [manifest] = await localRepository(context).list('app');
    const { signature: _, ...old } = manifest as Manifest;
    unsigned = 'dddd0000';
    await localRepository(context).write({ ...old, id: unsigned, created_at: '2020-01-01T00:00:00.000Z' });
  }, 60_000);

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  it('are listed and planned with who signed them', async () => {
    const ann = await keyOf('ann');
    const states = async (trusted?: string[]) =>
      (await listSnapshots(contextOf('bob', trusted ? { trusted } : {}).context, 'app')).snapshots.map(
        ({ signature }) => signature,
      );
    expect(await states()).toEqual([
      { state: 'valid', key: ann },
      { state: 'none', key: null },
    ]);
    expect((await states([ann]))[0]).toEqual({ state: 'trusted', key: ann });
    expect((await states([await keyOf('bob')]))[0]).toEqual({ state: 'untrusted', key: ann });
    const { plan } = await planLoad(contextOf('bob').context, { target: 'app' });
    expect(plan.snapshot?.signature).toEqual({ state: 'valid', key: ann });
    expect(
      loadQuestion(plan, new Date())
        .facts.map(({ value }) => value)
        .join('\n'),
    ).toContain(ann);
  });

  it('are loaded, sanitized and imported only with a signature by a trusted key, where trusted_keys is set', async () => {
    const [ann, bob] = [await keyOf('ann'), await keyOf('bob')];
    const archive = join(folder.path, 'app.zip');
    await exportSnapshot(contextOf('ann').context, { target: 'app', file: archive });
    const refusal = { code: 'signature_untrusted', exit: 5 };
    for (const [snapshot, trusted] of [
      [0, [bob]],
      [0, []],
      [unsigned, [ann]],
    ] as const) {
      const { context } = contextOf('bob', { trusted: [...trusted] });
      await expect(planLoad(context, { target: 'app', snapshot })).rejects.toMatchObject(refusal);
      await expect(planSanitize(context, { target: 'app', snapshot })).rejects.toMatchObject(refusal);
    }
    const strict = contextOf('bob', { trusted: [bob] });
    await expect(importSnapshot(strict.context, { file: archive })).rejects.toMatchObject(refusal);
    await planLoad(strict.context, { target: 'app', allowUntrusted: true });
    await planSanitize(strict.context, { target: 'app', allowUntrusted: true });
    await importSnapshot(strict.context, { file: archive, allowUntrusted: true });
    expect(
      strict.events.filter((event) => event.event === 'warning' && event.code === 'signature_untrusted'),
    ).toHaveLength(3);
    const { context } = contextOf('bob', { trusted: [ann] });
    await importSnapshot(context, { file: archive });
    expect(await applyLoad(context, await planLoad(context, { target: 'app' }))).toMatchObject({ tables: 1 });
    await planLoad(contextOf('bob').context, { target: 'app', snapshot: unsigned });
  });

  it('are named and confirmed by typing where a superuser loads them', async () => {
    const foreign = async (person: string, options: { snapshot?: string; user?: string } = {}) => {
      const { snapshot = 0, user } = options;
      const { context } = contextOf(person, user ? { user } : {});
      const { plan } = await planLoad(context, { target: 'app', snapshot });
      const warned = plan.warnings.some(({ code }) => code === 'foreign_code_as_superuser');
      expect(loadQuestion(plan, new Date()).typed).toEqual(warned ? 'copy' : null);
      return warned;
    };
    expect(await foreign('bob')).toBe(true);
    expect(await foreign('ann')).toBe(false);
    expect(await foreign('ann', { snapshot: unsigned })).toBe(true);
    await server.psql('postgres', { sql: 'ALTER DATABASE copy OWNER TO plain' });
    expect(await foreign('bob', { user: 'plain' })).toBe(false);
  });

  it('keep a valid signature with a new note, and so does what is sanitized', async () => {
    const ann = contextOf('ann', { trusted: [await keyOf('ann')] }).context;
    await annotate(ann, { target: 'app', note: 'another' });
    expect(await applySanitize(ann, await planSanitize(ann, { target: 'app' }))).toMatchObject({
      snapshot: { sanitized: true, signature: { state: 'trusted' } },
      original: { note: 'another', signature: { state: 'trusted' } },
    });
  });
});
