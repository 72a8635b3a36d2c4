import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { planBranchCreate } from '../../src/operations/branch/create/create.ts';
import { build } from '../../src/operations/build/build.ts';
import { ownKey } from '../../src/operations/key.ts';
import { planLoad } from '../../src/operations/load/load.ts';
import { planSanitize } from '../../src/operations/sanitize/sanitize.ts';
import { findPlanned, listSnapshots } from '../../src/operations/snapshots/snapshots.ts';
import { pull } from '../../src/operations/snapshots/transfer/pull.ts';
import { headlineOf } from '../../src/repository/headlines/headline.ts';
import { type Manifest, manifestText, parseManifest } from '../../src/repository/manifest/manifest.ts';
import { manifestKey } from '../../src/repository/repository.ts';
import type { BucketProfile } from '../../src/repository/s3/connection.ts';
import { createS3Store } from '../../src/repository/s3/store.ts';
import type { Store } from '../../src/repository/store/store.ts';
import type { Context } from '../../src/runtime/context.ts';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
  testContext,
} from '../helpers/postgres/postgres-server.ts';
import { PROGRAM } from '../helpers/program.ts';
import { describeWithS3, type S3Server, startS3 } from '../helpers/storage/s3-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

type Claim = (entry: { version: string; headline: Record<string, unknown> }) => object;

