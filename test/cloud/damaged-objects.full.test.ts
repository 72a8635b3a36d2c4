import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createS3Store } from '../../src/repository/s3/store.ts';
import type { Store } from '../../src/repository/store/store.ts';
import { putStorageProfile, putTarget, startHub, type TestHub } from '../helpers/hub/hub.ts';
import { describeWithPostgres, eventually } from '../helpers/postgres/postgres-server.ts';
import { describeWithS3, type S3Server, startS3 } from '../helpers/storage/s3-server.ts';
import { type ConfiguredCli, configuredCli } from '../helpers/terminal/configured-cli.ts';

describeWithPostgres('damaged objects of a cloud target', () => {
  describeWithS3('over a real bucket', () => {
    let hub: TestHub;
    let s3: S3Server;
    let profile: Awaited<ReturnType<S3Server['bucket']>>;
    let target: string;
    let bucket: Store;
    /** Objects of the large and of the small table, by their keys. */
    let keys: { large: string; small: string };
    let member: ConfiguredCli;
    let reader: ConfiguredCli;

    beforeAll(async () => {
      [hub, s3] = await Promise.all([startHub(), startS3()]);
      profile = await s3.bucket();
      await putStorageProfile(hub, 'team', profile);
      await hub.postgres.createDatabase('source');
      await hub.postgres.psql('source', {
        sql: `CREATE TABLE small (id integer PRIMARY KEY);
          INSERT INTO small SELECT generate_series(1, 10);
          CREATE TABLE large (id integer PRIMARY KEY, noise text);
          INSERT INTO large SELECT i, sha512(i::text::bytea)::text || sha512((-i)::text::bytea)::text
            FROM generate_series(1, 20000) i`,
      });
    });

    afterAll(async () => {
      await hub.stop();
      await s3.stop();
    });

    beforeEach(async () => {
      target = `orders-${randomBytes(4).toString('hex')}`;
      const settings = {
        storage_profile: 'team',
        snapshot: { src_url: hub.postgres.url('source') },
        sanitize: { override_query: 'SELECT 1' },
        sso_groups: ['readers'],
      };
      const id = await putTarget(hub, target, { settings });
      const { signal } = new AbortController();
      bucket = await createS3Store({ name: 'team', profile: { ...profile, prefix: id }, signal });
      [member, reader] = [await machine('developers'), await machine('readers')];
      const built = await member.json(['build', target]);
      expect(built.exit, JSON.stringify(built.last)).toBe(0);
      const bySize = (await bucket.list('objects')).sort((one, other) => other.bytes - one.bytes);
      expect(bySize[0]?.bytes).toBeGreaterThan(1024 * 1024);
      expect(bySize.at(-1)?.bytes).toBeLessThan(1024);
      keys = { large: bySize[0]?.key ?? '', small: bySize.at(-1)?.key ?? '' };
    });

    async function machine(group: string): Promise<ConfiguredCli> {
      const { token } = await hub.person(`of ${group}`, [group]);
      const copy = hub.postgres.url(`copy_${randomBytes(4).toString('hex')}`);
      return configuredCli(`env: development
dev_api_url: ${hub.url}
authtoken: ${token}
working_directory: ./work
defaults: {shared_target_dst_db_url: "${copy}"}
`);
    }

    /** Flips a bit of a stored object. */
    async function rot(key: string): Promise<void> {
      const { GetObjectCommand, PutObjectCommand } = await import('@aws-sdk/client-s3');
      const { id } = (await hub.send('GET', `/targets/${target}`, { token: hub.ownerToken })).body;
      const place = { Bucket: profile.bucket, Key: [profile.prefix, id, key].filter(Boolean).join('/') };
      const { Body } = await s3.client.send(new GetObjectCommand(place));
      const content = Buffer.from((await Body?.transformToByteArray()) ?? []);
      const at = Math.floor(content.length / 3);
      content[at] = (content[at] ?? 0) ^ 1;
      await s3.client.send(new PutObjectCommand({ ...place, Body: content }));
    }

    const load = (cli: ConfiguredCli) => cli.json(['load', target, '--yes']);

    const audit = async (action: string): Promise<string[]> => {
      const path = `/audit_events?target=${target}&action=${action}`;
      const { body } = await hub.send('GET', path, { token: hub.ownerToken });
      return body.items.map(({ actor }: { actor: string }) => actor);
    };

    test.each(['large', 'small'] as const)(
      'after a load that finds a rotten %s object, the next build replaces it',
      {
        timeout: 60_000,
      },
      async (size) => {
        await rot(keys[size]);
        expect((await member.json(['push', target])).last).toMatchObject({ objects: 0 });
        const failed = await load(reader);
        expect(failed).toMatchObject({ exit: 1, last: { code: 'snapshot_damaged' } });
        expect(failed.last.details).toContain('Reported: once confirmed, the next build or push replaces the object.');
        await eventually(async () => (await bucket.find(keys[size])) === null);
        // The object goes before the event is committed.
        await eventually(async () => (await audit('object.damaged')).length > 0);
        expect(await audit('object.damaged')).toEqual(['hub']);
        expect(await audit('snapshot.report')).toEqual(['of readers']);
        const built = await member.json(['build', target]);
        expect(built.exit, JSON.stringify(built.last)).toBe(0);
        expect(await load(reader)).toMatchObject({ exit: 0, last: { tables: 2, rows: 20_010 } });
        const [newest] = (await reader.json(['target', target])).last.snapshots as { id: string }[];
        const older = await reader.json(['verify', target, '1', '--remote']);
        expect(older.last).toMatchObject({ ok: true });
        expect(newest?.id).not.toBe((older.last.snapshot as { id: string }).id);
      },
    );

    test('verify --remote --repair replaces objects of the hub by those of this machine', {
      timeout: 60_000,
    }, async () => {
      for (const key of Object.values(keys)) await rot(key);
      const verified = await member.json(['verify', target, '0', '--remote', '--repair']);
      expect(verified, JSON.stringify(verified.last)).toMatchObject({ exit: 0, last: { ok: true, lost: [] } });
      expect(verified.last.repaired).toHaveLength(2);
      expect(await load(reader)).toMatchObject({ exit: 0 });
      expect((await reader.json(['verify', target, '0', '--remote'])).last).toMatchObject({ ok: true });
      expect((await member.json(['push', target])).last).toMatchObject({ objects: 0 });
    });

    test('verify --repair replaces objects of this machine by those of the hub', async () => {
      const [snapshot] = (await reader.json(['pull', target]).then(() => reader.json(['target', target]))).last
        .snapshots as { id: string }[];
      const { writeFile } = await import('node:fs/promises');
      const { join } = await import('node:path');
      await writeFile(join(reader.folder.path, 'work', keys.small), 'rotten');
      const verified = await reader.json(['verify', target, '0', '--repair']);
      expect(verified, snapshot?.id).toMatchObject({ exit: 0, last: { ok: true, lost: [] } });
      expect(verified.last.repaired).toHaveLength(1);
    });

    test('a reader who repairs reports the damage, and sees the remaining damage', { timeout: 60_000 }, async () => {
      expect((await reader.json(['pull', target])).exit).toBe(0);
      await rot(keys.small);
      const { exit, stdout } = await reader.tool(['verify', target, '0', '--remote', '--repair', '--json']);
      expect(exit).toBe(1);
      expect(stdout).toContain('not_repaired');
      expect(stdout).toContain('snapshot_damaged');
      expect(await bucket.find(keys.small)).toBeNull();
      expect((await member.json(['push', target])).last).toMatchObject({ objects: 1 });
      expect(await load(reader)).toMatchObject({ exit: 0 });
    });
  });
});
