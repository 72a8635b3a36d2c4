import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { text as textOf } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createBuckets } from '../../hub/objects/buckets.ts';
import { reconcileAll } from '../../hub/reconcile/reconcile.ts';
import { type Manifest, manifestText } from '../../src/repository/manifest/manifest.ts';
import { publicKeyText, signManifest } from '../../src/repository/manifest/signature.ts';
import { manifestKey } from '../../src/repository/repository.ts';
import type { BucketProfile } from '../../src/repository/s3/connection.ts';
import type { ReconcileResult } from '../../src/results/cloud-results.ts';
import { eventProblems } from '../helpers/documents/json-contract.ts';
import { putStorageProfile, startHub, type TestHub } from '../helpers/hub/hub.ts';
import { createHubTarget, type HubTarget, objectOf, objectPath, openHubTarget } from '../helpers/hub/hub-target.ts';
import { describeWithPostgres, eventually } from '../helpers/postgres/postgres-server.ts';
import { PROGRAM } from '../helpers/program.ts';
import { describeWithS3, type S3Server, startS3 } from '../helpers/storage/s3-server.ts';

describeWithPostgres('reconcile', () => {
  describeWithS3('over a real bucket', () => {
    let hub: TestHub;
    let s3: S3Server;
    let profile: BucketProfile;
    let target: HubTarget;

    beforeAll(async () => {
      [hub, s3] = await Promise.all([startHub(), startS3()]);
      profile = { ...(await s3.bucket()), prefix: 'team' };
      await putStorageProfile(hub, 'team', profile);
    });

    afterAll(async () => {
      await hub.stop();
      await s3.stop();
    });

    beforeEach(async () => {
      target = await createHubTarget(hub, profile, 'team');
    });

    const NOTHING = { imported: [], missing: [], restored: [], objects_added: 0, objects_missing: 0, problems: [] };

    async function reconcile(trustedKeys: string[] | null = null): Promise<Omit<ReconcileResult, 'targets'>> {
      const { db } = hub.database;
      const buckets = createBuckets(db, hub.settings.keys);
      const { signal } = new AbortController();
      const { targets: _, ...found } = await reconcileAll({ db, buckets, trustedKeys, signal, report: () => {} });
      return found;
    }

    const named = (snapshot: string) => ({ target: target.name, snapshot });

    test('a snapshot of which the bucket lacks an object is not offered until it is complete again', async () => {
      const objects = [objectOf(), objectOf()] as const;
      const [broken, whole] = [await target.push([...objects]), await target.push([objects[1]])];
      const key = objectPath(objects[0]);
      await target.store.remove(key);
      expect(await reconcile()).toEqual({ ...NOTHING, missing: [named(broken.id)], objects_missing: 1 });
      expect(await target.listed()).toEqual([whole.id]);
      expect(await reconcile()).toEqual(NOTHING);
      await target.store.write(key, 'x'.repeat(objects[0].stored_bytes));
      expect(await reconcile()).toEqual({ ...NOTHING, restored: [named(broken.id)] });
      expect((await target.listed()).sort()).toEqual([broken.id, whole.id].sort());
    });

    test('a push sends what the bucket lacks, and publishes the snapshot again', async () => {
      const object = objectOf();
      const manifest = await target.push([object]);
      await target.store.remove(objectPath(object));
      await target.store.remove(manifestKey(manifest));
      await reconcile();
      expect((await target.publish(manifest)).body.code).toBe('objects_missing');
      expect(await target.listed()).toEqual([]);
      expect(await target.send([object])).toEqual(['stored']);
      expect((await target.publish(manifest)).status).toBe(201);
      expect(await target.listed()).toEqual([manifest.id]);
      expect(await reconcile()).toEqual(NOTHING);
    });

    test('a damaged manifest is a problem: exit 1, and the rest is compared', async () => {
      const damaged = manifestKey(target.manifestOf([]));
      await target.store.write(damaged, '{}');
      const object = objectOf();
      const manifest = await target.push([object]);
      await target.store.remove(objectPath(object));
      const run = await command({}, '--json');
      expect(run).toMatchObject({ exit: 1, last: { code: 'hub_reconcile_incomplete' } });
      expect(run.last.details.join()).toContain('it is damaged');
      expect(await target.listed()).not.toContain(manifest.id);
      await target.store.remove(damaged);
    });

    const newKey = () => generateKeyPairSync('ed25519').privateKey;

    /** A manifest that the owner of the bucket writes beside the hub. */
    async function written(change: (manifest: Manifest) => Manifest): Promise<Manifest> {
      const manifest = change(target.manifestOf([]));
      await target.store.write(manifestKey(manifest), manifestText(manifest));
      return manifest;
    }

    test('a manifest with an invalid signature is not imported', async () => {
      const forged = await written((manifest) => ({
        ...signManifest({ ...manifest, sanitized: false }, newKey()),
        sanitized: true,
      }));
      expect((await reconcile()).problems).toEqual([
        `${target.name}: ${manifestKey(forged)}: it has a signature that does not match its manifest`,
      ]);
      expect(await target.listed()).toEqual([]);
      await target.store.remove(manifestKey(forged));
    });

    test("a sanitized snapshot without a signature of the operator's keys is not imported", async () => {
      const [trusted, other] = [newKey(), newKey()];
      const keys = [publicKeyText(trusted)];
      const unsigned = await written((manifest) => manifest);
      const foreign = await written((manifest) => signManifest(manifest, other));
      const original = await written((manifest) => ({ ...manifest, sanitized: false }));
      const signed = await written((manifest) => signManifest(manifest, trusted));
      const { imported, problems } = await reconcile(keys);
      expect(imported.map(({ snapshot }) => snapshot).sort()).toEqual([original.id, signed.id].sort());
      expect(problems.toSorted()).toEqual(
        [
          `${target.name}: ${manifestKey(unsigned)}: it is sanitized, and is not signed`,
          `${target.name}: ${manifestKey(foreign)}: it is sanitized, and is signed by another key: ${publicKeyText(other)}`,
        ].toSorted(),
      );
      const run = await command({ TOOL_HUB_TRUSTED_KEYS: keys.join() }, '--json');
      expect(run).toMatchObject({ exit: 1, last: { code: 'hub_reconcile_incomplete' } });
      expect(run.last.details.join()).toContain('it is sanitized, and is not signed');
      expect((await target.listed()).sort()).toEqual([original.id, signed.id].sort());
      for (const manifest of [unsigned, foreign]) await target.store.remove(manifestKey(manifest));
    });

    test('a target names keys in place of those of the operator', async () => {
      const [ofHub, ofTarget] = [newKey(), newKey()];
      const path = `/targets/${target.name}`;
      const { settings } = (await hub.send('GET', path, { token: hub.ownerToken })).body;
      const body = { settings, trusted_keys: [publicKeyText(ofTarget)] };
      const headers = { 'if-match': '"1"' };
      expect((await hub.send('PUT', path, { token: hub.ownerToken, body, headers })).status).toBe(200);
      const refused = await written((manifest) => signManifest(manifest, ofHub));
      const signed = await written((manifest) => signManifest(manifest, ofTarget));
      const { imported, problems } = await reconcile([publicKeyText(ofHub)]);
      expect(imported).toEqual([named(signed.id)]);
      expect(problems).toEqual([expect.stringContaining('it is sanitized, and is signed by another key')]);
      expect(await target.listed()).toEqual([signed.id]);
      await target.store.remove(manifestKey(refused));
    });

    /** The command as operators run it. */
    async function command(settings: NodeJS.ProcessEnv, ...words: string[]) {
      const { PATH, TMPDIR } = process.env;
      const keys = hub.settings.keys.map(({ bytes }) => bytes.toString('hex')).join();
      const env = { PATH, TMPDIR, HOME: '/nonexistent', TOOL_HUB_DATABASE_URL: hub.settings.databaseUrl };
      const child = spawn(process.execPath, [PROGRAM, 'hub', 'reconcile', ...words], {
        env: { ...env, TOOL_HUB_KEYS: keys, ...settings },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const [stdout, stderr, [exit]] = await Promise.all([
        textOf(child.stdout),
        textOf(child.stderr),
        once(child, 'exit'),
      ]);
      expect(stdout, stderr).not.toBe('');
      if (words.includes('--json')) expect(stdout.trim().split('\n').flatMap(eventProblems)).toEqual([]);
      const last = words.includes('--json') ? JSON.parse(stdout.trim().split('\n').at(-1) ?? '') : {};
      return { exit, stdout, stderr, last };
    }

    test('restore rehearsal: publications after the backup are imported, and removed snapshots are not offered', async () => {
      const [kept, removed] = [await target.push([objectOf()]), await target.push([objectOf()])];
      await hub.postgres.createDatabase('restored');
      const backup = await hub.postgres.dump('postgres', '--inserts');
      const [object, unreferenced] = [objectOf(), objectOf()];
      const later = await target.push([object]);
      await target.send([unreferenced]);
      await target.remove(removed.id);
      await eventually(async () => (await target.store.read(manifestKey(removed))) === null);
      await hub.postgres.psql('restored', { sql: backup });
      const before = hub.settings.databaseUrl;
      hub.settings.databaseUrl = hub.postgres.url('restored');
      const first = await command({}, '--json');
      const second = await command({});
      const { keys, databaseUrl } = hub.settings;
      hub.settings.databaseUrl = before;
      expect(first.exit, first.stderr).toBe(0);
      expect(first.last).toMatchObject({
        imported: [named(later.id)],
        missing: [named(removed.id)],
        objects_added: 2,
        objects_missing: 0,
      });
      expect({ exit: second.exit, stdout: second.stdout }).toEqual({
        exit: 0,
        stdout: expect.stringMatching(/^Compared \d+ targets with their buckets\n$/),
      });
      const restored = await startHub({ keys, databaseUrl }, hub.postgres);
      try {
        const { name, id, builder } = target;
        const again = await openHubTarget(restored, { name, id, builder, profile });
        expect((await again.listed()).sort()).toEqual([kept.id, later.id].sort());
        const path = `/targets/${name}/snapshots/${later.id}/downloads`;
        const { body } = await restored.send('POST', path, { token: builder, body: { objects: [object.sha256] } });
        expect(Buffer.from(await (await fetch(body.objects[0].href)).arrayBuffer())).toEqual(object.content);
        expect(await again.push([objectOf(), object])).toMatchObject({ target: name });
      } finally {
        await restored.stop();
      }
    });
  });
});
