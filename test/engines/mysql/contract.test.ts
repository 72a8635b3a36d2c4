import { engineContract } from '../../contracts/engine.ts';
import { describeWithMysql, startMysql, type TestFlavour } from '../../helpers/mysql-server.ts';

const FIXTURES: Record<TestFlavour, string[]> = {
  mariadb: ['every-type.sql', 'mariadb-only.sql'],
  mysql: ['every-type.sql'],
};
const FLAVOURS: TestFlavour[] = ['mariadb', 'mysql'];

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'the contract of engines' }, () => {
    engineContract(async () => {
      const server = await startMysql(flavour);
      return {
        ...server,
        deniedUrl: (database) => server.url(database, { name: 'root', password: 'not it' }),
        async fill(database) {
          for (const name of FIXTURES[flavour]) {
            await server.file(database, new URL(`fixtures/${name}`, import.meta.url).pathname);
          }
        },
        // A default draws from the sequence of its own database.
        dump: async (database) => (await server.dump(database)).replaceAll(`nextval(\`${database}\`.`, 'nextval('),
        run: (database, statement) => server.sql(database, statement),
      };
    });
  });
}
