import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HUB } from '../../hub/database/audit.ts';
import { publishImage } from '../../hub/database/snapshots/images.ts';
import { settleObject } from '../../hub/database/snapshots/objects.ts';
import { findSnapshot } from '../../hub/database/snapshots/snapshots.ts';
import { putStorageProfile, startHub } from '../helpers/hub/hub.ts';
import { createHubTarget, type HubTarget, objectOf } from '../helpers/hub/hub-target.ts';
import { describeWithPostgres, eventually } from '../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

describeWithPostgres('a bucket that does not answer', () => {
  const hub = suiteResource(() => startHub());
  /** Requests that the bucket has not answered; absent: it answers each at once, and has no object. */
  let held: [method: string, ServerResponse][] | null = null;
  const bucket = createServer((request, response) => {
    request.resume();
    const { method = '' } = request;
    if (held) held.push([method, response]);
    else answer(method, response);
  });
  let target: HubTarget;

  function answer(method: string, response: ServerResponse): void {
    response.writeHead(method === 'HEAD' ? 404 : 200, { etag: '"1"' }).end();
  }

  /** Resolves when the bucket has so many requests. */
  const begun = (count: number): Promise<void> => eventually(async () => (held?.length ?? 0) >= count);

  function release(): void {
    const waiting = held ?? [];
    held = null;
    for (const [method, response] of waiting) answer(method, response);
  }

  /** Connections of requests that are in a transaction and execute nothing. */
  async function idleInTransaction(): Promise<number> {
    const { rows } = await sql<{ count: number }>`SELECT count(*) AS count FROM pg_stat_activity
      WHERE application_name = 'tool hub' AND state LIKE 'idle in transaction%'`.execute(hub.database.db);
    return Number(rows[0]?.count);
  }

  beforeAll(async () => {
    bucket.listen(0, '127.0.0.1');
    await once(bucket, 'listening');
    const endpoint = `http://127.0.0.1:${(bucket.address() as AddressInfo).port}`;
    const keys = { access_key: 'key', secret_key: 'secret' };
    const profile = { provider: 's3' as const, bucket: 'slow', endpoint, ...keys };
    await putStorageProfile(hub, 'slow', profile);
    target = await createHubTarget(hub, profile, 'slow');
  });

  afterAll(async () => {
    bucket.closeAllConnections();
    bucket.close();
  });

  test('holds no connection to the database, and the hub answers others', async () => {
    const objects = Array.from({ length: 12 }, () => objectOf());
    expect((await target.uploads(objects)).status).toBe(200);
    const manifest = target.manifestOf([]);
    held = [];
    const verifying = objects.map(({ sha256 }) =>
      hub.send('POST', `/targets/${target.name}/verify`, {
        token: target.builder,
        body: { sanitized: true, objects: [{ sha256 }] },
      }),
    );
    const publishing = target.publish(manifest);
    await begun(13);
    expect(await idleInTransaction()).toBe(0);
    expect(await target.listed()).toEqual([]);
    release();
    for (const { body } of await Promise.all(verifying)) expect(body.objects[0].answer).toBe('missing');
    expect((await publishing).status).toBe(201);
    expect(await target.listed()).toEqual([manifest.id]);

    const snapshot = await findSnapshot(hub.database.db, { targetId: target.id, originals: true, id: manifest.id });
    if (!snapshot) throw new Error('The snapshot is missing');
    let idle = -1;
    await publishImage(hub.database.db, {
      ...{ snapshot, name: '15-linux-x64', sha256s: [], manifestKey: 'key', manifestSha256: 'a'.repeat(64) },
      ...{ event: { by: HUB, action: 'image.publish' }, permit: async () => {} },
      store: async () => {
        idle = await idleInTransaction();
      },
    });
    expect(idle).toBe(0);
  });

  /** Uploads of an object, as the hub permits them, and the place of its row. */
  async function expected() {
    const object = objectOf();
    const request = async (): Promise<string> => (await target.uploads([object])).body.objects[0].answer;
    expect(await request()).toBe('upload');
    const { db } = hub.database;
    const { sha256, stored_bytes } = object;
    const rows = db.selectFrom('objects').select('profile_id').where('sha256', '=', sha256);
    const { profile_id: profileId } = await rows.executeTakeFirstOrThrow();
    return { db, place: { targetId: target.id, profileId, sha256 }, bytes: stored_bytes, request };
  }

  test('an object that another request touches while the bucket answers is inspected again', async () => {
    const { db, place, bytes, request } = await expected();
    let looks = 0;
    const inspect = async () => {
      looks += 1;
      if (looks === 1) await request();
      return { bytes, isIntact: true };
    };
    expect(await settleObject(db, place, { inspect, remove: async () => {} })).toBe('stored');
    expect(looks).toBe(2);
    expect(await request()).toBe('present');
  });

  test('no upload is accepted while an object that differs is removed', async () => {
    const { db, place, bytes, request } = await expected();
    const meanwhile: unknown[] = [];
    const inspect = async () => ({ bytes, isIntact: false });
    const remove = async (): Promise<void> => {
      meanwhile.push(await request());
      meanwhile.push(await settleObject(db, place, { inspect, remove: async () => {} }), await idleInTransaction());
    };
    expect(await settleObject(db, place, { inspect, remove })).toBe('differs');
    expect(meanwhile).toEqual(['busy', 'missing', 0]);
    expect(await request()).toBe('upload');
  });
});
