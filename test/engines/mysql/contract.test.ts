import { engineContract } from '../../contracts/engine.ts';
import { describeWithMysql, startMysql, type TestFlavour } from '../../helpers/mysql-server.ts';

const EVERY_TYPE = new URL('fixtures/every-type.sql', import.meta.url).pathname;
const FLAVOURS: TestFlavour[] = ['mariadb', 'mysql'];

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'the contract of engines' }, () => {
    engineContract(async () => {
      const server = await startMysql(flavour);
      return {
        ...server,
        deniedUrl: (database) => server.url(database, { name: 'root', password: 'not it' }),
        fill: (database) => server.file(database, EVERY_TYPE),
        run: (database, statement) => server.sql(database, statement),
      };
    });
  });
}
