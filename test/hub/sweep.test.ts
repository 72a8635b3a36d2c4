import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { withSweepLock } from '../../hub/database/snapshots/sweeps.ts';
import { sweepDue } from '../../hub/jobs/sweeps.ts';
import { createLog } from '../../hub/log.ts';
import { type Buckets, createBuckets } from '../../hub/objects/buckets.ts';
import { manifestText } from '../../src/repository/manifest/manifest.ts';
import { manifestKey } from '../../src/repository/repository.ts';
import type { BucketProfile } from '../../src/repository/s3/connection.ts';
import { putStorageProfile, startHub, type TestHub } from '../helpers/hub/hub.ts';
import { createHubTarget, type HubTarget, objectOf, objectPath, type TestObject } from '../helpers/hub/hub-target.ts';
import { describeWithPostgres, eventually } from '../helpers/postgres/postgres-server.ts';
import { describeWithS3, type S3Server, startS3 } from '../helpers/storage/s3-server.ts';

const HOUR = 3_600_000;

describeWithPostgres('sweep of the hub', () => {
  describeWithS3('over a real bucket', () => {
    let hub: TestHub;
    let s3: S3Server;
    let profile: BucketProfile;
    let buckets: Buckets;
    let target: HubTarget;

    beforeAll(async () => {
      [hub, s3] = await Promise.all([startHub(), startS3()]);
      profile = await s3.bucket();
      await putStorageProfile(hub, 'team', profile);
      buckets = createBuckets(hub.database.db, hub.settings.keys);
    });

    afterAll(async () => {
      await hub.stop();
      await s3.stop();
    });

    beforeEach(async () => {
      await hub.database.db
        .updateTable('sweeps')
        .set({ swept_at: new Date('2100-01-01') })
        .execute();
      target = await createHubTarget(hub, profile, 'team');
    });

    /** Sweeps as an instance does whose clock is ahead by so many hours; its log. */
    async function sweep(hours: number, change: Partial<Buckets> = {}): Promise<string> {
      const { db } = hub.database;
      const lines: string[] = [];
      const clock = () => new Date(Date.now() + hours * HOUR);
      const log = createLog({ write: (line) => void lines.push(line), clock });
      const options = { trustedKeys: hub.settings.trustedKeys, log, clock };
      await db.deleteFrom('sweeps').where('target_id', '=', target.id).execute();
      await sweepDue({ ...options, db, buckets: { ...buckets, ...change } }, new AbortController().signal);
      return lines.join('');
    }

    const there = (objects: TestObject[]) => target.store.present(objects.map(objectPath));
    const rows = () => hub.database.db.selectFrom('objects').selectAll().where('target_id', '=', target.id).execute();

    test('objects without a snapshot leave the bucket after a day, and their rows a minute later', async () => {
      const [kept, lost] = [objectOf(), objectOf()];
      await target.push([kept]);
      expect(await target.send([lost])).toEqual(['stored']);
      await sweep(23);
      expect((await there([kept, lost])).size).toBe(2);
      await sweep(25);
      expect(await there([kept, lost])).toEqual(new Set([objectPath(kept)]));
      expect((await rows()).map(({ state }) => state).sort()).toEqual(['removing', 'stored']);
      const answer = await target.uploads([lost]);
      expect(answer.body.objects).toEqual([{ answer: 'busy', sha256: lost.sha256, retry_after: 60 }]);
      await sweep(26);
      expect(await rows()).toHaveLength(1);
      expect(await target.send([lost])).toEqual(['stored']);
      expect((await there([lost])).size).toBe(1);
    });

    test('objects of a removed snapshot are removed, and those that another one shares are kept', async () => {
      const [own, shared] = [objectOf(), objectOf()];
      const removed = await target.push([own, shared]);
      const kept = await target.push([shared]);
      await target.remove(removed.id);
      await eventually(async () => (await target.store.read(manifestKey(removed))) === null);
      await sweep(25);
      expect(await there([own, shared])).toEqual(new Set([objectPath(shared)]));
      expect(await target.listed()).toEqual([kept.id]);
    });

    test('a bucket that fails does not keep snapshots of others from being removed', async () => {
      const { db } = hub.database;
      await putStorageProfile(hub, 'dead', { ...profile, endpoint: 'http://127.0.0.1:1' });
      const dead = await createHubTarget(hub, profile, 'dead');
      const [waits, manifest] = [await target.push([objectOf()]), await target.push([objectOf()])];
      const profileId = db.selectFrom('storage_profiles').select('id').where('name', '=', 'dead');
      const longAgo = new Date('2020-01-01');
      await db
        .updateTable('snapshots')
        .set({ removed_at: longAgo, profile_id: profileId, target_id: dead.id })
        .where('id', '=', waits.id)
        .execute();
      await target.remove(manifest.id);
      await eventually(async () => (await target.store.read(manifestKey(manifest))) === null);
      expect(hub.lines.join('')).toContain('Cannot remove a snapshot');
      await db.deleteFrom('snapshots').where('id', '=', waits.id).execute();
    });

    test('the next sweep completes one that was killed after it marked objects', async () => {
      const object = objectOf();
      await target.send([object]);
      await hub.database.db
        .updateTable('objects')
        .set({ state: 'removing' })
        .where('target_id', '=', target.id)
        .execute();
      await sweep(2);
      expect((await there([object])).size).toBe(0);
      await sweep(3);
      expect(await rows()).toEqual([]);
    });

    test('a bucket that fails keeps its target, is logged, and is swept later', async () => {
      const object = objectOf();
      await target.send([object]);
      const open = () => Promise.reject(new Error('no bucket today'));
      expect(await sweep(25, { open })).toContain('no bucket today');
      expect((await there([object])).size).toBe(1);
      await sweep(26);
      expect((await there([object])).size).toBe(0);
    });

    test('a publication that was cut off before its commit is imported after an hour', async () => {
      const objects = [objectOf(), objectOf()];
      await target.send(objects);
      const manifest = target.manifestOf(objects);
      await target.store.write(manifestKey(manifest), manifestText(manifest));
      // Younger than an hour: not imported yet, and nothing of it is removed, however old its objects are.
      await hub.database.db
        .updateTable('objects')
        .set({ touched_at: new Date(Date.now() - 48 * HOUR) })
        .where('target_id', '=', target.id)
        .execute();
      await sweep(0);
      expect(await target.listed()).toEqual([]);
      expect((await there(objects)).size).toBe(2);
      expect(await sweep(25)).toContain(manifest.id);
      expect(await target.listed()).toEqual([manifest.id]);
      expect((await there(objects)).size).toBe(2);
      expect((await target.publish(manifest)).status).toBe(200);
      const path = `/audit_events?action=snapshot.import&target=${target.name}`;
      const { body } = await hub.send('GET', path, { token: hub.ownerToken });
      expect(body.items).toMatchObject([{ actor: 'hub', object: manifest.id }]);
    });

    test('an import knows objects of which the database knows nothing', async () => {
      const objects = [objectOf(), objectOf()];
      const manifest = target.manifestOf(objects);
      for (const object of objects) await target.store.write(objectPath(object), object.content.toString('latin1'));
      const sizes = objects.map(({ content }) => Buffer.byteLength(content.toString('latin1')));
      manifest.files.forEach((file, index) => {
        file.stored_bytes = sizes[index] ?? 0;
      });
      await target.store.write(manifestKey(manifest), manifestText(manifest));
      await sweep(25);
      expect(await target.listed()).toEqual([manifest.id]);
      await sweep(50);
      expect((await there(objects)).size).toBe(2);
    });

    test('a manifest whose objects are missing is reported, and nothing of its target is removed', async () => {
      const [lost, unreferenced] = [objectOf(), objectOf()];
      await target.send([unreferenced]);
      const manifest = target.manifestOf([lost]);
      await target.store.write(manifestKey(manifest), manifestText(manifest));
      const log = await sweep(25);
      expect(log).toContain('1 of its objects are not in the bucket');
      expect((await there([unreferenced])).size).toBe(1);
      expect(await target.listed()).toEqual([]);
      await target.store.remove(manifestKey(manifest));
      await sweep(26);
      expect((await there([unreferenced])).size).toBe(0);
    });

    test('a snapshot that is being removed is not imported again', async () => {
      const manifest = await target.push([objectOf()]);
      await hub.database.db
        .updateTable('snapshots')
        .set({ removed_at: new Date() })
        .where('id', '=', manifest.id)
        .execute();
      await sweep(25);
      expect(await target.listed()).toEqual([]);
    });

    test('a publication that was cut off before it was offered is completed after an hour', async () => {
      const manifest = await target.push([objectOf()]);
      const { db } = hub.database;
      const unoffered = { removed_at: new Date(), missing_at: new Date() };
      await db.updateTable('snapshots').set(unoffered).where('id', '=', manifest.id).execute();
      await sweep(0);
      expect(await target.listed()).toEqual([]);
      expect(await sweep(25)).toContain(manifest.id);
      expect(await target.listed()).toEqual([manifest.id]);
    });

    test('an object whose removal was cut off is sent again, and keeps its snapshots', async () => {
      const [linked, loose] = [objectOf(), objectOf()];
      const manifest = await target.push([linked]);
      await target.send([loose]);
      const { db } = hub.database;
      const cutOff = { state: 'removing' as const, deleted_at: new Date(Date.now() - HOUR) };
      await db.updateTable('objects').set(cutOff).where('target_id', '=', target.id).execute();
      await sweep(0);
      const left = await rows();
      expect(left).toMatchObject([{ sha256: linked.sha256, state: 'expected', deleted_at: null }]);
      expect(await target.send([linked, loose])).toEqual(['stored', 'stored']);
      expect(await target.listed()).toEqual([manifest.id]);
    });

    test('objects of a removed target are removed from the bucket', async () => {
      const object = objectOf();
      await target.send([object]);
      const manifest = target.manifestOf([object]);
      await target.store.write(manifestKey(manifest), manifestText(manifest));
      const headers = { 'if-match': '"1"' };
      await hub.send('DELETE', `/targets/${target.name}`, { token: hub.ownerToken, headers });
      await sweep(25);
      expect(await target.store.list('snapshots')).toEqual([]);
      expect((await there([object])).size).toBe(0);
      await sweep(26);
      expect(await rows()).toEqual([]);
    });

    test('an upload in parts that was not completed is aborted after a day', async () => {
      const size = 65 * 1024 * 1024;
      const object = { ...objectOf(), stored_bytes: size, content: randomBytes(5) };
      const { body } = await target.uploads([object]);
      expect(body.objects[0].answer).toBe('upload_parts');
      const bucket = await buckets.open((await rows())[0]?.profile_id ?? '', target.id);
      const { client, sdk, nameOf, bucket: Bucket } = bucket.bucket;
      const unfinished = async () =>
        (await client.send(new sdk.ListMultipartUploadsCommand({ Bucket, Prefix: nameOf('objects') }))).Uploads ?? [];
      await sweep(23);
      expect(await unfinished()).toHaveLength(1);
      await sweep(25);
      expect(await unfinished()).toEqual([]);
    });

    test('one of several instances sweeps a target, once an hour', async () => {
      const { db } = hub.database;
      await target.send([objectOf()]);
      let opened = 0;
      const counting: Buckets = {
        ...buckets,
        store: (...place) => {
          if (place[1] === target.id) opened += 1;
          return buckets.store(...place);
        },
      };
      const log = createLog({ write: () => {}, clock: () => new Date() });
      const options = { db, buckets: counting, trustedKeys: null, log, clock: () => new Date() };
      const { signal } = new AbortController();
      await db.deleteFrom('sweeps').where('target_id', '=', target.id).execute();
      await withSweepLock(db, { targetId: target.id }, () => sweepDue(options, signal));
      expect(opened).toBe(0);
      await Promise.all([sweepDue(options, signal), sweepDue(options, signal), sweepDue(options, signal)]);
      expect(opened).toBe(1);
      await sweepDue(options, signal);
      expect(opened).toBe(1);
    });

    test('a publication under way keeps its objects, however old they are', async () => {
      const { db } = hub.database;
      const object = objectOf();
      await target.send([object]);
      const old = new Date(Date.now() - 48 * HOUR);
      await db.updateTable('objects').set({ touched_at: old }).where('target_id', '=', target.id).execute();
      // As a publication does before it commits.
      const manifest = target.manifestOf([object]);
      const held = await db.startTransaction().execute();
      await sql`SELECT id FROM objects WHERE target_id = ${target.id} FOR SHARE`.execute(held);
      await sweep(0);
      await held.commit().execute();
      expect((await target.publish(manifest)).status).toBe(201);
      expect((await there([object])).size).toBe(1);
    });

    test('a push to a removed target publishes nothing', async () => {
      const { db } = hub.database;
      const manifest = target.manifestOf([]);
      const removing = await db.startTransaction().execute();
      await sql`SELECT id FROM targets WHERE id = ${target.id} FOR UPDATE`.execute(removing);
      const published = target.publish(manifest);
      await eventually(async () => (await waiting()) > 0);
      await removing.updateTable('targets').set({ removed_at: new Date() }).where('id', '=', target.id).execute();
      await removing.commit().execute();
      expect((await published).body.code).toBe('target_unknown');
      expect(await target.store.read(manifestKey(manifest))).toBeNull();
    });

    async function waiting(): Promise<number> {
      const { rows: found } = await sql<{
        count: number;
      }>`SELECT count(*) AS count FROM pg_locks WHERE NOT granted`.execute(hub.database.db);
      return Number(found[0]?.count);
    }
  });
});
