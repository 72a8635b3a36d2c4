import { beforeAll, expect, it } from 'vitest';
import { describeWithMysql, startMysql } from '../helpers/mysql/mysql-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';
import { configuredCli } from '../helpers/terminal/configured-cli.ts';

describeWithMysql('mariadb', { name: 'objects that the rights of the user hide' }, () => {
  const server = suiteResource(() => startMysql('mariadb'));

  beforeAll(async () => {
    await server.createDatabase('shop');
    await server.sql(
      'shop',
      'CREATE TABLE orders (id int PRIMARY KEY)',
      'INSERT INTO orders VALUES (1)',
      'CREATE VIEW recent AS SELECT id FROM orders',
      "CREATE USER reader IDENTIFIED BY 'secret'",
      'GRANT SELECT, TRIGGER, EVENT ON shop.* TO reader',
    );
  }, 60_000);

  const HIDDEN = [
    { kind: 'routine', names: [], right: 'SELECT on mysql.proc' },
    { kind: 'view', names: ['recent'], right: 'SELECT, SHOW VIEW' },
  ];
  const TEXT = 'any routines (SELECT on mysql.proc); view recent (SELECT, SHOW VIEW)';

  const configured = (sanitize = '') =>
    configuredCli(
      [
        'targets:',
        '  app:',
        '    snapshot:',
        `      src_url: ${server.url('shop', { name: 'reader', password: 'secret' })}`,
        `      dst_url: ${server.url('shop_dev')}`,
        sanitize,
        '',
      ].join('\n'),
    );

  it('are listed by build with the GRANT, and by target, verify and load', async () => {
    const cli = await configured();
    const built = await cli.tool(['build', 'app']);
    expect(built).toMatchObject({ exit: 0 });
    expect(built.stdout).toContain(`\nNot in snapshot 0, hidden from its user: ${TEXT}\n`);
    expect(built.stderr).toContain('To include it: GRANT SELECT, SHOW VIEW ON `shop`.* TO `reader`@`%`');
    expect(built.stderr).toContain('To include them: GRANT SELECT ON `mysql`.`proc` TO `reader`@`%`');
    expect((await cli.tool(['target', 'app'])).stdout).toContain(`hidden from its user: ${TEXT}\n`);
    expect((await cli.tool(['verify', 'app'])).stdout).toContain(`hidden from its user: ${TEXT}\n`);
    for (const words of [
      ['target', 'app'],
      ['verify', 'app'],
      ['load', 'app', '--dry-run'],
      ['load', 'app', '--yes'],
    ]) {
      const { last } = await cli.json(words);
      expect(JSON.stringify(last)).toContain(`"hidden":${JSON.stringify(HIDDEN)}`);
    }
    expect((await cli.tool(['load', 'app', '--dry-run'])).stdout).toMatch(/\n {2}Hidden +/);
    expect((await cli.tool(['load', 'app', '--dry-run'])).stdout).toContain(`  ${TEXT}\n`);
    expect((await cli.tool(['load', 'app', '--yes'])).stdout).toContain(
      `\nNot in snapshot 0, hidden from its user: ${TEXT}\n`,
    );
  }, 60_000);

  it('are the same of a sanitized copy', async () => {
    const cli = await configured('    sanitize: {override_query: "UPDATE orders SET id = 2"}');
    expect(await cli.tool(['build', 'app', '--yes'])).toMatchObject({ exit: 0 });
    const { last } = await cli.json(['load', 'app', '--dry-run']);
    expect(last.plan).toMatchObject({ sanitized: true, snapshot: { hidden: HIDDEN } });
  }, 120_000);
});
