import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { type Manifest, manifestText } from '../../src/repository/manifest/manifest.ts';
import { publicKeyText, signManifest } from '../../src/repository/manifest/signature.ts';
import { manifestKey } from '../../src/repository/repository.ts';
import type { BucketProfile } from '../../src/repository/s3/connection.ts';
import { createS3Store } from '../../src/repository/s3/store.ts';
import type { Store } from '../../src/repository/store/store.ts';
import { putStorageProfile, putTarget, startHub, type TestHub } from '../helpers/hub/hub.ts';
import { hash, objectOf, type TestObject } from '../helpers/hub/hub-target.ts';
import { describeWithPostgres, eventually } from '../helpers/postgres/postgres-server.ts';
import { describeWithS3, type S3Server, startS3 } from '../helpers/storage/s3-server.ts';

const MEGABYTE = 1024 * 1024;

describeWithPostgres('push, publish and pull', () => {
  describeWithS3('over a real bucket', () => {
    let hub: TestHub;
    let s3: S3Server;
    let profile: BucketProfile;
    let target: string;
    let bucket: Store;
    let builder: string;
    let reader: string;

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
      target = `orders-${randomBytes(4).toString('hex')}`;
      const settings = {
        storage_profile: 'team',
        sso_groups: ['readers'],
        sanitize: { override_query: 'UPDATE users SET email = NULL' },
      };
      const id = await putTarget(hub, target, { settings });
      const { signal } = new AbortController();
      bucket = await createS3Store({ name: 'team', profile: { ...profile, prefix: `team/${id}` }, signal });
      builder = (await hub.service('ci', 'builder', [id])).token;
      reader = (await hub.person('rita', ['readers'])).token;
    });

    const at = (path: string): string => `/targets/${target}${path}`;
    const post = (path: string, body: object, token = builder) => hub.send('POST', at(path), { token, body });

    async function uploadsOf(objects: TestObject[]) {
      const asked = objects.map(({ content: _, ...object }) => object);
      const { status, body, text } = await post('/uploads', { sanitized: true, objects: asked });
      expect(status, text).toBe(200);
      return body.objects;
    }

    async function send(object: TestObject): Promise<void> {
      const [answer] = await uploadsOf([object]);
      expect(answer.answer).toBe('upload');
      const { 'content-length': _, ...headers } = answer.header;
      const sent = await fetch(answer.href, { method: 'PUT', headers, body: new Uint8Array(object.content) });
      expect(sent.status, await sent.text()).toBe(200);
    }

    async function verify(object: TestObject, more: object = {}): Promise<string> {
      const { body } = await post('/verify', { sanitized: true, objects: [{ sha256: object.sha256, ...more }] });
      return body.objects[0].answer;
    }

    function manifestOf(objects: TestObject[], change: Partial<Manifest> = {}): Manifest {
      const files = objects.map(({ sha256, stored_bytes }, index) => ({
        name: `${index}.dat`,
        sha256,
        bytes: 1,
        stored_bytes,
      }));
      return {
        format: 1,
        id: randomBytes(4).toString('hex'),
        target,
        created_at: new Date().toISOString(),
        engine: 'postgres',
        server_version: '15.18',
        tool_version: 'pg_dump 15.18',
        sanitized: true,
        note: null,
        schemas: ['public'],
        tables: [],
        files,
        added_bytes: 0,
        details: {},
        ...change,
      };
    }

    function publish(manifest: Manifest, token = builder) {
      return hub.send('PUT', at(`/snapshots/${manifest.id}`), { token, body: manifestText(manifest) });
    }

    const objectPath = ({ sha256 }: TestObject): string => `objects/${sha256.slice(0, 2)}/${sha256}`;

    test('a snapshot travels from a builder to a reader by signed URLs, and lies in the bucket as anywhere', async () => {
      const objects = [objectOf(randomBytes(1000)), objectOf(randomBytes(2 * MEGABYTE)), objectOf(Buffer.alloc(0))];
      for (const object of objects) {
        await send(object);
        expect(await verify(object)).toBe('stored');
      }
      const manifest = manifestOf(objects);
      expect((await publish(manifest)).status).toBe(201);
      const found = await hub.send('GET', at(`/snapshots/${manifest.id}`), { token: reader });
      expect(found.body.headline).toMatchObject({ id: manifest.id, sanitized: true });
      const text = await (await fetch(found.body.manifest.href)).text();
      expect({ text, sha256: found.body.manifest.sha256 }).toEqual({
        text: manifestText(manifest),
        sha256: hash(text),
      });
      const sha256s = objects.map(({ sha256 }) => sha256);
      const { body } = await post(`/snapshots/${manifest.id}/downloads`, { objects: sha256s }, reader);
      for (const [index, { href }] of body.objects.entries()) {
        const got = Buffer.from(await (await fetch(href)).arrayBuffer());
        expect(hash(got)).toBe(objects[index]?.stored_sha256);
      }
      expect(await bucket.read(manifestKey(manifest))).toBe(text);
      expect(await bucket.present(objects.map(objectPath))).toEqual(new Set(objects.map(objectPath)));
    });

    test('the signature covers length and content: the bucket takes no other bytes under the name', async () => {
      const object = objectOf(randomBytes(1000));
      const [{ href, header }] = await uploadsOf([object]);
      const { 'content-length': _, ...headers } = header;
      const put = async (body: Buffer, change: Record<string, string> = {}) =>
        (await fetch(href, { method: 'PUT', headers: { ...headers, ...change }, body: new Uint8Array(body) })).status;
      const other = randomBytes(object.stored_bytes);
      expect(await put(other)).toBeGreaterThanOrEqual(400);
      expect(await put(other, { 'x-amz-content-sha256': hash(other) })).toBe(403);
      expect(await put(randomBytes(object.stored_bytes - 1))).toBeGreaterThanOrEqual(400);
      expect(await bucket.find(objectPath(object))).toBeNull();
      expect(await put(object.content)).toBe(200);
    });

    test('an object that is there is neither sent again nor replaced', async () => {
      const object = objectOf(randomBytes(1000));
      const [{ href, header }] = await uploadsOf([object]);
      await send(object);
      expect(await verify(object)).toBe('stored');
      expect(await uploadsOf([object])).toEqual([{ answer: 'present', sha256: object.sha256 }]);
      const { 'content-length': _, ...headers } = header;
      const again = await fetch(href, { method: 'PUT', headers, body: new Uint8Array(object.content) });
      expect(again.status).toBe(412);
    });

    test('a large object is sent in parts, and completed by verify', { timeout: 60_000 }, async () => {
      const object = objectOf(Buffer.alloc(65 * MEGABYTE, randomBytes(MEGABYTE)));
      const [answer] = await uploadsOf([object]);
      expect(answer).toMatchObject({ answer: 'upload_parts', part_bytes: 16 * MEGABYTE, from_part: 1 });
      expect(answer.parts).toHaveLength(5);
      const etags: string[] = [];
      for (const [index, href] of answer.parts.entries()) {
        const part = object.content.subarray(index * answer.part_bytes, (index + 1) * answer.part_bytes);
        const sent = await fetch(href, { method: 'PUT', body: new Uint8Array(part) });
        etags.push(sent.headers.get('etag') ?? '');
      }
      expect(await verify(object)).toBe('missing');
      expect(await verify(object, { upload_id: answer.upload_id, etags })).toBe('stored');
      expect(await bucket.find(objectPath(object))).toMatchObject({ bytes: object.stored_bytes });
    });

    test('an object of another length is removed, and sent again', async () => {
      const object = objectOf(randomBytes(1000));
      await uploadsOf([object]);
      await bucket.write(objectPath(object), 'something else');
      expect(await verify(object)).toBe('differs');
      expect(await bucket.find(objectPath(object))).toBeNull();
      await send(object);
      expect(await verify(object)).toBe('stored');
    });

    test('a manifest with an invalid signature is refused, one without a signature is not', async () => {
      const object = objectOf(randomBytes(10));
      await send(object);
      await verify(object);
      const { privateKey } = generateKeyPairSync('ed25519');
      const signed = signManifest(manifestOf([object], { sanitized: false }), privateKey);
      const forged = await publish({ ...signed, sanitized: true });
      expect(forged.status).toBe(422);
      expect(forged.body.code).toBe('signature_invalid');
      expect((await publish(manifestOf([object]))).status).toBe(201);
    });

    test("a sanitized snapshot needs the signature of one of the operator's keys", async () => {
      const object = objectOf(randomBytes(10));
      await send(object);
      await verify(object);
      const [trusted, other] = [generateKeyPairSync('ed25519').privateKey, generateKeyPairSync('ed25519').privateKey];
      hub.settings.trustedKeys = [publicKeyText(trusted)];
      onTestFinished(() => {
        hub.settings.trustedKeys = null;
      });
      for (const manifest of [manifestOf([object]), signManifest(manifestOf([object]), other)]) {
        const refused = await publish(manifest);
        expect(refused.status).toBe(422);
        expect(refused.body.code).toBe('signature_untrusted');
      }
      expect((await publish(signManifest(manifestOf([object]), trusted))).status).toBe(201);
    });

    test('a target names keys in place of those of the hub, and who may not change it does not', async () => {
      const object = objectOf(randomBytes(10));
      await send(object);
      await verify(object);
      const newKey = () => generateKeyPairSync('ed25519').privateKey;
      const [ofHub, ofTarget] = [newKey(), newKey()];
      hub.settings.trustedKeys = [publicKeyText(ofHub)];
      onTestFinished(() => {
        hub.settings.trustedKeys = null;
      });
      const path = `/targets/${target}`;
      const put = async (more: object, token = hub.ownerToken) => {
        const { settings, revision } = (await hub.send('GET', path, { token: hub.ownerToken })).body;
        const headers = { 'if-match': `"${revision}"` };
        return (await hub.send('PUT', path, { token, headers, body: { settings, ...more } })).status;
      };
      const keys = async (token = hub.ownerToken) => (await hub.send('GET', path, { token })).body.trusted_keys;
      const codes = async () =>
        await Promise.all(
          [ofHub, ofTarget].map(async (key) => {
            const { status, body } = await publish(signManifest(manifestOf([object]), key));
            return status === 201 ? 'published' : body.code;
          }),
        );
      expect(await codes()).toEqual(['published', 'signature_untrusted']);
      const named = [publicKeyText(ofTarget)];
      for (const token of [builder, reader]) expect(await put({ trusted_keys: named }, token)).toBe(403);
      expect(await put({ trusted_keys: ['ed25519-x'] })).toBe(422);
      expect(await put({ trusted_keys: [] })).toBe(422);
      expect(await put({ trusted_keys: named })).toBe(200);
      expect(await codes()).toEqual(['signature_untrusted', 'published']);
      const refused = await publish(signManifest(manifestOf([object]), ofHub));
      expect(refused.body.hint).toContain('trusted_keys of the target');
      expect([await keys(), await keys(reader), await keys(builder)]).toEqual([named, null, null]);
      // An older client, which does not know them.
      expect(await put({})).toBe(200);
      expect(await keys()).toEqual(named);
      expect(await put({ trusted_keys: null })).toBe(200);
      expect(await codes()).toEqual(['published', 'signature_untrusted']);
    });

    test('a snapshot is published only when its objects are stored, and the error names missing ones', async () => {
      const [there, lacking] = [objectOf(randomBytes(10)), objectOf(randomBytes(10))];
      await send(there);
      await verify(there);
      const manifest = manifestOf([there, lacking]);
      const { status, body } = await publish(manifest);
      expect({ status, code: body.code }).toEqual({ status: 422, code: 'objects_missing' });
      expect(body.errors).toEqual([{ pointer: `/objects/${lacking.sha256}`, detail: 'is not stored' }]);
      expect((await hub.send('GET', at('/snapshots'), { token: reader })).body.items).toEqual([]);
      expect(await bucket.read(manifestKey(manifest))).toBeNull();
    });

    test('the same publication again is the same; the same id with other content is refused, also at the same moment', async () => {
      const object = objectOf(randomBytes(10));
      await send(object);
      await verify(object);
      const manifest = manifestOf([object]);
      const other = { ...manifest, note: 'other' };
      const answers = await Promise.all([publish(manifest), publish(manifest), publish(manifest)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 201]);
      expect((await publish(other)).status).toBe(409);
      expect(await bucket.read(manifestKey(manifest))).toBe(manifestText(manifest));
    });

    test('objects of another snapshot or target are not handed out', async () => {
      const [mine, others] = [objectOf(randomBytes(10)), objectOf(randomBytes(10))];
      for (const object of [mine, others]) {
        await send(object);
        await verify(object);
      }
      const manifest = manifestOf([mine]);
      await publish(manifest);
      const { status, body } = await post(
        `/snapshots/${manifest.id}/downloads`,
        { objects: [mine.sha256, others.sha256] },
        reader,
      );
      expect({ status, code: body.code }).toEqual({ status: 422, code: 'cloud_refused' });
    });

    test('an original is invisible for a reader, and sanitized is refused without a query', async () => {
      const plain = `plain-${randomBytes(4).toString('hex')}`;
      await putTarget(hub, plain, { settings: { storage_profile: 'team', sso_groups: ['readers'] } });
      const objects = [{ sha256: hash('x'), stored_sha256: hash('x'), stored_bytes: 1 }];
      const body = { sanitized: true, objects };
      const refused = await hub.send('POST', `/targets/${plain}/uploads`, { token: hub.ownerToken, body });
      expect(refused.body.detail).toContain('has no sanitization query');
      const original = manifestOf([], { sanitized: false });
      expect((await publish(original)).status).toBe(201);
      expect((await hub.send('GET', at(`/snapshots/${original.id}`), { token: reader })).status).toBe(404);
    });

    test('a builder removes nothing; an owner does, and the manifest leaves the bucket', async () => {
      const manifest = manifestOf([]);
      await publish(manifest);
      const path = at(`/snapshots/${manifest.id}`);
      expect((await hub.send('DELETE', path, { token: builder })).status).toBe(403);
      expect((await hub.send('DELETE', path, { token: hub.ownerToken })).status).toBe(204);
      expect((await hub.send('GET', path, { token: hub.ownerToken })).status).toBe(404);
      await eventually(async () => (await bucket.read(manifestKey(manifest))) === null);
    });

    test('the audit names who built, loaded and removed, a pull once an hour; no cell of the CSV is a formula', async () => {
      const manifest = manifestOf([]);
      await publish(manifest);
      const pull = () => hub.send('GET', at(`/snapshots/${manifest.id}`), { token: reader });
      await Promise.all(Array.from({ length: 30 }, pull));
      await pull();
      const path = `/audit_events?target=${target}`;
      const { body } = await hub.send('GET', path, { token: hub.ownerToken });
      expect(body.items.map(({ actor, action }: { actor: string; action: string }) => `${actor} ${action}`)).toEqual([
        'rita snapshot.download',
        'ci snapshot.publish',
        'trial owner target.create',
      ]);
      const { text, headers } = await hub.send('GET', path, { token: hub.ownerToken, headers: { accept: 'text/csv' } });
      expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
      expect(text.split('\r\n')[0]).toBe('at,actor,action,target,object,outcome,address,subject,issuer');
      expect(text).toContain(`rita,snapshot.download,${target},${manifest.id},done`);
    });

    test.each([
      ['a note of 300 kB', { note: 'n'.repeat(300_000) }],
      ['schemas of 300 kB', { schemas: Array.from({ length: 30 }, (_, index) => `${index}-${'s'.repeat(10_000)}`) }],
      ['a time of the day after tomorrow', { created_at: new Date(Date.now() + 2 * 86_400_000).toISOString() }],
    ])('a manifest with %s is refused: every list would have it', async (_what, change) => {
      const answer = await publish(manifestOf([], change));
      expect(answer.status, answer.text.slice(0, 300)).toBe(422);
      expect(answer.body.code).toBe('cloud_refused');
      expect((await hub.send('GET', at('/snapshots'), { token: builder })).body.items).toEqual([]);
    });

    test('a manifest with a time of tomorrow, by a clock in another zone, is published', async () => {
      const created_at = new Date(Date.now() + 14 * 3_600_000).toISOString();
      expect((await publish(manifestOf([], { created_at }))).status).toBe(201);
    });

    test('the manifest is parsed strictly', async () => {
      const manifest = manifestOf([]);
      const put = async (text: string, id = manifest.id) =>
        (await hub.send('PUT', at(`/snapshots/${id}`), { token: builder, body: text })).body.code;
      expect(await put('{}')).toBe('cloud_refused');
      expect(await put(manifestText({ ...manifest, target: 'other' }))).toBe('cloud_refused');
      expect(await put(manifestText(manifest), 'aaaaaaaa')).toBe('cloud_refused');
      expect(await put(manifestText(manifest).replace('"format": 1', '"format": 3'))).toBe('cloud_refused');
    });
  });
});
