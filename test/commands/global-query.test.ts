import { beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWithPostgres, startPostgres } from '../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';
import { type ConfiguredCli, configuredCli } from '../helpers/terminal/configured-cli.ts';

// A target without a section `sanitize`, below a global query.
describeWithPostgres('override.san_query', () => {
  const server = suiteResource(() => startPostgres());
  let cli: ConfiguredCli;

  beforeAll(async () => {
    await server.createDatabase('shop');
    await server.psql('shop', {
      sql: "CREATE TABLE person (id int PRIMARY KEY, email text); INSERT INTO person VALUES (1, 'jane@real.example')",
    });
  }, 60_000);

  beforeEach(async () => {
    cli = await configuredCli(
      [
        'override:',
        "  san_query: \"UPDATE person SET email = 'user' || id || '@example.com'\"",
        'targets:',
        '  app:',
        `    snapshot: {src_url: "${server.url('shop')}", dst_url: "${server.url('shop_dev')}"}`,
        '',
      ].join('\n'),
    );
  });

  const emails = async () => (await server.psql('shop_dev', { sql: 'SELECT email FROM person' })).trim();

  it('sanitizes builds and loads of a target without a section sanitize', async () => {
    const built = await cli.json(['build', 'app', '--yes']);
    expect(built).toMatchObject({ exit: 0, last: { snapshot: { sanitized: false }, sanitized: { sanitized: true } } });
    const planned = await cli.tool(['load', 'app', 'latest', '--dry-run']);
    expect(planned.stdout).toMatch(/^ {2}Data +SAFE, sanitized: the sanitized copy of \w{8} at \d{4}-/m);
    expect(await cli.json(['load', 'app', 'latest', '--yes'])).toMatchObject({
      exit: 0,
      last: { snapshot: { index: 0 } },
    });
    expect(await emails()).toBe('user1@example.com');

    const original = await cli.json(['load', 'app', '-o', '--dry-run']);
    expect(original.last.plan).toMatchObject({
      sanitized: false,
      sanitized_reason: 'the original was requested',
      warnings: [],
    });
  }, 120_000);

  it('warns where a snapshot that it was not run on is loaded', async () => {
    expect(await cli.json(['build', 'app', '--no-sanitize'])).toMatchObject({ exit: 0 });
    const { last } = await cli.json(['load', 'app', '--dry-run']);
    expect(last.plan).toMatchObject({
      sanitized: false,
      sanitized_reason: 'override.san_query has not been run on it',
      warnings: [{ code: 'not_sanitized', message: expect.stringContaining('tool sanitize app 0') }],
    });
    const loaded = await cli.tool(['load', 'app', '--yes']);
    expect(loaded.stderr).toContain('Snapshot 0 of app is not sanitized, although override.san_query applies');
    expect(await emails()).toBe('jane@real.example');
  }, 60_000);

  it('is not required for the plan to state that the data is original', async () => {
    const bare = await configuredCli(
      `targets: {app: {snapshot: {src_url: "${server.url('shop')}", dst_url: "${server.url('shop_dev')}"}}}\n`,
      { 'fill.sql': 'SELECT 1' },
    );
    expect(await bare.json(['build', 'app'])).toMatchObject({ exit: 0 });
    const line = async (...words: string[]) =>
      (await bare.tool(['load', 'app', ...words, '--dry-run'])).stdout
        .split('\n')
        .find((text) => /^ {2}Data /.test(text));
    expect(await line()).toMatch(/^ {2}Data +RAW, NOT sanitized: the target has no sanitization query$/);
    expect(await line('fill.sql')).toMatch(
      /^ {2}Data +not known to be sanitized: it is what the SQL file makes of it$/,
    );
  }, 60_000);

  it('is listed by config check with its server', async () => {
    const { last } = await cli.json(['config', 'check', '--offline']);
    expect(last).toMatchObject({ sanitizing: [{ target: 'app', throw_away: true }] });
  }, 30_000);
});
