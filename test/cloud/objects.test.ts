import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createCloudClient } from '../../src/cloud/client.ts';
import { createCloudObjects } from '../../src/cloud/objects/cloud-objects.ts';
import { type Manifest, type ManifestFile, manifestText } from '../../src/repository/manifest/manifest.ts';
import { createS3Store } from '../../src/repository/s3/store.ts';
import { objectKey } from '../../src/repository/store/keys.ts';
import type { ObjectStore, Store } from '../../src/repository/store/store.ts';
import { testObjects } from '../contracts/store.ts';
import { type ForgingHub, startForgingHub } from '../helpers/hub/forging-hub.ts';
import { putStorageProfile, putTarget, startHub, type TestHub } from '../helpers/hub/hub.ts';
import { objectOf as packedObject } from '../helpers/hub/hub-target.ts';
import { describeWithPostgres, temporaryFolder } from '../helpers/postgres/postgres-server.ts';
import { type FaultProxy, startFaultProxy } from '../helpers/storage/fault-proxy.ts';
import { describeWithS3, type S3Server, startS3 } from '../helpers/storage/s3-server.ts';

const MEGABYTE = 1024 * 1024;

function hash(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('hex');
}

describeWithPostgres('the objects of a cloud target', () => {
  describeWithS3('over a real bucket', () => {
    let hub: TestHub;
    let s3: S3Server;
    let proxy: FaultProxy;
    let forging: ForgingHub;
    let profile: Awaited<ReturnType<S3Server['bucket']>>;

    beforeAll(async () => {
      [hub, s3] = await Promise.all([startHub(), startS3()]);
      [proxy, forging] = await Promise.all([startFaultProxy(s3.endpoint), startForgingHub(hub.url)]);
      profile = await s3.bucket();
      await putStorageProfile(hub, 'team', { ...profile, endpoint: proxy.endpoint });
    });

    afterAll(async () => {
      await forging.stop();
      await hub.stop();
      await proxy.stop();
      await s3.stop();
    });

    interface World {
      target: string;
      token: string;
      /** What lies in the bucket. */
      bucket: Store;
    }

    async function newWorld(): Promise<World> {
      const target = `orders-${randomBytes(4).toString('hex')}`;
      const settings = { storage_profile: 'team', sanitize: { override_query: 'SELECT 1' } };
      const id = await putTarget(hub, target, { settings });
      const { token } = await hub.service('ci', 'builder', [id]);
      const { signal } = new AbortController();
      return {
        target,
        token,
        bucket: await createS3Store({ name: 'team', profile: { ...profile, prefix: id }, signal }),
      };
    }

    interface Opening {
      directory: string;
      url?: string;
      token?: string;
      renew?: () => Promise<string | null>;
    }

    /** The objects of snapshots, as a process opens them. */
    function open(world: World, { directory, url = hub.url, token = world.token, renew }: Opening) {
      const { signal } = new AbortController();
      const endpoint = `${url}/api/v3`;
      const client = createCloudClient({ endpoint, token, version: '0.1.0', signal, ...(renew && { renew }) });
      return createCloudObjects({ name: world.target, client, target: world.target, directory, signal });
    }

    function manifestOf({ target }: World, files: Omit<ManifestFile, 'name'>[]): Manifest {
      return {
        ...{ format: 1, id: randomBytes(4).toString('hex'), target, created_at: new Date().toISOString() },
        ...{ engine: 'postgres', server_version: '15.18', tool_version: 'pg_dump 15.18', sanitized: true, note: null },
        ...{ schemas: ['public'], tables: [], added_bytes: 0, details: {} },
        files: files.map((file, index) => ({ ...file, name: `${index}.dat` })),
      };
    }

    async function publish({ target, token }: World, manifest: Manifest): Promise<void> {
      const body = manifestText(manifest);
      const { status, text } = await hub.send('PUT', `/targets/${target}/snapshots/${manifest.id}`, { token, body });
      expect(status, text).toBe(201);
    }

    describe('behaves as an object store', () => {
      testObjects({
        create: async (folder) => objectStoreOf(await newWorld(), folder),
        seesBytes: true,
        // The hub compares small objects with their names.
        stored: (content) => packedObject(content).content,
      });
    });

    /** A snapshot of all that was put is published before something is got. */
    function objectStoreOf(world: World, directory: string): ObjectStore {
      const objectsOf = open(world, { directory });
      const put = new Map<string, Omit<ManifestFile, 'name'>>();
      const fileOf = (key: string): Omit<ManifestFile, 'name'> => {
        const sha256 = key.slice(key.lastIndexOf('/') + 1);
        return put.get(key) ?? { sha256, bytes: 1, stored_bytes: 1, stored_sha256: sha256 };
      };
      return {
        present: (keys) => objectsOf(manifestOf(world, keys.map(fileOf))).present(keys),
        async put(key, path, transfer) {
          const content = await readFile(path);
          const file = { ...fileOf(key), bytes: content.length, stored_bytes: content.length };
          await objectsOf(manifestOf(world, [file])).put(key, path, transfer);
          put.set(key, { ...file, stored_sha256: hash(content) });
        },
        async get(key, path, transfer) {
          const manifest = manifestOf(world, [...put.values()]);
          await publish(world, manifest);
          return objectsOf(manifest).get(key, path, transfer);
        },
      };
    }

    describe('survives faults', () => {
      let world: World;
      let folder: Awaited<ReturnType<typeof temporaryFolder>>;

      beforeEach(async () => {
        world = await newWorld();
        folder = await temporaryFolder();
        await mkdir(join(folder.path, 'work'));
        proxy.requests.length = 0;
        forging.requests.length = 0;
      });

      afterEach(async () => {
        proxy.fault = () => null;
        forging.forge = (_request, body) => body;
        await folder[Symbol.asyncDispose]();
      });

      /** An object of this content, as a file and in a manifest. */
      async function objectOf(plain: Buffer) {
        const { content, sha256, stored_sha256, stored_bytes } = packedObject(plain);
        const path = join(folder.path, sha256);
        await writeFile(path, content);
        const file = { sha256, bytes: plain.length, stored_bytes, stored_sha256 };
        return { path, file, key: objectKey(sha256), stored_sha256, stored_bytes };
      }

      type TestObject = Awaited<ReturnType<typeof objectOf>>;

      async function push(objects: TestObject[], change: Partial<Opening> = {}) {
        const store = open(world, { directory: join(folder.path, 'work'), ...change })(
          manifestOf(
            world,
            objects.map(({ file }) => file),
          ),
        );
        const there = await store.present(objects.map(({ key }) => key));
        let told = 0;
        const { signal } = new AbortController();
        const onBytes = (bytes: number): void => {
          told += bytes;
        };
        const transfer = { signal, onBytes };
        const lacking = objects.filter(({ key }) => !there.has(key));
        await Promise.all(
          lacking.map(({ key, path, stored_sha256: sha256 }) => store.put(key, path, { ...transfer, sha256 })),
        );
        return { sent: lacking.length, told };
      }

      const uploads = () => proxy.requests.filter(({ method, key }) => method === 'PUT' && key.includes('objects/'));

      test('push sends each object once, and none that the hub has', async () => {
        const objects = await Promise.all([randomBytes(10), randomBytes(300_000)].map(objectOf));
        expect(await push(objects)).toEqual({
          sent: 2,
          told: objects.reduce((sum, { stored_bytes }) => sum + stored_bytes, 0),
        });
        expect(await push(objects)).toEqual({ sent: 0, told: 0 });
        expect(uploads()).toHaveLength(2);
      });

      test('after an interruption only the lacking parts of a large object are sent', { timeout: 60_000 }, async () => {
        const object = await objectOf(Buffer.alloc(70 * MEGABYTE, randomBytes(MEGABYTE)));
        proxy.fault = ({ query }) =>
          query.includes('partNumber=5') ? { kind: 'status', status: 403, code: 'AccessDenied' } : null;
        await expect(push([object])).rejects.toMatchObject({ code: 'storage_forbidden', exit: 4 });
        const first = uploads().filter(({ status }) => status === 200).length;
        expect(first).toBe(4);
        const journal = join(folder.path, 'work/cache/hub-uploads');
        expect(await readdir(journal)).toHaveLength(1);
        proxy.fault = () => null;
        proxy.requests.length = 0;
        expect(await push([object])).toEqual({ sent: 1, told: object.stored_bytes });
        expect(uploads().map(({ query }) => /partNumber=(\d+)/.exec(query)?.[1])).toEqual(['5']);
        expect(await world.bucket.find(object.key)).toMatchObject({ bytes: object.stored_bytes });
        expect(await readdir(journal)).toEqual([]);
        const got = join(folder.path, 'got');
        const { signal } = new AbortController();
        expect(await world.bucket.get(object.key, got, { signal, onBytes: () => {} })).toBe(object.stored_sha256);
      });

      test('an upload whose parts the bucket has dropped restarts', { timeout: 60_000 }, async () => {
        const object = await objectOf(Buffer.alloc(65 * MEGABYTE, randomBytes(MEGABYTE)));
        proxy.fault = ({ query }) =>
          query.includes('partNumber=5') ? { kind: 'status', status: 403, code: 'AccessDenied' } : null;
        await expect(push([object])).rejects.toMatchObject({ code: 'storage_forbidden' });
        proxy.fault = () => null;
        await world.bucket.removeUnfinished(new Date(Date.now() + 60_000));
        expect(await push([object])).toEqual({ sent: 1, told: object.stored_bytes });
        expect(await world.bucket.find(object.key)).toMatchObject({ bytes: object.stored_bytes });
      });

      test('an expired URL of an upload or a download is requested again', async () => {
        const object = await objectOf(randomBytes(1000));
        const asked = (path: string) => forging.requests.filter((request) => request.path.endsWith(path));
        /** What the first answer of the hub has is refused. */
        const expired = (path: string) =>
          asked(path).length === 1 ? ({ kind: 'status', status: 403, code: 'AccessDenied' } as const) : null;
        proxy.fault = ({ method, key }) => (method === 'PUT' && key.includes('objects/') ? expired('/uploads') : null);
        await push([object], { url: forging.url });
        expect(asked('/uploads')).toHaveLength(2);
        const manifest = manifestOf(world, [object.file]);
        await publish(world, manifest);
        proxy.fault = ({ method }) => (method === 'GET' ? expired('/downloads') : null);
        const store = open(world, { directory: folder.path, url: forging.url })(manifest);
        const { signal } = new AbortController();
        expect(await store.get(object.key, join(folder.path, 'got'), { signal, onBytes: () => {} })).toBe(
          object.stored_sha256,
        );
        expect(asked('/downloads')).toHaveLength(2);
      });

      test.each([
        { kind: 'cut', where: 'request' },
        { kind: 'lost-answer' },
        { kind: 'status', status: 503, code: 'SlowDown' },
        { kind: 'corrupt', where: 'request' },
      ] as const)('an upload with the fault $kind arrives as it is', async (fault) => {
        const object = await objectOf(randomBytes(300_000));
        let faults = 0;
        proxy.fault = ({ method, key }) => {
          if (method !== 'PUT' || !key.includes('objects/') || faults > 0) return null;
          faults += 1;
          return fault;
        };
        expect(await push([object])).toEqual({ sent: 1, told: object.stored_bytes });
        expect(faults).toBe(1);
        const { signal } = new AbortController();
        const got = world.bucket.get(object.key, join(folder.path, 'got'), { signal, onBytes: () => {} });
        expect(await got).toBe(object.stored_sha256);
      });

      test('an object that another client was faster with counts as sent; another one in its place is sent again', async () => {
        const [same, other] = [await objectOf(randomBytes(1000)), await objectOf(randomBytes(1000))];
        const { signal } = new AbortController();
        await world.bucket.put(same.key, same.path, { signal, onBytes: () => {} });
        await world.bucket.write(other.key, 'something else');
        expect(await push([same, other])).toEqual({ sent: 2, told: same.stored_bytes + other.stored_bytes });
        expect(
          uploads()
            .map(({ status }) => status)
            .sort(),
        ).toEqual([200, 412, 412]);
        const got = world.bucket.get(other.key, join(folder.path, 'got'), { signal, onBytes: () => {} });
        expect(await got).toBe(other.stored_sha256);
      });

      test('push waits while an object is being removed', async () => {
        const object = await objectOf(randomBytes(1000));
        let busy = 0;
        forging.forge = ({ path }, body) => {
          if (!path.endsWith('/uploads') || busy === 3) return body;
          busy += 1;
          return { objects: [{ answer: 'busy', sha256: object.file.sha256, retry_after: 0 }] };
        };
        expect(await push([object], { url: forging.url })).toMatchObject({ sent: 1 });
        expect(busy).toBe(3);
      });

      test('one of many requests with a refused token renews it; the push fails without a new token', async () => {
        const objects = await Promise.all(Array.from({ length: 12 }, () => objectOf(randomBytes(100))));
        let renewals = 0;
        const renew = async (): Promise<string> => {
          renewals += 1;
          await hub.send('GET', '/');
          return world.token;
        };
        const files = objects.map(({ file }) => file);
        const store = open(world, { directory: folder.path, token: 'toolhub_wrong', renew })(manifestOf(world, files));
        const { signal } = new AbortController();
        await Promise.all(objects.map(({ key, path }) => store.put(key, path, { signal, onBytes: () => {} })));
        expect(uploads()).toHaveLength(12);
        expect(renewals).toBe(1);
        const [other] = [await objectOf(randomBytes(100))];
        await expect(push([other], { token: 'toolhub_wrong' })).rejects.toMatchObject({
          code: 'cloud_token_refused',
          exit: 4,
        });
      });

      describe('rejects forged responses', () => {
        /** A service of somebody else that notes what it gets. */
        async function stranger(answer: { status: number; headers?: Record<string, string> }) {
          const seen: { headers: object }[] = [];
          const server = createServer((incoming, outgoing) => {
            seen.push({ headers: incoming.headers });
            incoming.resume().on('end', () => outgoing.writeHead(answer.status, answer.headers ?? {}).end());
          });
          await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
          onTestFinished(() => void server.close());
          return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
        }

        // biome-ignore lint/suspicious/noExplicitAny: the test forges it.
        const forgeUploads = (change: (object: any) => object): void => {
          forging.forge = ({ path }, body) => {
            if (!path.endsWith('/uploads')) return body;
            return { objects: (body as { objects: object[] }).objects.map(change) };
          };
        };

        test.each([
          ['http://storage.example.com/objects/aa', 'http://storage.example.com'],
          ['file:///etc/passwd', 'file://'],
          ['https://user:password@storage.example.com/', 'https://storage.example.com'],
          ['no URL', 'The hub signed an invalid URL'],
        ])('%s is not sent to', async (href, named) => {
          const object = await objectOf(randomBytes(10));
          forgeUploads((answer) => ({ ...answer, href }));
          const refused = push([object], { url: forging.url });
          await expect(refused).rejects.toMatchObject({ code: 'storage_url_refused', exit: 5 });
          await expect(refused).rejects.toThrow(named);
        });

        test.each([{ cookie: 'a=b' }, { authorization: 'Bearer x' }, { 'x-amz-acl': 'a\r\nb: c' }])(
          'the header %j is not sent',
          async (header) => {
            const object = await objectOf(randomBytes(10));
            const { url, seen } = await stranger({ status: 200 });
            forgeUploads((answer) => ({ ...answer, href: `${url}/x`, header }));
            await expect(push([object], { url: forging.url })).rejects.toMatchObject({ code: 'storage_url_refused' });
            expect(seen).toEqual([]);
          },
        );

        test('the token is not sent to a bucket, and no redirection is followed', async () => {
          const object = await objectOf(randomBytes(10));
          const other = await stranger({ status: 200 });
          const { url, seen } = await stranger({ status: 307, headers: { location: other.url } });
          forgeUploads((answer) => ({ ...answer, href: `${url}/x` }));
          await expect(push([object], { url: forging.url })).rejects.toMatchObject({ exit: 4 });
          expect(seen).toHaveLength(1);
          expect(JSON.stringify(seen)).not.toContain(world.token);
          expect(other.seen).toEqual([]);
        });

        test.each([
          ['an answer for another object', (answer: object) => ({ ...answer, sha256: hash('other') })],
          [
            'parts of one byte',
            ({ sha256 }: { sha256: string }) => ({
              ...{ answer: 'upload_parts', sha256, upload_id: 'u', part_bytes: 1, from_part: 1, parts: [] },
              expires_at: new Date().toISOString(),
            }),
          ],
        ])('%s is not a valid response', async (_what, change) => {
          const object = await objectOf(randomBytes(10));
          forgeUploads(change as (object: object) => object);
          await expect(push([object], { url: forging.url })).rejects.toMatchObject({
            code: 'cloud_answer_invalid',
            exit: 4,
          });
        });

        test('an object that the hub never finds as it was sent is an error after three rounds', async () => {
          const object = await objectOf(randomBytes(10));
          let first: unknown;
          forging.forge = ({ path }, body) => {
            if (path.endsWith('/verify')) return { objects: [{ sha256: object.file.sha256, answer: 'differs' }] };
            first ??= body;
            return path.endsWith('/uploads') ? first : body;
          };
          const pushed = push([object], { url: forging.url });
          await expect(pushed).rejects.toMatchObject({ code: 'object_not_stored', exit: 1 });
          expect(forging.requests.filter(({ path }) => path.endsWith('/verify'))).toHaveLength(3);
        });
      });
    });
  });
});
