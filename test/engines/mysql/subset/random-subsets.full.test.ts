import { afterAll, beforeAll, it } from 'vitest';
import { checkWorlds, worldsOnMysql } from '../../../contracts/random-subsets.ts';
import { describeWithMysql, startMysql, type TestMysql, testedFlavours } from '../../../helpers/mysql/mysql-server.ts';
import { temporaryFolder } from '../../../helpers/postgres/postgres-server.ts';
import { noteServer, trials } from '../../../helpers/trials.ts';

const FLAVOURS = testedFlavours('mariadb');
/** Schemas in one database. */
const BATCH = 40;

for (const flavour of FLAVOURS) {
  const part = trials(`subsets/${flavour}`);
  describeWithMysql(flavour, { name: 'subsets of random schemas' }, () => {
    let server: TestMysql;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;

    beforeAll(async () => {
      folder = await temporaryFolder();
      server = await startMysql(flavour);
      const [{ version } = { version: '' }] = await server.sql<{ version: string }>('', 'SELECT VERSION() AS version');
      noteServer(`${flavour === 'mysql' ? 'MySQL' : 'MariaDB'} ${version.split('-')[0]}`);
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    it(part.title('are what the rules say, row by row'), { timeout: part.timeout }, () =>
      part.eachBatch(BATCH, (rounds) =>
        checkWorlds({
          server: worldsOnMysql(server),
          directory: folder.path,
          seeds: rounds.map(({ seed }) => seed),
        }),
      ),
    );
  });
}
