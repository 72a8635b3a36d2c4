import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { reportObjects } from '../../hub/database/snapshots/object-checks.ts';
import { startObjectChecks } from '../../hub/jobs/object-checks.ts';
import { sweepDue } from '../../hub/jobs/sweeps.ts';
import { createLog } from '../../hub/log.ts';
import { createBuckets } from '../../hub/objects/buckets.ts';
import { compressFrame, encodeSeekTable } from '../../src/repository/objects/object-format.ts';
import type { BucketProfile } from '../../src/repository/s3/connection.ts';
import { putStorageProfile, type Received, startHub, type TestHub } from '../helpers/hub/hub.ts';
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

const MEGABYTE = 1024 * 1024;

/** Other bytes under the name of an object, as a malicious builder declares them. */
function poisoned({ sha256 }: TestObject, content: Buffer): TestObject {
  return { content, sha256, stored_sha256: hash(content), stored_bytes: content.length };
}

/** A frame that claims to have other content than it has. */
function falseFrame(bytes: number): Buffer {
  const frame = compressFrame(Buffer.alloc(100));
  return Buffer.concat([frame, encodeSeekTable([{ storedBytes: frame.length, bytes }])]);
}

describeWithPostgres('damaged objects of a hub', () => {
  describeWithS3('over a real bucket', () => {
    let hub: TestHub;
    let s3: S3Server;
    let profile: BucketProfile;
    let target: HubTarget;
    let reader: string;

    beforeAll(async () => {
      [hub, s3] = await Promise.all([startHub(), startS3()]);
      profile = await s3.bucket();
      await putStorageProfile(hub, 'team', profile);
      reader = (await hub.person('rita', ['readers'])).token;
    });

    afterAll(async () => {
      await hub.stop();
      await s3.stop();
    });

    beforeEach(async () => {
      target = await createHubTarget(hub, profile, 'team');
    });

    const answersOf = ({ status, body, text }: Received): string[] => {
      expect(status, text).toBe(200);
      return body.objects.map(({ answer }: { answer: string }) => answer);
    };

    const asked = async (object: TestObject) => answersOf(await target.uploads([object]))[0];

    const sendReport = (snapshot: string, objects: TestObject[], token = reader): Promise<Received> =>
      hub.send('POST', `/targets/${target.name}/snapshots/${snapshot}/reports`, {
        token,
        body: { objects: objects.map(({ sha256 }) => sha256) },
      });

    /** The first answer after the check. */
    async function report(snapshot: string, object: TestObject, token = reader): Promise<string | undefined> {
      let answer: string | undefined;
      await eventually(async () => {
        [answer] = answersOf(await sendReport(snapshot, [object], token));
        return answer !== 'checking';
      });
      return answer;
    }

    /** Writes over an object, as a disk that rots or a person with the keys of the bucket does. */
    async function overwrite(object: TestObject, content: Buffer): Promise<void> {
      const { PutObjectCommand } = await import('@aws-sdk/client-s3');
      const Key = [profile.prefix, target.id, objectPath(object)].filter(Boolean).join('/');
      await s3.client.send(new PutObjectCommand({ Bucket: profile.bucket, Key, Body: content }));
    }

    async function downloaded(snapshot: string, { sha256 }: TestObject): Promise<Buffer> {
      const path = `/targets/${target.name}/snapshots/${snapshot}/downloads`;
      const { body } = await hub.send('POST', path, { token: reader, body: { objects: [sha256] } });
      return Buffer.from(await (await fetch(body.objects[0].href)).arrayBuffer());
    }

    function flipped(content: Buffer): Buffer {
      const changed = Buffer.from(content);
      const at = Math.floor(content.length / 3);
      changed[at] = (changed[at] ?? 0) ^ 1;
      return changed;
    }

    const auditOf = async (action: string): Promise<{ actor: string; object: string }[]> => {
      const path = `/audit_events?target=${target.name}&action=${action}`;
      const { body } = await hub.send('GET', path, { token: hub.ownerToken });
      return body.items.map(({ actor, object }: { actor: string; object: string }) => ({ actor, object }));
    };

    describe('verify', () => {
      const good = objectOf(randomBytes(5000));

      test.each([
        ['bytes of no format', randomBytes(5000)],
        ['an object of other content', objectOf(randomBytes(5000)).content],
        ['no bytes', Buffer.alloc(0)],
        ['a frame that is longer than it says', falseFrame(50)],
        ['a frame that is shorter than it says', falseFrame(5000)],
        ['the content in one frame without a table', compressFrame(Buffer.alloc(5000))],
        ['content with other frames behind it', Buffer.concat([compressFrame(Buffer.alloc(9)), good.content])],
      ])('refuses %s under the name of an object, and the next push sends it', async (_what, content) => {
        expect(await target.send([poisoned(good, content)])).toEqual(['differs']);
        expect(await target.store.find(objectPath(good))).toBeNull();
        expect(await asked(good)).toBe('upload');
        const { id } = await target.push([good]);
        expect(await downloaded(id, good)).toEqual(good.content);
      });

      test('reads no more than a megabyte, and no more content than 16 MB', async () => {
        const large = objectOf(randomBytes(MEGABYTE));
        const long = objectOf(Buffer.alloc(17 * MEGABYTE));
        const both = [poisoned(large, randomBytes(large.stored_bytes)), long];
        expect(await target.send(both)).toEqual(['stored', 'stored']);
        const rows = hub.database.db.selectFrom('objects').selectAll().where('target_id', '=', target.id);
        expect((await rows.execute()).map(({ verified_at }) => verified_at)).toEqual([null, null]);
      });
    });

    describe('report', () => {
      test('a report of a large object with other content makes the next push replace it', async () => {
        const good = objectOf(randomBytes(3 * MEGABYTE));
        const poison = poisoned(good, objectOf(randomBytes(3 * MEGABYTE)).content);
        const first = await target.push([poison]);
        expect(await asked(good)).toBe('present');
        expect(await report(first.id, good)).toBe('damaged');
        expect(await target.store.find(objectPath(good))).toBeNull();
        expect(await asked(good)).toBe('upload');
        const second = await target.push([good]);
        for (const { id } of [first, second]) expect(await downloaded(id, good)).toEqual(good.content);
        expect(await asked(good)).toBe('present');
        expect(await auditOf('snapshot.report')).toEqual([{ actor: 'rita', object: first.id }]);
        expect(await auditOf('object.damaged')).toEqual([{ actor: 'hub', object: good.sha256 }]);
      });

      test.each([
        ['a changed byte', (content: Buffer) => flipped(content)],
        ['a lost end', (content: Buffer) => content.subarray(0, content.length - 7)],
      ])('a report of an object with %s makes the next push replace it', async (_what, change) => {
        const object = objectOf(randomBytes(3000));
        const { id } = await target.push([object]);
        await overwrite(object, change(object.content));
        expect(await asked(object)).toBe('present');
        expect(await report(id, object)).toBe('damaged');
        expect(await target.send([object])).toEqual(['stored']);
        expect(await downloaded(id, object)).toEqual(object.content);
      });

      test('a report of an object that the bucket lacks makes the next push send it', async () => {
        const object = objectOf();
        const { id } = await target.push([object]);
        await target.store.remove(objectPath(object));
        expect(await report(id, object)).toBe('damaged');
        expect(await target.send([object])).toEqual(['stored']);
      });

      test.each(['reader', 'builder'] as const)('a report of an intact object by a %s changes nothing', async (who) => {
        const [small, large] = [objectOf(), objectOf(randomBytes(2 * MEGABYTE))];
        const { id } = await target.push([small, large]);
        const token = who === 'reader' ? reader : target.builder;
        for (const object of [small, large]) {
          expect(await report(id, object, token)).toBe('intact');
          expect(await asked(object)).toBe('present');
          expect(await downloaded(id, object)).toEqual(object.content);
        }
        expect(await auditOf('object.damaged')).toEqual([]);
      });

      test('is refused for objects of another snapshot, and for a snapshot that the caller may not read', async () => {
        const [mine, other] = [objectOf(), objectOf()];
        const [{ id }, hidden] = [await target.push([mine]), await target.push([other])];
        expect((await sendReport(id, [mine, other])).status).toBe(422);
        const { token } = await hub.person('zoe', []);
        expect((await sendReport(hidden.id, [other], token)).status).toBe(404);
        const rows = hub.database.db.selectFrom('objects').select('reported_at').where('target_id', '=', target.id);
        expect((await rows.execute()).map(({ reported_at }) => reported_at)).toEqual([null, null]);
      });

      test('reports by a reader check an object once an hour, by a builder once a minute', async () => {
        const object = objectOf();
        const { id } = await target.push([object]);
        expect(await report(id, object)).toBe('intact');
        const checkedAgo = async (minutes: number): Promise<void> => {
          const before = new Date(Date.now() - minutes * 60_000);
          const change = { checked_at: before, verified_at: before };
          await hub.database.db.updateTable('objects').set(change).where('target_id', '=', target.id).execute();
        };
        await overwrite(object, flipped(object.content));
        await checkedAgo(59);
        expect(await report(id, object)).toBe('intact');
        expect(await report(id, object, target.builder)).toBe('damaged');
        await target.send([object]);
        await overwrite(object, flipped(object.content));
        await checkedAgo(61);
        expect(await report(id, object)).toBe('damaged');
      });

      test('is not noted while as many objects of the target wait as may', async () => {
        const objects = [objectOf(), objectOf(), objectOf()];
        const { id } = await target.push(objects);
        const { db } = hub.database;
        const { pk } = await db.selectFrom('snapshots').select('pk').where('id', '=', id).executeTakeFirstOrThrow();
        const sha256s = objects.map(({ sha256 }) => sha256);
        const noted = { targetId: target.id, snapshotPk: pk, sha256s, since: new Date(), mostWaiting: 2 };
        const answers = [...(await reportObjects(db, noted)).values()];
        expect(answers).toEqual(['checking', 'checking', 'not_checked']);
      });
    });

    test('an object that is sent again is checked, whatever its size: a URL of an earlier upload may have been faster', async () => {
      const good = objectOf(randomBytes(2 * MEGABYTE));
      const poison = poisoned(good, randomBytes(good.stored_bytes));
      const [kept] = (await target.uploads([poison])).body.objects;
      const { id } = await target.push([good]);
      await overwrite(good, flipped(good.content));
      expect(await report(id, good)).toBe('damaged');
      const { 'content-length': _, ...headers } = kept.header;
      const late = await fetch(kept.href, { method: 'PUT', headers, body: new Uint8Array(poison.content) });
      expect(late.status).toBe(200);
      expect(await target.send([good])).toEqual(['stored']);
      await eventually(async () => (await asked(good)) === 'upload');
      expect(await target.send([good])).toEqual(['stored']);
      expect(await downloaded(id, good)).toEqual(good.content);
      expect(await auditOf('object.damaged')).toHaveLength(2);
    });

    test('a sweep removes nothing that replaced a damaged object, and one that was not sent again', async () => {
      const [again, gone] = [objectOf(), objectOf()];
      const [kept, removed] = [await target.push([again]), await target.push([gone])];
      for (const [{ id }, object] of [[kept, again] as const, [removed, gone] as const]) {
        await overwrite(object, flipped(object.content));
        expect(await report(id, object)).toBe('damaged');
      }
      await target.send([again]);
      await target.remove(removed.id);
      const { db } = hub.database;
      const removing = db.selectFrom('snapshots').select('id').where('id', '=', removed.id);
      await eventually(async () => (await removing.execute()).length === 0);
      for (const hours of [25, 50]) {
        const clock = () => new Date(Date.now() + hours * 3_600_000);
        const log = createLog({ write: () => {}, clock });
        await db.deleteFrom('sweeps').where('target_id', '=', target.id).execute();
        const buckets = createBuckets(db, hub.settings.keys);
        await sweepDue({ db, buckets, trustedKeys: null, log, clock }, new AbortController().signal);
      }
      const rows = await db.selectFrom('objects').select('sha256').where('target_id', '=', target.id).execute();
      expect(rows).toEqual([{ sha256: again.sha256 }]);
      expect((await target.store.list('objects')).map(({ key }) => key)).toEqual([objectPath(again)]);
    });

    test('targets take turns: many reports of one do not make the others wait', async () => {
      const { db } = hub.database;
      const other = await createHubTarget(hub, profile, 'team');
      const many = Array.from({ length: 4 }, () => objectOf());
      await target.push(many);
      await other.push([objectOf()]);
      const reportAll = (of: HubTarget, reported_at: Date) =>
        db.updateTable('objects').set({ reported_at }).where('target_id', '=', of.id).execute();
      await reportAll(target, new Date('2026-01-01'));
      await reportAll(other, new Date('2026-01-02'));
      const log = createLog({ write: () => {}, clock: () => new Date() });
      await using checks = startObjectChecks({ db, buckets: createBuckets(db, hub.settings.keys), log });
      checks.wake();
      const checked = async () =>
        await db
          .selectFrom('objects')
          .select('target_id')
          .where('target_id', 'in', [target.id, other.id])
          .where('checked_at', 'is not', null)
          .orderBy('checked_at')
          .execute();
      await eventually(async () => (await checked()).length === 5);
      // The first two may be checked at the same time.
      const first = (await checked()).slice(0, 2).map(({ target_id }) => target_id);
      expect(new Set(first)).toEqual(new Set([target.id, other.id]));
    });

    test('two instances that check the same object while it is pushed leave it whole', {
      timeout: 60_000,
    }, async () => {
      const { db } = hub.database;
      const lines: string[] = [];
      const log = createLog({ write: (line) => void lines.push(line), clock: () => new Date() });
      const buckets = createBuckets(db, hub.settings.keys);
      await using other = startObjectChecks({ db, buckets, log });
      const objects = [objectOf(randomBytes(3 * MEGABYTE)), objectOf(), objectOf()];
      const { id } = await target.push(objects);
      // A check that has read an object before it is written over would answer for the new bytes.
      const checksEnded = async (): Promise<void> => {
        await other.settled();
        const locks = sql<{ held: number }>`SELECT count(*)::int AS held FROM pg_locks WHERE locktype = 'advisory'`;
        let free = 0;
        await eventually(async () => {
          const { rows } = await locks.execute(db);
          free = rows[0]?.held === 0 ? free + 1 : 0;
          return free === 3;
        });
      };
      for (let round = 0; round < 5; round += 1) {
        await checksEnded();
        for (const object of objects) await overwrite(object, flipped(object.content));
        await db.updateTable('objects').set({ checked_at: null }).where('target_id', '=', target.id).execute();
        const reports = Array.from({ length: 4 }, () => sendReport(id, objects, target.builder));
        other.wake();
        const pushes = Array.from({ length: 3 }, () => target.send(objects).catch(() => []));
        await Promise.all([...reports, ...pushes]);
        for (const object of objects) {
          await eventually(async () => (await report(id, object, target.builder)) !== 'checking');
        }
        expect(await target.send(objects)).toEqual(['stored', 'stored', 'stored']);
        for (const object of objects) expect(await downloaded(id, object)).toEqual(object.content);
      }
    });
  });
});
