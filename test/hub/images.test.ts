import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { sweepDue } from '../../hub/jobs/sweeps.ts';
import { createLog } from '../../hub/log.ts';
import { createBuckets } from '../../hub/objects/buckets.ts';
import { reconcileAll } from '../../hub/reconcile/reconcile.ts';
import { type ImageManifest, signImage } from '../../src/repository/images/image-manifest.ts';
import type { Manifest } from '../../src/repository/manifest/manifest.ts';
import { publicKeyText, signManifest } from '../../src/repository/manifest/signature.ts';
import { imageKeyOnHub } from '../../src/repository/repository.ts';
import type { BucketProfile } from '../../src/repository/s3/connection.ts';
import { putStorageProfile, startHub, type TestHub } from '../helpers/hub/hub.ts';
import {
  createHubTarget,
  type HubTarget,
  hash,
  objectOf,
  objectPath,
  type TestObject,
} from '../helpers/hub/hub-target.ts';
import { describeWithPostgres, eventually } from '../helpers/postgres/postgres-server.ts';
import { describeWithS3, type S3Server, startS3 } from '../helpers/storage/s3-server.ts';

const HOUR = 3_600_000;
const NAME = '15-linux-x64';

type Unsigned = Omit<ImageManifest, 'signature'>;

describeWithPostgres('images on the hub', () => {
  describeWithS3('over a real bucket', () => {
    let hub: TestHub;
    let s3: S3Server;
    let profile: BucketProfile;
    let target: HubTarget;
    let snapshot: Manifest;
    let chunks: TestObject[];
    let reader: string;
    const { privateKey: key } = generateKeyPairSync('ed25519');

    beforeAll(async () => {
      [hub, s3] = await Promise.all([startHub(), startS3()]);
      profile = { ...(await s3.bucket()), prefix: 'team' };
      await putStorageProfile(hub, 'team', profile);
      reader = (await hub.person('rita', ['readers'])).token;
    });

    afterAll(async () => {
      await hub.stop();
      await s3.stop();
    });

    beforeEach(async () => {
      // Sweeps of this test are of its target only.
      await hub.database.db
        .updateTable('sweeps')
        .set({ swept_at: new Date('2100-01-01') })
        .execute();
      target = await createHubTarget(hub, profile, 'team');
      snapshot = await target.push([objectOf()]);
      chunks = [objectOf(), objectOf()];
      expect(await target.send(chunks)).toEqual(['stored', 'stored']);
    });

    const pathOf = (id = snapshot.id, name = NAME): string => `/targets/${target.name}/snapshots/${id}/images/${name}`;
    const put = (body: string, token = target.builder, path = pathOf()) => hub.send('PUT', path, { token, body });
    const get = (token = reader, path = pathOf()) => hub.send('GET', path, { token });
    /** The URL and the hash of its manifest. */
    const found = async (token = reader): Promise<{ href: string; sha256: string } | null> =>
      (await get(token)).body.manifest;
    const downloads = (objects: TestObject[], token = reader) =>
      hub.send('POST', `/targets/${target.name}/snapshots/${snapshot.id}/downloads`, {
        token,
        body: { objects: objects.map(({ sha256 }) => sha256) },
      });

    /** Files of 20 bytes, one in each chunk. */
    function imageOf(change: Partial<Unsigned> = {}, of = chunks): Unsigned {
      return {
        ...{ format: 1, target: target.name, snapshot: snapshot.id, created_at: snapshot.created_at },
        ...{ engine: 'postgres', database: 'app', version: '15.18', platform: 'linux', architecture: 'x64' },
        ...{ collations: 'c 2.36', extensions: ['plpgsql 1.0'], folders: ['base', 'base/5', 'global'] },
        files: of.map((_, index) => ({ path: `base/5/${1000 + index}`, bytes: 20 })),
        chunks: of.map(({ sha256 }, file) => ({ sha256, pieces: [{ file, offset: 0, bytes: 20 }] })),
        ...change,
      };
    }

    const signed = (image: Unsigned = imageOf(), by: KeyObject = key): string => JSON.stringify(signImage(image, by));
    const keyOf = (text: string): string => imageKeyOnHub(snapshot, { name: NAME, sha256: hash(text) });

    async function sweep(hours: number): Promise<string> {
      const { db } = hub.database;
      const lines: string[] = [];
      const clock = () => new Date(Date.now() + hours * HOUR);
      const log = createLog({ write: (line) => void lines.push(line), clock });
      await db.deleteFrom('sweeps').where('target_id', '=', target.id).execute();
      const buckets = createBuckets(db, hub.settings.keys);
      await sweepDue({ db, buckets, trustedKeys: null, log, clock }, new AbortController().signal);
      return lines.join('');
    }

    async function reconcile() {
      const { db } = hub.database;
      const buckets = createBuckets(db, hub.settings.keys);
      const { signal } = new AbortController();
      return await reconcileAll({ db, buckets, trustedKeys: null, signal, report: () => {} });
    }

    test('travel as their snapshot does, and lie beside it in the bucket', async () => {
      expect(await found()).toBeNull();
      expect((await downloads(chunks)).status).toBe(422);
      const text = signed();
      expect((await put(text)).status).toBe(201);
      expect((await put(text)).status).toBe(200);
      const { body } = await get();
      expect(await (await fetch(body.manifest.href)).text()).toBe(text);
      expect(body.manifest.sha256).toBe(hash(text));
      expect(await target.store.read(keyOf(text))).toBe(text);
      const { body: urls } = await downloads(chunks);
      for (const [index, { href }] of urls.objects.entries()) {
        expect(hash(Buffer.from(await (await fetch(href)).arrayBuffer()))).toBe(chunks[index]?.stored_sha256);
      }
      const { body: audit } = await hub.send('GET', `/audit_events?target=${target.name}`, { token: hub.ownerToken });
      const actions = audit.items.map(({ actor, action, object }: Record<string, string>) => [actor, action, object]);
      expect(actions).toContainEqual(['ci', 'image.publish', snapshot.id]);
      expect(actions).toContainEqual(['rita', 'snapshot.download', snapshot.id]);
    });

    test('images with many files are parsed in a thread', async () => {
      const { files } = imageOf();
      const many = Array.from({ length: 10_000 }, (_, n) => ({ path: `base/5/${20_000 + n}`, bytes: 0 }));
      const text = signed(imageOf({ files: [...files, ...many] }));
      expect(text.length).toBeGreaterThan(300_000);
      expect((await put(text.replace('base/5/29999', 'base/5/39999'))).body.code).toBe('signature_invalid');
      expect((await put(text)).status).toBe(201);
    });

    test('are pushed by who may push the snapshot, and read by who may read it', async () => {
      const { token: service } = await hub.service('cd', 'reader', [target.id]);
      const { token: stranger } = await hub.person('sam', []);
      expect((await put(signed(), reader)).status).toBe(403);
      expect((await put(signed(), service)).status).toBe(403);
      expect((await put(signed(), stranger)).status).toBe(404);
      expect((await put(signed())).status).toBe(201);
      expect(await found(service)).toMatchObject({ sha256: hash(signed()) });
      expect((await get(stranger)).status).toBe(404);
      expect((await downloads(chunks, stranger)).status).toBe(404);
    });

    test('the image of an original is refused, and a caller who may not read the snapshot gets the answer for a missing one', async () => {
      const [object] = [objectOf()];
      await target.send([object]);
      const original = target.manifestOf([object], { sanitized: false });
      expect((await target.publish(original)).status).toBe(201);
      const text = signed(imageOf({ snapshot: original.id, created_at: original.created_at }));
      const owner = await put(text, hub.ownerToken, pathOf(original.id));
      expect(owner).toMatchObject({ status: 422, body: { code: 'cloud_refused' } });
      expect(owner.text).toContain('not sanitized');
      // Builder tokens do not read originals.
      expect((await put(text, target.builder, pathOf(original.id))).status).toBe(404);
    });

    test('images that are forged are refused, and change nothing', async () => {
      const { privateKey: stranger } = generateKeyPairSync('ed25519');
      const whole = signed();
      const image = imageOf();
      const [chunk] = image.chunks;
      const withFile = (path: string, bytes = 0): string =>
        signed({ ...image, files: [...image.files, { path, bytes }] });
      const bytes = 8 * 1024 * 1024;
      const forgeries: Record<string, string> = {
        'no JSON': whole.slice(1),
        'not signed': JSON.stringify(image),
        'changed after it was signed': whole.replace('15.18', '15.19'),
        'signed in the name of another key': JSON.stringify({
          ...signImage(image, stranger),
          signature: { ...signImage(image, stranger).signature, key: publicKeyText(key) },
        }),
        'of another snapshot': signed({ ...image, snapshot: '00000000' }),
        'of another time': signed({ ...image, created_at: '2026-01-01T00:00:00.000Z' }),
        'of another target': signed({ ...image, target: 'other' }),
        'of another engine': signed({ ...image, engine: 'mysql' }),
        'for another major version': signed({ ...image, version: '150.1' }),
        'for another platform': signed({ ...image, platform: 'darwin' }),
        'for another processor': signed({ ...image, architecture: 'arm64' }),
        'with an unknown key': signed({ ...image, hooks: ['/bin/sh'] } as Unsigned),
        'of another format': signed({ ...image, format: 2 } as unknown as Unsigned),
        'a chunk outside its file': signed({ ...image, files: image.files.map((one) => ({ ...one, bytes: 1 })) }),
        'two chunks at one place': signed({ ...image, chunks: [...image.chunks, ...(chunk ? [chunk] : [])] }),
        'a chunk of 9 MB': signed({
          ...image,
          files: [{ path: 'base/5/1', bytes: bytes + 1 }],
          chunks: [{ sha256: chunk?.sha256 ?? '', pieces: [{ file: 0, offset: 0, bytes: bytes + 1 }] }],
        }),
        'a file of a petabyte': withFile('base/5/99', 2 ** 50),
        'a file in no folder': withFile('base/9999999/99'),
        'a folder of a tablespace': signed({ ...image, folders: [...image.folders, 'pg_tblspc', 'pg_tblspc/16384'] }),
        ...Object.fromEntries(
          [
            ...['../evil', 'base/../evil', '/etc/evil', 'base//5', './base', '.hidden', 'base\\evil', 'base/5/1\n2'],
            ...['postgresql.auto.conf', 'pg_hba.conf', 'recovery.signal', 'base/5/x.so', 'backup_label'],
          ].map((path) => [path, withFile(path)]),
        ),
      };
      for (const [what, text] of Object.entries(forgeries)) {
        const { status, body } = await put(text);
        expect({ status, code: body.code }, what).toEqual({
          status: 422,
          code: /signed/.test(what) && what !== 'not signed' ? 'signature_invalid' : 'cloud_refused',
        });
      }
      expect((await put(signed(), target.builder, pathOf(snapshot.id, '16-linux-x64'))).status).toBe(422);
      for (const name of ['15', '..%2F..', '15-linux-x64-y', '15-Linux-x64', '15+-linux-x64']) {
        expect((await put(signed(), target.builder, pathOf(snapshot.id, name))).status, name).toBe(404);
      }
      expect(await found()).toBeNull();
      expect((await target.store.list('snapshots')).filter(({ key: one }) => one.includes('image+'))).toEqual([]);
      expect(
        await hub.database.db.selectFrom('images').selectAll().where('snapshot_pk', 'in', pks()).execute(),
      ).toEqual([]);
      expect((await put(whole)).status).toBe(201);
    });

    const pks = () => hub.database.db.selectFrom('snapshots').select('pk').where('target_id', '=', target.id);

    test('need the signature of a key that the target names', async () => {
      const { body } = await hub.send('GET', `/targets/${target.name}`, { token: hub.ownerToken });
      const { privateKey: trusted } = generateKeyPairSync('ed25519');
      const named = { settings: body.settings, trusted_keys: [publicKeyText(trusted)] };
      const headers = { 'if-match': `"${body.revision}"` };
      const changed = await hub.send('PUT', `/targets/${target.name}`, { token: hub.ownerToken, body: named, headers });
      expect(changed.status, changed.text).toBe(200);
      expect((await put(signed())).body.code).toBe('signature_untrusted');
      expect((await put(signed(imageOf(), trusted))).status).toBe(201);
      // As its snapshot does.
      expect((await target.publish(signManifest(target.manifestOf([]), key))).body.code).toBe('signature_untrusted');
    });

    test('images with chunks that are not stored are refused, also where another target has them', async () => {
      const other = await createHubTarget(hub, profile, 'team');
      const foreign = objectOf();
      await other.send([foreign]);
      const { status, body } = await put(signed(imageOf({}, [...chunks, foreign])));
      expect({ status, code: body.code }).toEqual({ status: 422, code: 'objects_missing' });
      expect(body.errors).toMatchObject([{ pointer: `/objects/${foreign.sha256}` }]);
      expect((await downloads([foreign])).status).toBe(422);
      expect(await found()).toBeNull();
    });

    async function moveTarget(): Promise<void> {
      const name = `other-${randomBytes(4).toString('hex')}`;
      await putStorageProfile(hub, name, { ...profile, prefix: name });
      const { body } = await hub.send('GET', `/targets/${target.name}`, { token: hub.ownerToken });
      const moved = { settings: { ...body.settings, storage_profile: name } };
      const headers = { 'if-match': `"${body.revision}"` };
      const { status } = await hub.send('PUT', `/targets/${target.name}`, {
        token: hub.ownerToken,
        body: moved,
        headers,
      });
      expect(status).toBe(200);
    }

    test('the image of a snapshot in a former storage profile is refused with the way out, unless its chunks are there', async () => {
      await moveTarget();
      const chunk = objectOf();
      expect(await target.send([chunk])).toEqual(['stored']);
      const { status, body } = await put(signed(imageOf({}, [chunk])));
      expect({ status, code: body.code }).toEqual({ status: 422, code: 'cloud_refused' });
      expect(body.detail).toContain('former storage profile');
      expect(body.hint).toBe(`Only a new snapshot can have an image: tool build ${target.name}`);
      expect((await put(signed())).status).toBe(201);
    });

    test('a snapshot that the bucket lost is published again in the present storage profile of its target', async () => {
      const [object] = [objectOf()];
      await target.send([object]);
      const manifest = target.manifestOf([object]);
      expect((await target.publish(manifest)).status).toBe(201);
      await target.store.remove(objectPath(object));
      expect(await reconcile()).toMatchObject({ missing: [{ snapshot: manifest.id }] });
      await moveTarget();
      expect(await target.send([object])).toEqual(['stored']);
      expect((await target.publish(manifest)).status).toBe(201);
      const path = `/targets/${target.name}/snapshots/${manifest.id}`;
      const { body } = await hub.send('GET', path, { token: reader });
      expect((await fetch(body.manifest.href)).status).toBe(200);
      const urls = await hub.send('POST', `${path}/downloads`, {
        token: reader,
        body: { objects: [object.sha256] },
      });
      expect((await fetch(urls.body.objects[0].href)).status).toBe(200);
    });

    test('are never overwritten, by a second builder or at the same moment', async () => {
      const [one, two] = [signed(), signed({ ...imageOf(), collations: 'c 2.40' })];
      const answers = await Promise.all([put(one), put(two), put(one), put(two)]);
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).toEqual([200, 201, 409, 409]);
      const winner = answers[0]?.status === 409 ? two : one;
      const { body } = await get();
      expect(await (await fetch(body.manifest.href)).text()).toBe(winner);
      expect(
        (await put(signed({ ...imageOf(), version: '16.1' }), target.builder, pathOf(snapshot.id, '16-linux-x64')))
          .status,
      ).toBe(201);
    });

    test('leave the bucket with their snapshot, and chunks that another one has stay', async () => {
      const text = signed();
      await put(text);
      const kept = await target.push([chunks[0] as TestObject]);
      await sweep(25);
      expect((await target.store.present(chunks.map(objectPath))).size).toBe(2);
      expect(await found()).not.toBeNull();
      await target.remove(snapshot.id);
      expect((await get()).status).toBe(404);
      await eventually(async () => (await target.store.read(keyOf(text))) === null);
      expect(await sweep(50)).not.toContain('not swept');
      expect(await target.store.present(chunks.map(objectPath))).toEqual(
        new Set([objectPath(chunks[0] as TestObject)]),
      );
      expect(await target.listed()).toEqual([kept.id]);
    });

    test('images whose publication was cut off neither stop a sweep nor stay', async () => {
      const text = signed();
      await target.store.write(keyOf(text), text);
      expect(await sweep(0)).not.toContain('not swept');
      expect(await target.store.read(keyOf(text))).toBe(text);
      expect(await sweep(25)).not.toContain('not swept');
      expect(await target.store.read(keyOf(text))).toBeNull();
      expect((await target.store.present(chunks.map(objectPath))).size).toBe(0);
    });

    test('are hidden while a chunk is missing, and offered again when it was sent; their snapshot stays', async () => {
      const text = signed();
      await put(text);
      const [chunk] = chunks as [TestObject];
      await target.store.remove(objectPath(chunk));
      expect(await reconcile()).toMatchObject({ missing: [], objects_missing: 1, problems: [] });
      expect(await found()).toBeNull();
      expect(await target.listed()).toEqual([snapshot.id]);
      expect((await put(text)).body.code).toBe('objects_missing');
      expect(await target.send([chunk])).toEqual(['stored']);
      expect(await found()).not.toBeNull();
      expect((await put(text)).status).toBe(200);
      await target.store.write(objectPath(chunk), Buffer.alloc(chunk.stored_bytes).toString());
      const report = { token: reader, body: { objects: [chunk.sha256] } };
      const path = `/targets/${target.name}/snapshots/${snapshot.id}/reports`;
      await hub.send('POST', path, report);
      await eventually(async () => (await hub.send('POST', path, report)).body.objects[0].answer === 'damaged');
      expect(await found()).toBeNull();
      // Another image of the snapshot may take its place.
      expect((await put(signed(imageOf({}, chunks.slice(1))))).status).toBe(201);
    });

    test('images whose manifest the bucket lost are forgotten by a comparison, and pushed again', async () => {
      const text = signed();
      await put(text);
      await target.store.remove(keyOf(text));
      expect(await reconcile()).toMatchObject({ missing: [], problems: [] });
      expect(await found()).toBeNull();
      expect((await put(text)).status).toBe(201);
      expect(await target.store.read(keyOf(text))).toBe(text);
    });
  });
});
