import { createHash, randomBytes } from 'node:crypto';
import { type Manifest, manifestText } from '../../../src/repository/manifest/manifest.ts';
import { FRAME_BYTES } from '../../../src/repository/objects/object-format.ts';
import { createPacker } from '../../../src/repository/objects/pack-object.ts';
import type { BucketProfile } from '../../../src/repository/s3/connection.ts';
import { createS3Store } from '../../../src/repository/s3/store.ts';
import type { Store } from '../../../src/repository/store/store.ts';
import { putTarget, type Received, type TestHub } from './hub.ts';

/** An object as a client knows it: named by the hash of its content. */
export interface TestObject {
  /** The stored bytes. */
  content: Buffer;
  sha256: string;
  stored_sha256: string;
  stored_bytes: number;
}

export function hash(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Content in frames, as `tool` stores it. */
export function objectOf(plain: Buffer = randomBytes(20)): TestObject {
  const packer = createPacker(null);
  const frames: Buffer[] = [];
  for (let from = 0; from < plain.length; from += FRAME_BYTES) {
    frames.push(packer.add(plain.subarray(from, from + FRAME_BYTES)));
  }
  const { table, packed } = packer.finish();
  const content = Buffer.concat([...frames, table]);
  return { content, sha256: packed.sha256, stored_sha256: packed.storedSha256, stored_bytes: content.length };
}

export function objectPath({ sha256 }: Pick<TestObject, 'sha256'>): string {
  return `objects/${sha256.slice(0, 2)}/${sha256}`;
}

/** A target of a hub with a bucket, and what a builder sends to it. */
export interface HubTarget {
  name: string;
  id: string;
  /** The part of the bucket that belongs to the target. */
  store: Store;
  /** Token of a builder. */
  builder: string;
  uploads(objects: TestObject[]): Promise<Received>;
  /** Asks for URLs, sends what is asked for, and verifies: the answers of `verify`, or `busy`. */
  send(objects: TestObject[]): Promise<string[]>;
  manifestOf(objects: TestObject[], change?: Partial<Manifest>): Manifest;
  publish(manifest: Manifest): Promise<Received>;
  /** Sends the objects and publishes a snapshot of them. */
  push(objects: TestObject[]): Promise<Manifest>;
  /** As an owner. */
  remove(id: string): Promise<Received>;
  /** Ids of the snapshots that the hub lists. */
  listed(): Promise<string[]>;
}

export type HubSender = Pick<TestHub, 'send' | 'ownerToken' | 'service'>;

export async function createHubTarget(hub: TestHub, profile: BucketProfile, profileName: string): Promise<HubTarget> {
  const name = `orders-${randomBytes(4).toString('hex')}`;
  const settings = {
    storage_profile: profileName,
    sso_groups: ['readers'],
    sanitize: { override_query: 'UPDATE users SET email = NULL' },
  };
  const id = await putTarget(hub, name, { settings });
  const builder = (await hub.service('ci', 'builder', [id])).token;
  return openHubTarget(hub, { name, id, builder, profile });
}

interface Known {
  name: string;
  id: string;
  builder: string;
  profile: BucketProfile;
}

/** The same target by another instance. */
export async function openHubTarget(hub: HubSender, { name, id, builder, profile }: Known): Promise<HubTarget> {
  const { signal } = new AbortController();
  const prefix = [profile.prefix, id].filter(Boolean).join('/');
  const store = await createS3Store({ name: 'test', profile: { ...profile, prefix }, signal });
  const at = (path: string): string => `/targets/${name}${path}`;
  const post = (path: string, body: object) => hub.send('POST', at(path), { token: builder, body });
  const target: HubTarget = {
    ...{ name, id, store, builder },
    uploads: (objects) =>
      post('/uploads', { sanitized: true, objects: objects.map(({ content: _, ...object }) => object) }),
    async send(objects) {
      const { status, body, text } = await target.uploads(objects);
      if (status !== 200) throw new Error(text);
      const busy: string[] = body.objects.filter(({ answer }: { answer: string }) => answer === 'busy');
      if (busy.length > 0) return ['busy'];
      for (const [index, { answer, href, header }] of body.objects.entries()) {
        if (answer !== 'upload') continue;
        const { 'content-length': _, ...headers } = header;
        const content = objects[index]?.content ?? Buffer.alloc(0);
        const sent = await fetch(href, { method: 'PUT', headers, body: new Uint8Array(content) });
        if (sent.status !== 200 && sent.status !== 412) throw new Error(await sent.text());
      }
      const verified = await post('/verify', { sanitized: true, objects: objects.map(({ sha256 }) => ({ sha256 })) });
      if (verified.status !== 200) throw new Error(verified.text);
      return verified.body.objects.map(({ answer }: { answer: string }) => answer);
    },
    manifestOf: (objects, change = {}) => ({
      format: 1,
      id: randomBytes(4).toString('hex'),
      target: name,
      created_at: new Date().toISOString(),
      engine: 'postgres',
      server_version: '15.18',
      tool_version: 'pg_dump 15.18',
      sanitized: true,
      note: null,
      schemas: ['public'],
      tables: [],
      files: objects.map(({ sha256, stored_bytes }, index) => ({
        name: `${index}.dat`,
        sha256,
        bytes: 1,
        stored_bytes,
      })),
      added_bytes: 0,
      details: {},
      ...change,
    }),
    publish: (manifest) =>
      hub.send('PUT', at(`/snapshots/${manifest.id}`), { token: builder, body: manifestText(manifest) }),
    async push(objects) {
      const answers = await target.send(objects);
      if (answers.some((answer) => answer !== 'stored')) throw new Error(answers.join());
      const manifest = target.manifestOf(objects);
      const { status, text } = await target.publish(manifest);
      if (status !== 201) throw new Error(text);
      return manifest;
    },
    remove: (snapshot) => hub.send('DELETE', at(`/snapshots/${snapshot}`), { token: hub.ownerToken }),
    async listed() {
      const { body } = await hub.send('GET', at('/snapshots?limit=200'), { token: hub.ownerToken });
      return body.items.map(({ id: snapshot }: { id: string }) => snapshot);
    },
  };
  return target;
}
