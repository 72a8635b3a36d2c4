import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ConfiguredCli, configuredCli } from '../helpers/configured-cli.ts';
import { putStorageProfile, putTarget, startHub, type TestHub } from '../helpers/hub.ts';
import { describeWithPostgres } from '../helpers/postgres-server.ts';
import { describeWithS3, type S3Server, startS3 } from '../helpers/s3-server.ts';

const QUERY = "UPDATE person SET email = 'p' || id || '@example.com'";

describeWithPostgres('a cloud target on the command line', () => {
  describeWithS3('over a real bucket', () => {
    let hub: TestHub;
    let s3: S3Server;
    /** Of this test. */
    let target: string;
    let copy: string;
    let builder: ConfiguredCli;
    let reader: ConfiguredCli;
    let member: ConfiguredCli;

    beforeAll(async () => {
      [hub, s3] = await Promise.all([startHub(), startS3()]);
      await putStorageProfile(hub, 'originals', { ...(await s3.bucket()), prefix: 'team' });
      await putStorageProfile(hub, 'sanitized', { ...(await s3.bucket()), prefix: 'team' });
      await hub.postgres.createDatabase('source');
      await hub.postgres.psql('source', {
        sql: `CREATE ROLE app LOGIN PASSWORD 'password-of-app' SUPERUSER;
          CREATE TABLE person (id integer PRIMARY KEY, email text);
          INSERT INTO person SELECT i, 'secret-' || i || '@real.example.org' FROM generate_series(1, 500) i`,
      });
    });

    afterAll(async () => {
      await hub.stop();
      await s3.stop();
    });

    const cliOf = (token: string, more = ''): Promise<ConfiguredCli> =>
      configuredCli(
        `env: development\ndev_api_url: ${hub.url}\nauthtoken: ${token}\nworking_directory: ./work\n${more}`,
      );

    beforeEach(async () => {
      const name = randomBytes(4).toString('hex');
      target = `orders-${name}`;
      copy = `copy_${name}`;
      const source = hub.postgres.url('source').replace(/\/\/[^@]*@/, '//app:password-of-app@');
      const id = await putTarget(hub, target, {
        settings: {
          storage_profile: 'originals',
          snapshot: { src_url: source },
          sanitize: { override_query: QUERY, storage_profile: 'sanitized' },
          sso_groups: ['readers'],
        },
      });
      const shared = `defaults: {shared_target_dst_db_url: "${hub.postgres.url(copy)}"}\n`;
      builder = await cliOf((await hub.service('ci', 'builder', [id])).token);
      reader = await cliOf((await hub.person('rita', ['readers'])).token, shared);
      member = await cliOf((await hub.person('mona', ['developers'])).token, shared);
    });

    const emails = async (): Promise<string> =>
      (await hub.postgres.psql(copy, { sql: 'SELECT email FROM person ORDER BY id LIMIT 2' })).trim();

    test('a builder builds and sanitizes, a reader loads the sanitized snapshot, without any file but a token', async () => {
      const built = await builder.json(['build', target]);
      expect(built, JSON.stringify(built.last)).toMatchObject({ exit: 0, last: { event: 'done' } });
      const { snapshot, sanitized } = built.last as { snapshot: { id: string }; sanitized: { id: string } };

      const listed = await reader.json(['target', target]);
      expect(listed.last.snapshots).toMatchObject([{ index: 0, id: sanitized.id, sanitized: true, where: ['remote'] }]);
      const refused = await reader.json(['load', target, snapshot.id, '--original', '--yes']);
      expect(refused).toMatchObject({ exit: 2, last: { code: 'snapshot_missing' } });

      const loaded = await reader.json(['load', target, '--yes']);
      expect(loaded, JSON.stringify(loaded.last)).toMatchObject({ exit: 0, last: { tables: 1, rows: 500 } });
      expect(await emails()).toBe('p1@example.com\np2@example.com');

      const all = await member.json(['target', target, '--original']);
      expect((all.last.snapshots as { id: string }[]).map(({ id }) => id).sort()).toEqual(
        [snapshot.id, sanitized.id].sort(),
      );
      expect(await member.json(['load', target, snapshot.id, '--original', '--yes'])).toMatchObject({ exit: 0 });
      expect(await emails()).toBe('secret-1@real.example.org\nsecret-2@real.example.org');
    });
  });
});
