import { expect, it } from 'vitest';
import { openDatabase } from '../../../../src/engines/open-database.ts';
import { parseUrl } from '../../../../src/engines/registry.ts';
import { describeWithMysql, startMysql, type TestFlavour } from '../../../helpers/mysql/mysql-server.ts';
import { testContext } from '../../../helpers/postgres/postgres-server.ts';

const FLAVOURS: TestFlavour[] = ['mariadb', 'mysql'];

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'a superuser' }, () => {
    it('is who has powers over the whole server, and not who owns a database', async () => {
      const server = await startMysql(flavour);
      try {
        await server.sql(
          '',
          'CREATE DATABASE app',
          "CREATE USER plain@'%' IDENTIFIED BY 'p'",
          "GRANT ALL ON app.* TO plain@'%'",
          "CREATE USER reader@'%' IDENTIFIED BY 'p'",
          "GRANT FILE ON *.* TO reader@'%'",
        );
        const context = testContext({ settings: {} });
        const asks = (name: string, password: string) =>
          openDatabase(context, parseUrl(server.url('app', { name, password }))).connect.isSuperuser();
        expect(await asks('root', '')).toBe(true);
        expect(await asks('plain', 'p')).toBe(false);
        expect(await asks('reader', 'p')).toBe(true);
      } finally {
        await server.stop();
      }
    }, 120_000);
  });
}