describeWithPostgres('lists of a bucket', () => {
  describeWithS3('whose owner changes everything but the signed manifests', () => {
    let server: TestPostgres;
    let s3: S3Server;
    let profile: BucketProfile;
    let store: Store;
    let original: Manifest;
    const folder = suiteResource(() => temporaryFolder());
    let readers = 0;

    const homeOf = (person: string): string => join(folder.path, person);

    function contextOf(person: string, trusted?: string[]): Context {
      const settings = {
        working_directory: join(homeOf(person), 'work'),
        storage_profiles: { team: profile },
        defaults: { shared_target_dst_db_url: server.url('copy') },
        targets: {
          app: {
            storage_profile: 'team',
            snapshot: { src_url: server.url('source'), dst_url: server.url('copy') },
            sanitize: { override_query: 'UPDATE t SET a = 0' },
          },
          shared: { share: { storage_profile_name: 'team' } },
        },
        ...(trusted && { trusted_keys: trusted }),
      };
      return { ...testContext({ settings, events: [] }), environment: { ...process.env, HOME: homeOf(person) } };
    }

    /** A machine that has not read the bucket before. */
    async function reader(): Promise<Context> {
      readers += 1;
      return contextOf(`reader-${readers}`, [(await ownKey({ HOME: homeOf('ann') })).public_key]);
    }

    beforeAll(async () => {
      [server, s3] = await Promise.all([startPostgres(), startS3()]);
      await server.createDatabase('source');
      await server.psql('source', { sql: 'CREATE TABLE t (a integer); INSERT INTO t VALUES (1)' });
    }, 120_000);

    afterAll(async () => {
      await Promise.all([server?.stop(), s3?.stop()]);
    });

    beforeEach(async () => {
      profile = await s3.bucket();
      const ann = contextOf('ann');
      const { id } = await build(ann, { target: 'app' });
      store = await createS3Store({ name: 'team', profile, signal: ann.signal });
      const key = (await store.list('snapshots')).find((file) => file.key.includes(id))?.key ?? '';
      original = parseManifest((await store.read(key)) ?? '');
    });

    async function writeIndex(claim: Claim): Promise<void> {
      const files = await store.list('snapshots');
      const entries = files.map(({ key, version }) => [key, claim({ version, headline: { ...headlineOf(original) } })]);
      await store.write('index/app.json', JSON.stringify({ format: 1, headlines: Object.fromEntries(entries) }));
    }

    it.each<[string, Claim]>([
      ['is sanitized', (entry) => ({ ...entry, headline: { ...entry.headline, sanitized: true } })],
      [
        'is a sanitized snapshot of another one',
        (entry) => ({
          ...entry,
          headline: {
            ...entry.headline,
            sanitized: true,
            sanitized_of: 'ffff0000',
            sanitized_at: '2026-01-01T00:00:00Z',
          },
        }),
      ],
      [
        'has another size and note',
        (entry) => ({ ...entry, headline: { ...entry.headline, rows: 7, note: 'forged' } }),
      ],
      [
        'is another snapshot',
        (entry) => ({ ...entry, headline: { ...entry.headline, id: 'bbbb1111', sanitized: true } }),
      ],
      [
        'is of another time',
        (entry) => ({
          ...entry,
          headline: { ...entry.headline, created_at: '2031-01-01T00:00:00.000Z', sanitized: true },
        }),
      ],
      [
        'is of another target',
        (entry) => ({ ...entry, headline: { ...entry.headline, target: 'billing', sanitized: true } }),
      ],
      ['has another version', (entry) => ({ version: 'x', headline: { ...entry.headline, sanitized: true } })],
    ])('an original is no sanitized snapshot because the index says that it %s', async (_, claim) => {
      await writeIndex(claim);
      const bob = await reader();
      const row = { id: original.id, sanitized: false, rows: 1, note: null, created_at: original.created_at };
      expect((await listSnapshots(bob, 'shared')).snapshots).toEqual([]);
      expect((await listSnapshots(bob, 'app')).snapshots).toMatchObject([row]);
      const missing = { code: 'snapshot_missing' };
      await expect(planLoad(bob, { target: 'shared' })).rejects.toMatchObject(missing);
      await expect(pull(bob, { target: 'shared' })).rejects.toMatchObject(missing);
      const { plan } = await planLoad(bob, { target: 'shared', original: true });
      expect(plan).toMatchObject({ sanitized: false, snapshot: { id: original.id, sanitized: false } });
      expect((await planLoad(bob, { target: 'app' })).plan).toMatchObject({ sanitized: false });
      expect((await planSanitize(bob, { target: 'app' })).plan.snapshot).toMatchObject(row);
    });

    const badged: Claim = (entry) => ({ ...entry, headline: { ...entry.headline, sanitized: true } });

    /** The tools of `tool mcp`, on a machine that has not read the bucket before. */
    async function agent(): Promise<(name: string, given: object) => Promise<Record<string, unknown>>> {
      const { configuration, environment } = await reader();
      const home = environment.HOME ?? '';
      await mkdir(home, { recursive: true });
      const { working_directory, storage_profiles, defaults, targets, trusted_keys } = configuration.settings;
      const settings = { secret_key: 'ab'.repeat(16), working_directory, storage_profiles, defaults, targets };
      await writeFile(join(home, 'tool.yml'), JSON.stringify({ ...settings, trusted_keys }), { mode: 0o600 });
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: [PROGRAM, 'mcp', '--allow', 'load,pull'],
        env: { PATH: process.env.PATH ?? '', HOME: home, TOOL_TRUST: 'true' },
        cwd: home,
        stderr: 'ignore',
      });
      const client = new Client({ name: 'test-client', version: '1.0.0' });
      onTestFinished(() => client.close());
      await client.connect(transport);
      return async (name, given) => {
        const { structuredContent, content } = await client.callTool({ name, arguments: { ...given } });
        const [only] = content as { text: string }[];
        return (structuredContent ?? JSON.parse(only?.text ?? '{}').error) as Record<string, unknown>;
      };
    }

    it('an agent gets no original because the index or a manifest without a trusted signature says that it is sanitized', async () => {
      await writeIndex(badged);
      const call = await agent();
      const refusal = { code: 'originals_not_allowed', exit: 5 };
      expect(await call('list_snapshots', { target: 'app' })).toMatchObject({
        snapshots: [{ id: original.id, sanitized: false }],
      });
      expect(await call('plan_load', { target: 'app' })).toMatchObject(refusal);
      expect(await call('plan_load', { target: 'app', snapshot: original.id })).toMatchObject(refusal);
      expect(await call('create_branch', { target: 'app', name: 'b' })).toMatchObject(refusal);
      expect(await call('plan_load', { target: 'shared' })).toMatchObject(refusal);
      const { signature: _, ...unsigned } = { ...original, sanitized: true };
      await store.write(manifestKey(original), manifestText(unsigned));
      expect(await call('plan_load', { target: 'app' })).toMatchObject(refusal);
      const untrusted = { code: 'signature_untrusted', exit: 5 };
      expect(await call('plan_load', { target: 'app', snapshot: original.id })).toMatchObject(untrusted);
      expect(await call('create_branch', { target: 'app', name: 'b' })).toMatchObject(refusal);
      await store.write(manifestKey(original), manifestText({ ...original, sanitized: true }));
      const invalid = { code: 'signature_invalid', exit: 5 };
      expect(await call('plan_load', { target: 'app' })).toMatchObject(refusal);
      expect(await call('plan_load', { target: 'app', snapshot: original.id })).toMatchObject(invalid);
      expect(await call('create_branch', { target: 'app', name: 'b' })).toMatchObject(refusal);
    }, 60_000);

    it('a branch of an original is planned as one, whatever the index says, and under a forged badge refused', async () => {
      await writeIndex(badged);
      const request = { target: 'app', name: 'feature' };
      const { plan } = await planBranchCreate(await reader(), request);
      expect(plan.load).toMatchObject({ id: original.id, sanitized: false });
      const shared = planBranchCreate(await reader(), { ...request, target: 'shared' });
      await expect(shared).rejects.toMatchObject({ code: 'snapshot_missing' });
      const { signature: _, ...unsigned } = { ...original, sanitized: true };
      await store.write(manifestKey(original), manifestText(unsigned));
      await expect(planBranchCreate(await reader(), request)).rejects.toMatchObject({ code: 'signature_untrusted' });
      await store.write(manifestKey(original), manifestText({ ...original, sanitized: true }));
      for (const context of [await reader(), contextOf('careless')]) {
        await expect(planBranchCreate(context, request)).rejects.toMatchObject({ code: 'signature_invalid' });
      }
    });

    it('an entry without a manifest is not listed, and a manifest without an entry is', async () => {
      const other = { ...original, id: 'bbbb1111', created_at: '2026-01-01T00:00:00.000Z', sanitized: true };
      const headlines = { [manifestKey(other)]: { version: 'x', headline: headlineOf(other) } };
      await store.write('index/app.json', JSON.stringify({ format: 1, headlines }));
      expect((await listSnapshots(await reader(), 'app')).snapshots).toMatchObject([{ id: original.id }]);
    });

    it('a manifest that was changed after it was signed is shown as invalid, counts as an original, and is refused by everyone', async () => {
      await store.write(manifestKey(original), manifestText({ ...original, sanitized: true }));
      const refusal = { code: 'signature_invalid', exit: 5 };
      for (const context of [await reader(), contextOf('careless')]) {
        expect((await listSnapshots(context, 'app')).snapshots).toMatchObject([
          { sanitized: false, signature: { state: 'invalid' } },
        ]);
        expect((await listSnapshots(context, 'shared')).snapshots).toEqual([]);
        await expect(planLoad(context, { target: 'app', allowUntrusted: true })).rejects.toMatchObject(refusal);
        await expect(pull(context, { target: 'app', allowUntrusted: true })).rejects.toMatchObject(refusal);
      }
      await store.write(manifestKey(original), manifestText({ ...original, server_version: '9.6' }));
      await expect(planSanitize(await reader(), { target: 'app' })).rejects.toMatchObject(refusal);
      await expect(planSanitize(contextOf('careless'), { target: 'app' })).rejects.toMatchObject(refusal);
    });

    it('a snapshot that was exchanged for another kind after it was planned or listed is not found', async () => {
      const careless = contextOf('careless');
      const [row] = (await listSnapshots(careless, 'app')).snapshots;
      if (!row) throw new Error('it is listed');
      const { signature: _, ...unsigned } = { ...original, sanitized: true };
      await store.write(manifestKey(original), manifestText(unsigned));
      const request = { target: 'app', snapshot: { ...row, where: ['remote' as const] } };
      await expect(findPlanned(careless, request)).rejects.toMatchObject({ code: 'list_differs', exit: 5 });
    });

    it('the manifest of a snapshot under the name of another snapshot or target is not read', async () => {
      const text = manifestText(original);
      await store.write(manifestKey({ ...original, id: 'bbbb1111' }), text);
      await store.write(manifestKey({ ...original, target: 'billing' }), text);
      expect((await listSnapshots(await reader(), 'shared', { original: true })).snapshots).toMatchObject([
        { id: original.id, origin: 'app' },
      ]);
    });

    it('the owner of the bucket can remove snapshots, and bring back earlier ones: a signature proves no newest snapshot', async () => {
      await build(contextOf('ann'), { target: 'app' });
      const newer = (await store.list('snapshots')).find(({ key }) => key !== manifestKey(original))?.key ?? '';
      const text = (await store.read(newer)) ?? '';
      const newest = async () => {
        const { plan } = await planLoad(await reader(), { target: 'app' });
        return plan.snapshot?.id;
      };
      expect(await newest()).toBe(parseManifest(text).id);
      await store.remove(newer);
      expect(await newest()).toBe(original.id);
      await store.write(newer, text);
      await store.remove(manifestKey(original));
      expect(await newest()).toBe(parseManifest(text).id);
      await store.write(manifestKey(original), manifestText(original));
      expect((await listSnapshots(await reader(), 'app')).snapshots).toHaveLength(2);
    });

    it('a manifest without a signature does not count as sanitized where trusted_keys is set', async () => {
      const { signature: _, ...unsigned } = { ...original, sanitized: true };
      await store.write(manifestKey(original), manifestText(unsigned));
      expect((await listSnapshots(await reader(), 'shared')).snapshots).toEqual([]);
      expect((await listSnapshots(contextOf('careless'), 'shared')).snapshots).toMatchObject([{ sanitized: true }]);
    });
  });
});
