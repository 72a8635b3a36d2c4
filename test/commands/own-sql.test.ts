import { beforeAll, expect, it } from 'vitest';
import { describeWithPostgres, startPostgres } from '../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';
import { configuredCli } from '../helpers/terminal/configured-cli.ts';

const PASSWORD = 'Pl4nted-Passw0rd';

describeWithPostgres('SQL that the program writes itself', () => {
  const server = suiteResource(() => startPostgres());

  beforeAll(async () => {
    await server.createDatabase('vault');
    await server.psql('vault', {
      sql: `
        CREATE ROLE app SUPERUSER LOGIN PASSWORD '${PASSWORD}';
        CREATE TABLE account (id int PRIMARY KEY, password text, access_key text, access_token text, token text,
          secret_key text, device macaddr8, note text);
        INSERT INTO account SELECT i, 'pass-' || i, 'key-' || i, 'access-' || i, 'token-' || i, 'secret-' || i,
          ('08:00:2b:01:02:03:04:' || lpad(to_hex(i), 2, '0'))::macaddr8, '${PASSWORD}' FROM generate_series(1, 20) i`,
    });
  }, 60_000);

  const url = (database: string) => server.url(database).replace(/\/\/[^@]*@/, `//app:${PASSWORD}@`);
  const configured = (query = '') =>
    configuredCli(
      `targets:\n  app:\n    snapshot: {src_url: "${url('vault')}", dst_url: "${url('vault_dev')}"}\n${query}`,
    );

  it('is complete for columns named password or token, and runs as printed', async () => {
    const cli = await configured();
    expect((await cli.tool(['build', 'app'])).exit).toBe(0);
    const { exit, stdout: query } = await cli.tool(['sanitize', 'app', '--suggest']);
    expect(exit).toBe(0);
    expect(query).not.toContain('***');
    for (const column of ['password', 'access_key', 'access_token', 'token', 'secret_key'])
      expect(query).toMatch(new RegExp(`\\b${column} = pg_temp\\.hash`));
    expect(query).toMatch(/device = \(left\('02' \|\| pg_temp\.hash\(.*\), 16\)\)::macaddr8/);
    const { last } = await cli.json(['sanitize', 'app', '--suggest']);
    expect(last.query).not.toContain('***');

    await cli.folder.write('sanitize.sql', query);
    const again = await configured('    sanitize: {query_file: sanitize.sql}\n');
    await again.folder.write('sanitize.sql', query);
    expect((await again.tool(['build', 'app', '--no-sanitize'])).exit).toBe(0);
    const plan = await again.tool(['sanitize', 'app', '--dry-run']);
    expect({ exit: plan.exit, hidden: plan.stdout.includes('***') }).toEqual({ exit: 0, hidden: false });
    const run = await again.tool(['sanitize', 'app', '--strict', '--yes']);
    expect({ exit: run.exit, stderr: run.stderr }).toMatchObject({ exit: 0 });
    expect((await again.tool(['load', 'app', '--yes'])).exit).toBe(0);
    const left = "SELECT count(*) FROM account WHERE password LIKE 'pass-%' OR device::text LIKE '08:00:2b%'";
    expect((await server.psql('vault_dev', { sql: left })).trim()).toBe('0');
  }, 120_000);

  it('contains no secret that the run knows, nor does any other output', async () => {
    const cli = await configured(`    sanitize: {override_query: "UPDATE account SET note = '${PASSWORD}'"}\n`);
    const printed: string[] = [];
    for (const words of [
      ['build', 'app', '--no-sanitize', '--note', `by ${PASSWORD}`],
      ['target', 'app', '--info'],
      ['sanitize', 'app', '--dry-run'],
      ['load', 'app', '--destdb', url('elsewhere'), '--dry-run'],
      ['load', 'app', '--destdb', url('elsewhere').replace(PASSWORD, 'wr0ng-0ne'), '--dry-run'],
      ['targets'],
    ]) {
      for (const flags of [[], ['--json'], ['--debug']]) {
        const { stdout, stderr } = await cli.tool([...words, ...flags]);
        printed.push(stdout, stderr);
      }
    }
    expect(printed.join('\n')).toContain('by ***');
    expect(printed.filter((text) => /Pl4nted|Passw0rd|wr0ng-0ne/.test(text))).toEqual([]);
  }, 120_000);
});
