import { randomBytes } from 'node:crypto';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { startHub, type TestHub } from '../helpers/hub/hub.ts';
import { describeWithPostgres, startPostgres } from '../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';
import { type ConfiguredCli, configuredCli } from '../helpers/terminal/configured-cli.ts';

const FILE = `
storage_profiles:
  team:
    provider: s3
    bucket: snapshots
    access_key: AKIA-of-team
    secret_key: secret-of-team
targets:
  orders:
    storage_profile: team
    snapshot:
      src_url: postgres://app:password-of-app@db.example.com/orders
    sanitize:
      query_file: sanitize.sql
    sso_groups: [readers]
    original_groups: [dba]
    expected_every: 24h
`;

describeWithPostgres('tool cloud apply and show', () => {
  const postgres = suiteResource(() => startPostgres());
  let hub: TestHub;
  let cli: ConfiguredCli;

  beforeEach(async () => {
    const name = `hub_${randomBytes(4).toString('hex')}`;
    await postgres.createDatabase(name);
    hub = await startHub({ databaseUrl: postgres.url(name) }, postgres);
    onTestFinished(() => hub.stop());
    const files = { 'hub.yml': FILE, 'sanitize.sql': 'UPDATE users SET email = NULL' };
    const text = `env: development\ndev_api_url: ${hub.url}\nauthtoken: ${hub.ownerToken}\nworking_directory: ./work\n`;
    cli = await configuredCli(text, files);
  });

  async function apply(...words: string[]) {
    const { exit, last } = await cli.json(['cloud', 'apply', 'hub.yml', '--yes', ...words]);
    const plan = last.plan as { resources: { name: string; action: string; changes: { key: string }[] }[] } | undefined;
    const actions = plan?.resources.map(({ name, action, changes }) => [
      name,
      action,
      ...changes.map(({ key }) => key),
    ]);
    return { exit, last, actions };
  }

  async function change(from: string, to: string): Promise<void> {
    await cli.folder.write('hub.yml', FILE.replace(from, to));
  }

  const target = async () => (await hub.send('GET', '/targets/orders', { token: hub.ownerToken })).body;

  /** A change on the hub by somebody else. */
  async function changeOnHub(settings: object): Promise<void> {
    const { settings: before, revision, original_groups, builder_groups, expected_every } = await target();
    const body = { settings: { ...before, ...settings }, original_groups, builder_groups, expected_every };
    const headers = { 'if-match': `"${revision}"` };
    expect((await hub.send('PUT', '/targets/orders', { token: hub.ownerToken, body, headers })).status).toBe(200);
  }

  test('the groups of a storage profile are applied, shown, kept, and removed with their key', async () => {
    const line = '    secret_key: secret-of-team\n';
    const profile = async () => (await hub.send('GET', '/storage_profiles/team', { token: hub.ownerToken })).body;
    await change(line, `${line}    target_groups: [platform]\n`);
    expect((await apply()).exit).toBe(0);
    expect(await profile()).toMatchObject({ target_groups: ['platform'] });
    expect((await apply()).actions).toEqual([
      ['team', 'unchanged'],
      ['orders', 'unchanged'],
    ]);
    expect((await cli.json(['cloud', 'show'])).last).toMatchObject({
      storage_profiles: { team: { target_groups: ['platform'] } },
    });
    await cli.folder.write('hub.yml', FILE);
    expect((await apply()).actions?.[0]).toEqual(['team', 'change', 'target_groups']);
    expect(await profile()).toMatchObject({ target_groups: null });
  });

  test('the trusted keys of a target are applied, shown, kept, and removed with their key', async () => {
    const key = `ed25519-${'A'.repeat(43)}=`;
    const line = '    original_groups: [dba]\n';
    await change(line, `${line}    trusted_keys: ['${key}']\n`);
    expect((await apply()).exit).toBe(0);
    expect(await target()).toMatchObject({ trusted_keys: [key] });
    const { stdout } = await cli.tool(['cloud', 'show']);
    expect(stdout).toContain(key);
    await cli.folder.write('hub.yml', stdout);
    expect((await apply()).actions?.at(-1)).toEqual(['orders', 'unchanged']);
    await changeOnHub({ cpus: 4 });
    expect(await target()).toMatchObject({ trusted_keys: [key] });
    await cli.folder.write('hub.yml', FILE);
    expect((await apply()).actions?.at(-1)).toEqual(['orders', 'change', 'trusted_keys']);
    expect(await target()).toMatchObject({ trusted_keys: null });
    await change(line, `${line}    trusted_keys: [mine]\n`);
    const refused = await apply();
    expect(refused).toMatchObject({ exit: 3, last: { code: 'cloud_file_invalid' } });
    expect((refused.last.details as string[]).join()).toContain('targets.orders.trusted_keys.0 must be a public key');
  });

  test('the limit of proved restores is applied, shown, kept from older clients, and removed with its key', async () => {
    const line = '    expected_every: 24h\n';
    await change(line, `${line}    restore_expected_every: 1w\n`);
    expect((await apply()).exit).toBe(0);
    expect((await cli.tool(['cloud', 'show'])).stdout).toContain('restore_expected_every: 1w');
    await changeOnHub({ cpus: 4 });
    expect(await target()).toMatchObject({ restore_expected_every: '1w' });
    await cli.folder.write('hub.yml', FILE);
    expect((await apply()).actions?.at(-1)).toEqual(['orders', 'change', 'restore_expected_every']);
    expect(await target()).toMatchObject({ restore_expected_every: null });
  });

  test('a name that begins with a hyphen is refused before the hub is asked', async () => {
    await change('  orders:', '  -orders:');
    expect(await apply()).toMatchObject({ exit: 3, last: { code: 'cloud_file_invalid' } });
  });

  test('a dry run shows the plan and changes nothing; no secret is in it', async () => {
    const { exit, stdout, stderr } = await cli.tool(['cloud', 'apply', 'hub.yml', '--dry-run']);
    expect(exit).toBe(0);
    expect(stdout).toMatch(/Create storage profile team: \S+: \S+ → \S+; \S/);
    expect(stdout).toContain('snapshot.src_url: (none) → postgres://app@db.example.com/orders');
    expect(stdout + stderr).not.toMatch(/AKIA-of-team|secret-of-team|password-of-app/);
    expect((await hub.send('GET', '/targets', { token: hub.ownerToken })).body.items).toEqual([]);
  });

  test('apply writes the file once; again it finds nothing to do, secrets included', async () => {
    expect(await apply()).toMatchObject({ exit: 0 });
    expect(await target()).toMatchObject({
      revision: 1,
      settings: { sso_groups: ['readers'], sanitize: { override_query: 'UPDATE users SET email = NULL' } },
      original_groups: ['dba'],
    });
    const again = await apply();
    expect(again.actions).toEqual([
      ['team', 'unchanged'],
      ['orders', 'unchanged'],
    ]);
    expect((await target()).revision).toBe(1);
    const secrets = await hub.send('GET', '/targets/orders/secrets', { token: hub.ownerToken });
    expect(secrets.body.urls['snapshot.src_url']).toContain('password-of-app');
  });

  test('a password that is another is a change, and is not shown', async () => {
    await apply();
    await change('password-of-app', 'password-of-tomorrow');
    const { actions, last } = await apply();
    expect(actions?.at(-1)).toEqual(['orders', 'change', 'settings.snapshot.src_url']);
    expect(JSON.stringify(last)).not.toContain('password-of');
    const secrets = await hub.send('GET', '/targets/orders/secrets', { token: hub.ownerToken });
    expect(secrets.body.urls['snapshot.src_url']).toContain('password-of-tomorrow');
  });

  test('apply removes settings that the file no longer has, and keeps those that others added on the hub', async () => {
    await apply();
    await changeOnHub({ cpus: 4 });
    await change('    sso_groups: [readers]\n', '');
    const { exit, actions } = await apply();
    expect({ exit, actions: actions?.at(-1) }).toEqual({
      exit: 0,
      actions: ['orders', 'change', 'settings.sso_groups'],
    });
    const { settings } = await target();
    expect(settings.cpus).toBe(4);
    expect(settings).not.toHaveProperty('sso_groups');
    const secrets = await hub.send('GET', '/targets/orders/secrets', { token: hub.ownerToken });
    expect(secrets.body.urls['snapshot.src_url']).toContain('password-of-app');
  });

  test('apply overwrites changes of others on the hub only with --overwrite', async () => {
    await apply();
    await changeOnHub({ sso_groups: ['everybody'] });
    await change('[readers]', '[readers, testers]');
    const refused = await apply();
    expect(refused).toMatchObject({ exit: 1, last: { code: 'cloud_conflict' } });
    expect((await target()).settings.sso_groups).toEqual(['everybody']);
    expect(await apply('--overwrite')).toMatchObject({ exit: 0 });
    expect((await target()).settings.sso_groups).toEqual(['readers', 'testers']);
  });

  test('a schedule, a pool and a webhook are written, unchanged, changed and removed; the webhook is not shown', async () => {
    const builds = `    schedule: {cron: "30 2 * * *"}
    pool: production
    webhook: {url: "https://hooks.example.com/services/T0/secret-path", secret: secret-of-the-webhook}
`;
    await cli.folder.write('hub.yml', FILE + builds);
    expect(await apply()).toMatchObject({ exit: 0 });
    const shown = {
      ...{ schedule: { cron: '30 2 * * *', timezone: 'UTC' }, pool: 'production' },
      webhook: { url: 'https://hooks.example.com' },
    };
    expect(await target()).toMatchObject(shown);
    expect((await apply()).actions?.at(-1)).toEqual(['orders', 'unchanged']);
    const { stdout } = await cli.tool(['cloud', 'show']);
    expect(stdout).toContain('cron: 30 2 * * *');
    expect(stdout).not.toMatch(/secret-path|secret-of-the-webhook/);
    await cli.folder.write('hub.yml', stdout);
    expect((await apply()).actions?.at(-1)).toEqual(['orders', 'unchanged']);
    await cli.folder.write('hub.yml', FILE + builds.replace('secret-of-the-webhook', 'another-of-the-webhook'));
    const changed = await apply();
    expect(changed.actions?.at(-1)).toEqual(['orders', 'change', 'webhook.secret']);
    expect(JSON.stringify(changed.last)).not.toMatch(/secret-path|of-the-webhook/);
    await cli.folder.write('hub.yml', FILE + builds.replace('30 2', '61 2'));
    const refused = await apply();
    expect(refused).toMatchObject({ exit: 3, last: { code: 'cloud_file_invalid' } });
    expect((refused.last.details as string[]).join()).toContain('targets.orders.schedule.cron must be five fields');
    await cli.folder.write('hub.yml', FILE);
    expect(await apply()).toMatchObject({ exit: 0 });
    expect(await target()).toMatchObject({ schedule: null, pool: null, webhook: null });
  });

  test('a file with other keys is refused whole, with every problem', async () => {
    await change('provider: s3', 'provider: s3\n    cli_profile: mine');
    await cli.folder.write(
      'hub.yml',
      FILE.replace('bucket: snapshots', 'bucket: snapshots\n    cli_profile: mine')
        .replace('sanitize.sql', 'gone.sql')
        .replace('    snapshot:', '    share: {storage_profile_name: team}\n    snapshot:'),
    );
    const { exit, last } = await apply();
    expect(exit).toBe(3);
    expect(last.code).toBe('cloud_file_invalid');
    expect((last.details as string[]).join('\n')).toMatch(
      /cli_profile is not a key of the hub[\s\S]*share is not a key of the hub: each member[\s\S]*gone\.sql cannot be read/,
    );
  });

  test("show prints the hub's settings as a file, which applies without a change", async () => {
    await apply();
    const { stdout, exit } = await cli.tool(['cloud', 'show']);
    expect(exit).toBe(0);
    expect(stdout).not.toMatch(/AKIA-of-team|secret-of-team|password-of-app/);
    await cli.folder.write('hub.yml', stdout);
    expect((await apply()).actions).toEqual([
      ['team', 'unchanged'],
      ['orders', 'unchanged'],
    ]);
  });

  test('a member writes targets, and no storage profiles', async () => {
    const { token } = await hub.person('ann', ['developers']);
    const environment = { TOOL_AUTHTOKEN: token };
    const refused = await cli.tool(['cloud', 'apply', 'hub.yml', '--yes'], { environment });
    expect(refused.exit).toBe(5);
    expect(refused.stderr).toContain('It needs one of the groups: owners.');
    await cli.folder.write('hub.yml', 'targets:\n  mine:\n    snapshot: {src_url: "postgres://db.example.com/mine"}\n');
    expect((await cli.tool(['cloud', 'apply', 'hub.yml', '--yes'], { environment })).exit).toBe(0);
  });
});
