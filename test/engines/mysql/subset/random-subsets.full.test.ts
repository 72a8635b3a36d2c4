import { beforeAll, it } from 'vitest';
import { checkWorlds, worldsOnMysql } from '../../../contracts/random-subsets.ts';
import { describeWithMysql, startMysql, testedFlavours } from '../../../helpers/mysql/mysql-server.ts';
import { temporaryFolder } from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';
import { noteServer, trials } from '../../../helpers/trials.ts';

const FLAVOURS = testedFlavours('mariadb');
/** Schemas in one database. */
const BATCH = 40;

for (const flavour of FLAVOURS) {
  const part = trials(`subsets/${flavour}`);
  describeWithMysql(flavour, { name: 'subsets of random schemas' }, () => {
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startMysql(flavour));

    beforeAll(async () => {
      const [{ version } = { version: '' }] = await server.sql<{ version: string }>('', 'SELECT VERSION() AS version');
      noteServer(`${flavour === 'mysql' ? 'MySQL' : 'MariaDB'} ${version.split('-')[0]}`);
    }, 240_000);

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
