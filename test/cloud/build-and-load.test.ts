import { randomBytes } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { openCommandContext } from '../../src/cli/open-context.ts';
import { fetchCloudUrls } from '../../src/operations/cloud/cloud-urls.ts';
import { reportRestore } from '../../src/operations/cloud/report-restore.ts';
import { annotate } from '../../src/operations/snapshots/annotate/annotate.ts';
import { listSnapshots } from '../../src/operations/snapshots/snapshots.ts';
import type { RunEvent } from '../../src/results/events.ts';
import { startForgingHub } from '../helpers/hub/forging-hub.ts';
import { putStorageProfile, putTarget, startHub, type TestHub } from '../helpers/hub/hub.ts';
import { describeWithPostgres, temporaryFolder } from '../helpers/postgres/postgres-server.ts';
import { describeWithS3, type S3Server, startS3 } from '../helpers/storage/s3-server.ts';
import { type ConfiguredCli, configuredCli } from '../helpers/terminal/configured-cli.ts';

const QUERY = "UPDATE person SET email = 'p' || id || '@example.com'";

describeWithPostgres('a cloud target on the command line', () => {
  describeWithS3('over a real bucket', () => {
    let hub: TestHub;
    let s3: S3Server;
    /** With the password of `app`. */
    let source: string;
    /** Where this test loads. */
    let copy: string;

    beforeAll(async () => {
      [hub, s3] = await Promise.all([startHub(), startS3()]);
      for (const name of ['originals', 'sanitized']) {
        await putStorageProfile(hub, name, { ...(await s3.bucket()), prefix: 'team' });
      }
      await hub.postgres.createDatabase('source');
      await hub.postgres.psql('source', {
        sql: `CREATE ROLE app LOGIN PASSWORD 'password-of-app' SUPERUSER;
          CREATE TABLE person (id integer PRIMARY KEY, email text);
          INSERT INTO person SELECT i, 'secret-' || i || '@real.example.org' FROM generate_series(1, 500) i`,
      });
      source = hub.postgres.url('source').replace(/\/\/[^@]*@/, '//app:password-of-app@');
    });

    afterAll(async () => {
      await hub.stop();
      await s3.stop();
    });

    beforeEach(() => {
      copy = `copy_${randomBytes(4).toString('hex')}`;
    });

    const cliOf = (token: string, more = ''): Promise<ConfiguredCli> =>
      configuredCli(
        `env: development\ndev_api_url: ${hub.url}\nauthtoken: ${token}\nworking_directory: ./work\n${more}`,
      );

    /** The machine of somebody in these groups, with a default destination. */
    async function machine(group: string, more = ''): Promise<ConfiguredCli> {
      const shared = `defaults: {shared_target_dst_db_url: "${hub.postgres.url(copy)}"}\n`;
      return cliOf((await hub.person(`of ${group}`, [group])).token, shared + more);
    }

    async function newTarget(change: object = {}): Promise<{ name: string; id: string }> {
      const name = `orders-${randomBytes(4).toString('hex')}`;
      const settings = {
        storage_profile: 'originals',
        snapshot: { src_url: source },
        sanitize: { override_query: QUERY, storage_profile: 'sanitized' },
        sso_groups: ['readers'],
        ...change,
      };
      return { name, id: await putTarget(hub, name, { settings, original_groups: ['dba'] }) };
    }

    /** Builds an original; its id. */
    async function buildOriginal(cli: ConfiguredCli, target: string, ...words: string[]): Promise<string> {
      const { exit, last } = await cli.json(['build', target, '--no-sanitize', ...words]);
      expect(exit, JSON.stringify(last)).toBe(0);
      return (last.snapshot as { id: string }).id;
    }

    function contextOf({ folder: { path } }: ConfiguredCli, target: string, events: RunEvent[] = []) {
      const environment = { TOOL_TRUST: 'true', HOME: path };
      const report = (event: RunEvent) => void events.push(event);
      const { signal } = new AbortController();
      return openCommandContext({ cwd: path, environment, target, report, signal, clock: () => new Date() });
    }

    const emails = async (): Promise<string> =>
      (await hub.postgres.psql(copy, { sql: 'SELECT email FROM person ORDER BY id LIMIT 2' })).trim();

    const audit = async (target: string): Promise<string[]> => {
      const { body } = await hub.send('GET', `/audit_events?target=${target}`, { token: hub.ownerToken });
      return body.items.map(({ actor, action }: { actor: string; action: string }) => `${actor} ${action}`);
    };

    test('a builder without a configuration file builds and sanitizes, a reader loads the sanitized snapshot', {
      timeout: 120_000,
    }, async () => {
      const { name: target, id } = await newTarget();
      await using home = await temporaryFolder();
      const variables = { TOOL_ENV: 'development', TOOL_DEV_API_URL: hub.url, TOOL_SECRET_KEY: 'ab'.repeat(16) };
      const { token } = await hub.service('ci', 'builder', [id]);
      const environment = { ...variables, TOOL_AUTHTOKEN: token, HOME: home.path };
      const anywhere = await machine('nobody');
      const built = await anywhere.tool(['build', target, '--json'], { cwd: home.path, environment });
      expect(built.exit, built.stdout).toBe(0);
      const { snapshot, sanitized } = JSON.parse(built.stdout.trimEnd().split('\n').at(-1) ?? '') as {
        snapshot: { id: string };
        sanitized: { id: string };
      };

      const reader = await machine('readers');
      const listed = await reader.json(['target', target]);
      expect(listed.last.snapshots).toMatchObject([{ index: 0, id: sanitized.id, sanitized: true, where: ['remote'] }]);
      const refused = await reader.json(['load', target, snapshot.id, '--original', '--yes']);
      expect(refused).toMatchObject({ exit: 2, last: { code: 'snapshot_missing' } });
      const loaded = await reader.json(['load', target, '--yes']);
      expect(loaded, JSON.stringify(loaded.last)).toMatchObject({ exit: 0, last: { tables: 1, rows: 500 } });
      expect(await emails()).toBe('p1@example.com\np2@example.com');
      expect(await reader.json(['build', target])).toMatchObject({ exit: 5, last: { code: 'not_permitted' } });
      expect(await reader.json(['rm', target, '0', '--remote', '--yes'])).toMatchObject({ exit: 2 });

      const idsOf = async (cli: ConfiguredCli, ...words: string[]) =>
        ((await cli.json(['target', target, ...words])).last.snapshots as { id: string }[]).map((row) => row.id).sort();
      const dba = await machine('dba');
      expect(await idsOf(dba)).toEqual([sanitized.id]);
      expect(await idsOf(dba, '--original')).toEqual([snapshot.id, sanitized.id].sort());
      const member = await machine('developers');
      expect(await idsOf(member)).toEqual([snapshot.id, sanitized.id].sort());
      expect(await member.json(['load', target, snapshot.id, '--original', '--yes'])).toMatchObject({ exit: 0 });
      expect(await emails()).toBe('secret-1@real.example.org\nsecret-2@real.example.org');
      const events = await audit(target);
      expect(events).toContain('ci target.read_source');
      expect(events.filter((event) => event === 'ci snapshot.publish')).toHaveLength(2);
      expect(events).toContain('of readers snapshot.download');
    });

    test('the hub knows the last proved restore of a builder; a reader sees it, and a failed report is a warning', {
      timeout: 120_000,
    }, async () => {
      const { name: target } = await newTarget();
      const at = `/targets/${target}`;
      const onHub = async () => (await hub.send('GET', at, { token: hub.ownerToken })).body;
      const [builder, reader] = [await machine('developers'), await machine('readers')];
      const built = await builder.json(['build', target, '--verify-restore']);
      expect(built.exit, JSON.stringify(built.last)).toBe(0);
      const { id } = built.last.sanitized as { id: string };
      const { last_restore, restore_late } = await onHub();
      expect({ ...last_restore, restore_late }).toMatchObject({ snapshot: id, restore_late: false });
      expect(await audit(target)).toContain('of developers snapshot.prove_restore');
      const listed = await reader.json(['target', target]);
      expect(listed.last.snapshots).toMatchObject([{ id, restored_at: last_restore.at }]);

      const long = new Date(Date.now() - 10 * 86_400_000);
      const late = { restored_at: long, restore_expected_every: '1w' };
      await hub.database.db.updateTable('targets').set(late).where('name', '=', target).execute();
      const old = { at: long.toISOString(), snapshot: id };
      const targets = (await reader.json(['targets'])).last.targets as { name: string }[];
      expect(targets.find(({ name }) => name === target)).toMatchObject({ last_restore: old, restore_late: true });
      const info = (await reader.tool(['targets', '--no-check', '--info'])).stdout;
      expect(info).toMatch(new RegExp(`Status +restore late[\\s\\S]*Restored +${id} as a proof, 10 days ago`));

      // The permission of a reader is known: nothing is sent, and no refusal is in the audit.
      const events: RunEvent[] = [];
      await reportRestore(await contextOf(reader, target, events), { target, snapshot: id });
      expect(events).toEqual([]);
      expect((await audit(target)).filter((event) => event.includes('/restores'))).toEqual([]);
      const proxy = await startForgingHub(hub.url);
      onTestFinished(proxy.stop);
      proxy.isAway = ({ path }) => path.endsWith('/restores');
      const { token } = await hub.person('of developers', ['developers']);
      const away = await configuredCli(
        `env: development\ndev_api_url: ${proxy.url}\nauthtoken: ${token}\nworking_directory: ./work\n`,
      );
      await reportRestore(await contextOf(away, target, events), { target, snapshot: id });
      expect(events).toMatchObject([{ event: 'warning', code: 'restore_not_reported' }]);
      expect((await onHub()).last_restore).toEqual(old);
    });

    test('push sends objects that the hub lacks; pull, verify, diff, export and rm work as with a bucket', async () => {
      const { name: target } = await newTarget();
      const [here, there] = [await machine('developers'), await machine('developers')];
      const first = await buildOriginal(here, target, '--no-push');
      expect((await there.json(['target', target])).last.snapshots).toEqual([]);
      const pushed = await here.json(['push', target]);
      expect(pushed.last).toMatchObject({ event: 'done', storage: `${new URL(hub.url).host}/${target}` });
      expect(pushed.last.objects).toBeGreaterThan(0);
      expect((await here.json(['push', target])).last).toMatchObject({ event: 'done', objects: 0, bytes: 0 });
      const second = await buildOriginal(here, target);

      const pulled = await there.json(['pull', target, '1']);
      expect(pulled.last).toMatchObject({ snapshot: { id: first }, objects: pushed.last.objects });
      expect((await there.json(['verify', target, '1'])).last).toMatchObject({ ok: true });
      expect((await there.json(['verify', target, '0', '--remote'])).last).toMatchObject({ ok: true });
      expect((await there.json(['diff', target, '1', '0'])).last).toMatchObject({ changes: [], to: { id: second } });
      expect(await there.tool(['export', target, '0', '-o', 'app.zip'])).toMatchObject({ exit: 0 });
      expect((await stat(join(there.folder.path, 'app.zip'))).size).toBeGreaterThan(1000);

      const removed = await there.json(['rm', target, second, '--yes']);
      expect(removed.last).toMatchObject({ event: 'done', from: ['remote'] });
      const left = (await here.json(['target', target])).last.snapshots as { id: string; where: string[] }[];
      expect(left.map(({ id, where }) => [id, where])).toEqual([
        [second, ['local']],
        [first, ['local', 'remote']],
      ]);
    });

    test('a note is on the hub for everybody, and the snapshot can be pushed again with it', async () => {
      const { name: target } = await newTarget();
      const [here, there] = [await machine('developers'), await machine('developers')];
      await buildOriginal(here, target);
      await annotate(await contextOf(here, target), { target, note: 'before the migration' });
      const { snapshots } = await listSnapshots(await contextOf(there, target), target);
      expect(snapshots).toMatchObject([{ note: 'before the migration', where: ['remote'] }]);
      expect((await here.json(['push', target])).last).toMatchObject({ event: 'done', objects: 0 });
      expect((await there.json(['pull', target])).last).toMatchObject({ snapshot: { note: 'before the migration' } });
    });

    test('the destination of the hub is used with its password, which no output has; a source is refused', async () => {
      const destination = hub.postgres.url(copy).replace(/\/\/[^@]*@/, '//app:password-of-app@');
      const { name: target } = await newTarget({ snapshot: { src_url: source, dst_url: destination } });
      const cli = await machine('developers', 'debug: true\ntargets:\n  mine: {snapshot: {}}\n');
      await buildOriginal(cli, target);
      const plan = await cli.json(['load', target, '--dry-run']);
      expect(plan.last.plan).toMatchObject({ chosen_by: `targets.${target}.snapshot.dst_url` });
      const loaded = await cli.tool(['load', target, '--yes', '--debug', '--json']);
      expect(loaded.exit, loaded.stderr).toBe(0);
      expect(await emails()).toContain('secret-1@real.example.org');
      const logs = join(cli.folder.path, 'work/logs');
      const log = (await Promise.all((await readdir(logs)).map((name) => readFile(join(logs, name), 'utf8')))).join('');
      expect(log).toContain(copy);
      expect(loaded.stdout + loaded.stderr + JSON.stringify(plan.last) + log).not.toContain('password-of-app');
      const events: RunEvent[] = [];
      const context = await fetchCloudUrls(await contextOf(cli, target, events), target, { required: true });
      context.report({ event: 'warning', code: 'any', message: 'password-of-app' });
      expect(events.at(-1)).toMatchObject({ message: '***' });
      expect(context.hide?.('a password-of-app b')).toBe('a *** b');
      const refused = { exit: 5, last: { code: 'destination_is_source' } };
      const destdb = hub.postgres.url('source');
      expect(await cli.json(['load', target, '--yes', '--destdb', destdb])).toMatchObject(refused);
      // Of another target, too; the list of targets is where this machine knows it from.
      await cli.tool(['targets']);
      await cli.folder.write('x.sql', 'SELECT 1');
      expect(await cli.json(['load', 'mine', 'x.sql', '--yes', '--destdb', destdb])).toMatchObject(refused);
    });

    test('objects that the hub has lost during a push are sent again before it publishes', async () => {
      const { name: target, id } = await newTarget();
      const { token } = await hub.person('mona', ['developers']);
      const proxy = await startForgingHub(hub.url);
      onTestFinished(proxy.stop);
      const cli = await configuredCli(
        `env: development\ndev_api_url: ${proxy.url}\nauthtoken: ${token}\nworking_directory: ./work\n`,
      );
      await buildOriginal(cli, target, '--no-push');
      let verified = 0;
      proxy.forge = async ({ path }, body) => {
        if (!path.endsWith('/verify')) return body;
        verified += 1;
        const lost = { state: 'expected' } as const;
        const objects = hub.database.db.updateTable('objects').set(lost).where('target_id', '=', id);
        if (verified === 1) await objects.execute();
        return body;
      };
      expect((await cli.json(['push', target])).last).toMatchObject({ event: 'done' });
      expect(
        proxy.requests.filter(({ method, path }) => method === 'PUT' && path.includes('/snapshots/')),
      ).toHaveLength(2);
      const other = await machine('developers');
      expect((await other.json(['pull', target])).exit).toBe(0);
      expect((await other.json(['verify', target])).last).toMatchObject({ ok: true });
    });

    test('an original that a forged list of the hub calls sanitized is refused by load, pull and branch create', {
      timeout: 120_000,
    }, async () => {
      const { name: target } = await newTarget();
      const original = await buildOriginal(await machine('developers'), target);
      const proxy = await startForgingHub(hub.url);
      onTestFinished(proxy.stop);
      const { token } = await hub.person('of developers', ['developers']);
      const reader = await configuredCli(
        `env: development\ndev_api_url: ${proxy.url}\nauthtoken: ${token}\nworking_directory: ./work\ndefaults: {shared_target_dst_db_url: "${hub.postgres.url(copy)}"}\n`,
      );
      const badged = (headline: object) => ({ ...headline, sanitized: true, sanitized_at: '2026-01-01T00:00:00.000Z' });
      proxy.forge = ({ path }, body) => {
        if (!path.startsWith(`/targets/${target}/snapshots`)) return body;
        if (body.headline) return { ...body, headline: badged(body.headline) };
        return body.items ? { ...body, items: body.items.map(badged) } : body;
      };
      const listed = (await reader.json(['target', target])).last.snapshots;
      expect(listed).toMatchObject([{ id: original, sanitized: true }]);
      const refusal = { exit: 5, last: { code: 'list_differs' } };
      expect(await reader.json(['load', target, '--yes'])).toMatchObject(refusal);
      expect(await reader.json(['load', target, original, '--yes'])).toMatchObject(refusal);
      expect(await reader.json(['pull', target])).toMatchObject(refusal);
      expect(await reader.json(['branch', 'create', target, 'feature', '--yes'])).toMatchObject(refusal);
      const databases = await hub.postgres.psql('postgres', { sql: 'SELECT datname FROM pg_database' });
      expect(databases).not.toContain(copy);
    });

    test('templates are filled in on the machine that builds, but with no secret of the program or its services', async () => {
      const url = (variable: string): string => source.replace('password-of-app', `{{\`${variable}\` | env}}`);
      const { name: target } = await newTarget({ snapshot: { src_url: url('ORDERS_PASSWORD') } });
      const cli = await machine('developers');
      const words = ['build', target, '--no-sanitize', '--json'];
      const lacking = await cli.tool(words);
      expect(lacking).toMatchObject({ exit: 3, stdout: expect.stringContaining('ORDERS_PASSWORD is not set') });
      const built = await cli.tool(words, { environment: { ORDERS_PASSWORD: 'password-of-app' } });
      expect(built.exit, built.stdout).toBe(0);
      const { name: greedy } = await newTarget({ snapshot: { src_url: url('AWS_SECRET_ACCESS_KEY') } });
      const refused = await cli.tool(['build', greedy, '--no-sanitize', '--json'], {
        environment: { AWS_SECRET_ACCESS_KEY: 'password-of-app' },
      });
      expect(refused).toMatchObject({ exit: 3, stdout: expect.stringContaining('AWS_SECRET_ACCESS_KEY') });
    });

    test('prune without a target leaves the hub as it is; with its name it removes there as well', async () => {
      const { name: target } = await newTarget();
      const cli = await machine('developers');
      await buildOriginal(cli, target);
      const second = await buildOriginal(cli, target);
      expect((await cli.tool(['targets'])).stdout).toContain(target);
      expect((await cli.json(['prune', '--keep-last', '1', '--yes'])).last.targets).toEqual([]);
      expect((await cli.json(['prune', target, '--keep-last', '1', '--yes'])).exit).toBe(0);
      const other = await machine('developers');
      expect((await other.json(['target', target])).last.snapshots).toMatchObject([{ id: second }]);
    });

    test('load uses local snapshots with a warning while the hub is unreachable; others fail', async () => {
      const { name: target } = await newTarget();
      const builder = await machine('developers');
      await buildOriginal(builder, target);
      const proxy = await startForgingHub(hub.url);
      const token = (await hub.person('mona', ['developers'])).token;
      const text = `env: development\ndev_api_url: ${proxy.url}\nauthtoken: ${token}\nworking_directory: ./work\n`;
      const cli = await configuredCli(`${text}override: {dst_db_url: "${hub.postgres.url(copy)}"}\n`);
      expect((await cli.json(['pull', target])).exit).toBe(0);
      expect((await cli.tool(['targets'])).exit).toBe(0);
      const second = await buildOriginal(builder, target);
      await proxy.stop();
      const loaded = await cli.tool(['load', target, '--yes']);
      expect(loaded.exit, loaded.stderr).toBe(0);
      expect(loaded.stderr).toContain('showing local snapshots only');
      expect(await emails()).toContain('secret-1@real.example.org');
      expect(await cli.json(['load', target, second, '--yes'])).toMatchObject({ exit: 2 });
      expect((await cli.json(['rm', target, '0', '--local', '--yes'])).exit).toBe(0);
      expect(await cli.json(['load', target, '--yes'])).toMatchObject({ exit: 4, last: { code: 'cloud_unreachable' } });
    });
  });
});
