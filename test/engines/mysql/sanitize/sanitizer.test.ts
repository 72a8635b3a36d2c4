import { sanitizerContract } from '../../../contracts/sanitizer.ts';
import { describeWithMysql, startMysql, type TestFlavour } from '../../../helpers/mysql-server.ts';

const FLAVOURS: TestFlavour[] = ['mariadb', 'mysql'];

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'the contract of sanitizers' }, () => {
    sanitizerContract(async () => {
      const server = await startMysql(flavour);
      return {
        ...server,
        schema: 'source',
        dropDatabase: (name) => server.sql('', `DROP DATABASE IF EXISTS \`${name}\``).then(() => {}),
        async value(database, sql) {
          const [row = {}] = await server.sql(database, sql);
          return String(Object.values(row)[0]);
        },
        run: (database, ...statements) => server.sql(database, ...statements),
        numbers: (count) =>
          `(WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) SELECT i FROM n) numbers`,
        sleeping: 'SELECT SLEEP(100000)',
        sleepers: "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT SLEEP(%'",
        losesConnection: 'KILL CONNECTION_ID()',
        async readOnlyUrl(database) {
          const user = { name: 'reader', password: 'reads' };
          await server.sql(
            '',
            `CREATE USER IF NOT EXISTS '${user.name}'@'%' IDENTIFIED BY '${user.password}'`,
            `GRANT SELECT ON *.* TO '${user.name}'@'%'`,
          );
          return server.url(database, user);
        },
      };
    });
  });
}
