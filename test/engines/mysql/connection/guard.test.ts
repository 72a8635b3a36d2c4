import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseMysqlUrl } from '../../../../src/engines/mysql/connection/url.ts';
import { assertNotASource } from '../../../../src/operations/load/guard/guard.ts';
import { checkTarget } from '../../../../src/operations/targets/targets.ts';
import {
  describeWithMysql,
  startMysql,
  type TestFlavour,
  type TestMysql,
  testedFlavours,
} from '../../../helpers/mysql/mysql-server.ts';
import { eventually, temporaryFolder, testContext } from '../../../helpers/postgres/postgres-server.ts';

const IS_SOURCE = { code: 'destination_is_source', exit: 5 };

const REPLICATE: Record<TestFlavour, (port: number) => string[]> = {
  mariadb: (port) => [
    `CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = ${port}, MASTER_USER = 'replica', MASTER_PASSWORD = 'r'`,
    'START SLAVE',
  ],
  mysql: (port) => [
    `CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = ${port}, SOURCE_USER = 'replica', SOURCE_PASSWORD = 'r', GET_SOURCE_PUBLIC_KEY = 1`,
    'START REPLICA',
  ],
};

const FLAVOURS = testedFlavours('mariadb');

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'the guard of sources' }, () => {
    let primary: TestMysql;
    let replica: TestMysql;
    let other: TestMysql;

    beforeAll(async () => {
      const log = ['--log-bin=binlog'];
      [primary, replica, other] = await Promise.all([
        startMysql(flavour, [...log, '--server-id=1']),
        startMysql(flavour, [...log, '--server-id=2', '--read-only=ON', '--log-slave-updates=ON']),
        startMysql(flavour, ['--server-id=3']),
      ]);
      await primary.sql(
        '',
        "CREATE USER replica@'%' IDENTIFIED BY 'r'",
        "GRANT REPLICATION SLAVE ON *.* TO replica@'%'",
        'CREATE DATABASE prod',
        'CREATE DATABASE dev',
        "CREATE USER reader@'%' IDENTIFIED BY 'r'",
        "GRANT SELECT ON prod.* TO reader@'%'",
      );
      await replica.sql('', ...REPLICATE[flavour](primary.port));
      await other.createDatabase('prod');
      await eventually(async () => (await replica.sql('', "SHOW GRANTS FOR reader@'%'").catch(() => [])).length > 1, {
        deadline: 60_000,
      });
    }, 240_000);

    afterAll(async () => {
      await Promise.all([primary?.stop(), replica?.stop(), other?.stop()]);
    });

    it.for([
      { name: 'root', password: '' },
      { name: 'reader', password: 'r' },
    ])('refuses a primary as destination of its replica, seen as $name, and remembers the replica', async (user) => {
      await using folder = await temporaryFolder();
      const src_url = replica.url('prod', user);
      const settings = { working_directory: folder.path, targets: { app: { snapshot: { src_url } } } };
      const context = testContext({ settings });
      const prod = parseMysqlUrl(primary.url('prod'));
      await expect(assertNotASource(context, prod)).rejects.toMatchObject(IS_SOURCE);
      expect(await checkTarget(context, 'app')).toMatchObject({ status: 'ok' });
      const blanks = new Map([['targets.app.snapshot.src_url', `mysql://app:@db.internal.invalid/prod`]]);
      const problem = { severity: 'error' as const, code: 'template_failed', message: '', hint: null };
      const place = { key: 'targets.app.snapshot.src_url', file: null, line: null, column: null };
      const configuration = { ...context.configuration, deferred: [{ ...problem, ...place }], blanks };
      await expect(assertNotASource({ ...context, configuration }, prod)).rejects.toMatchObject(IS_SOURCE);
      expect(await assertNotASource(context, parseMysqlUrl(primary.url('dev')))).toEqual([]);
      expect(await assertNotASource(context, parseMysqlUrl(other.url('prod')))).toEqual([]);
    });

    it('counts the undo copy of a destination as a destination', async () => {
      await using folder = await temporaryFolder();
      await primary.createDatabase('dev.tool-undo');
      const src_url = primary.url('dev.tool-undo').replace('127.0.0.1', 'localhost');
      const settings = { working_directory: folder.path, targets: { app: { snapshot: { src_url } } } };
      const refused = assertNotASource(testContext({ settings }), parseMysqlUrl(primary.url('dev')));
      await expect(refused).rejects.toMatchObject(IS_SOURCE);
    });
  });
}
