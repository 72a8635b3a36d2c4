import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { putStorageProfile, putTarget, startHub, type TestHub } from '../helpers/hub/hub.ts';
import { describeWithPostgres } from '../helpers/postgres/postgres-server.ts';
import { describeWithS3, type S3Server, startS3 } from '../helpers/storage/s3-server.ts';
import { type ConfiguredCli, configuredCli } from '../helpers/terminal/configured-cli.ts';

const QUERY = "UPDATE person SET email = 'p' || id || '@example.com'";

describeWithPostgres('a target of the file whose storage profile is one of the hub', () => {
  describeWithS3('over a real bucket', () => {
    let hub: TestHub;
    let s3: S3Server;
    let source: string;

    beforeAll(async () => {
      [hub, s3] = await Promise.all([startHub(), startS3()]);
      for (const name of ['team', 'other']) await putStorageProfile(hub, name, await s3.bucket());
      await hub.postgres.createDatabase('source');
      await hub.postgres.psql('source', {
        sql: `CREATE TABLE person (id integer PRIMARY KEY, email text);
          INSERT INTO person SELECT i, 'secret-' || i || '@real.example.org' FROM generate_series(1, 50) i`,
      });
      source = hub.postgres.url('source');
    });

    afterAll(async () => {
      await hub.stop();
      await s3.stop();
    });

    /** The machine of somebody in these groups, with this target in its file. */
    async function machine(group: string, name: string, settings: string): Promise<ConfiguredCli> {
      const { token } = await hub.person(`of ${group}`, [group]);
      const address = `env: development\ndev_api_url: ${hub.url}\nauthtoken: ${token}\n`;
      return configuredCli(`${address}working_directory: ./work\ntargets:\n  ${name}: ${settings}\n`);
    }

    async function newTarget(storage_profile = 'team'): Promise<string> {
      const name = `orders-${randomBytes(4).toString('hex')}`;
      const settings = { storage_profile, sso_groups: ['readers'], sanitize: { override_query: QUERY } };
      await putTarget(hub, name, { settings });
      return name;
    }

    const ofSource = (profile = 'team') =>
      `{storage_profile: ${profile}, snapshot: {src_url: "${source}"}, sanitize: {override_query: "${QUERY}"}}`;

    test('a member builds, lists, pulls and pushes', { timeout: 120_000 }, async () => {
      const name = await newTarget();
      const member = await machine('developers', name, ofSource());
      expect((await member.json(['config', 'check', '--offline'])).exit).toBe(0);
      const built = await member.json(['build', name]);
      expect(built.exit, JSON.stringify(built.last)).toBe(0);
      const listed = await hub.send('GET', `/targets/${name}/snapshots`, { token: hub.ownerToken });
      expect(listed.body.items).toMatchObject([{ sanitized: true }, { sanitized: false }]);
      const colleague = await machine('developers', name, ofSource());
      const seen = await colleague.json(['target', name]);
      expect(seen.last.snapshots).toHaveLength(2);
      expect((await colleague.json(['pull', name])).exit).toBe(0);
      expect((await colleague.json(['push', name])).exit).toBe(0);
    });

    test('a reader loads the sanitized snapshot, and pushes nothing', { timeout: 120_000 }, async () => {
      const name = await newTarget();
      const member = await machine('developers', name, ofSource());
      expect((await member.json(['build', name])).exit).toBe(0);
      const copy = `copy_${randomBytes(4).toString('hex')}`;
      const shared = `{share: {storage_profile_name: team, dst_url: "${hub.postgres.url(copy)}"}}`;
      const reader = await machine('readers', name, shared);
      const loaded = await reader.json(['load', name, '--yes']);
      expect(loaded.exit, JSON.stringify(loaded.last)).toBe(0);
      const emails = await hub.postgres.psql(copy, { sql: 'SELECT email FROM person ORDER BY id LIMIT 1' });
      expect(emails.trim()).toBe('p1@example.com');
      const builder = await machine('readers', name, ofSource());
      const refused = await builder.json(['build', name, '--no-sanitize']);
      expect(refused).toMatchObject({ exit: 5, last: { code: 'not_permitted' } });
      expect((await builder.json(['build', name, '--no-sanitize', '--no-push'])).exit).toBe(0);
      expect(await builder.json(['push', name, '--original'])).toMatchObject({
        exit: 5,
        last: { code: 'not_permitted' },
      });
      expect((await builder.json(['target', name])).last.snapshots).toMatchObject([
        { sanitized: false, where: ['local'] },
        { sanitized: true, where: ['remote'] },
      ]);
    });

    test.each([
      ['who may not read the target', 'strangers', 'team'],
      ['whose target of the hub uses another profile', 'developers', 'other'],
      ['whose file names a profile that nobody has', 'developers', 'nowhere'],
    ])('a caller %s gets the error that the profile is not found, before the build', async (_, group, profile) => {
      const name = await newTarget();
      const cli = await machine(group, name, ofSource(profile));
      const { exit, last } = await cli.json(['build', name]);
      expect({ exit, last }).toMatchObject({
        exit: 3,
        last: {
          code: 'storage_profile_not_found',
          message: `storage profile '${profile}' not found`,
          hint: expect.stringContaining('tool cloud apply'),
        },
      });
      const listed = await cli.json(['target', name]);
      expect(listed).toMatchObject({ exit: 3, last: { error: { code: 'storage_profile_not_found' } } });
    });

    test('a profile of the file wins, and without a token the hub is not asked', async () => {
      const name = await newTarget();
      const { stdout } = await (async () => {
        const cli = await configuredCli(
          `env: development\ndev_api_url: ${hub.url}\nworking_directory: ./work\ntargets:\n  ${name}: ${ofSource()}\n`,
        );
        const { exit, last } = await cli.json(['build', name]);
        expect({ exit, code: last.code }).toEqual({ exit: 3, code: 'storage_profile_not_found' });
        return cli.tool(['config', 'check', '--offline']);
      })();
      expect(stdout).toContain("storage profile 'team' not found");
    });
  });
});
