import { join } from 'node:path';
import { expect, it } from 'vitest';
import { build } from '../../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../../src/operations/load/load.ts';
import { describeWithMysql, startMysql } from '../../../helpers/mysql/mysql-server.ts';
import { temporaryFolder, testContext } from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

// MariaDB has no general tablespaces.
describeWithMysql('mysql', { name: 'tables in a general tablespace, on a server with the defaults' }, () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startMysql('mysql', [], 'defaults'));

  it('are refused before the rows, all by name, and load once they have left it', { timeout: 120_000 }, async () => {
    await server.createDatabase('app');
    await server.sql(
      'app',
      "CREATE TABLESPACE shared ADD DATAFILE 'shared.ibd'",
      'CREATE TABLE a (id INT PRIMARY KEY) TABLESPACE shared',
      'CREATE TABLE b (id INT PRIMARY KEY)',
      'CREATE TABLE c (id INT PRIMARY KEY) TABLESPACE shared',
      'CREATE TABLE d (id INT PRIMARY KEY) TABLESPACE innodb_file_per_table',
      'INSERT INTO a VALUES (1)',
    );
    await server.createDatabase('app_dev');
    await server.sql('app_dev', 'CREATE TABLE old (id INT)');
    const snapshot = { src_url: server.url('app'), dst_url: server.url('app_dev') };
    const context = testContext({
      settings: { working_directory: join(folder.path, 'work'), targets: { app: { snapshot } } },
    });
    await build(context, { target: 'app', cpus: 1 });
    const load = async (): Promise<unknown> => applyLoad(context, await planLoad(context, { target: 'app', cpus: 1 }));
    await expect(load()).rejects.toMatchObject({
      code: 'content_refused',
      details: ['table a (tablespace shared)', 'table c (tablespace shared)'],
      hint: expect.stringContaining('TABLESPACE innodb_file_per_table'),
    });
    expect(await server.sql('app_dev', 'SHOW TABLES')).toEqual([{ Tables_in_app_dev: 'old' }]);
    await server.sql(
      'app',
      'ALTER TABLE a TABLESPACE innodb_file_per_table',
      'ALTER TABLE c TABLESPACE innodb_file_per_table',
    );
    await build(context, { target: 'app', cpus: 1 });
    await load();
    expect(await server.dump('app_dev')).toBe(await server.dump('app'));
  });
});
