import { afterAll, beforeAll, it, vi } from 'vitest';
import { checkWorlds, worldsOnMysql } from '../../../contracts/random-subsets.ts';
import { fastFolder } from '../../../helpers/fast-folder.ts';
import { describeWithMysql, startMysql, type TestFlavour, type TestMysql } from '../../../helpers/mysql-server.ts';
import { temporaryFolder } from '../../../helpers/postgres-server.ts';

/** MySQL takes some six times as long as MariaDB to make and drop a table. */
const SERVERS: { flavour: TestFlavour; batches: number }[] = [
  { flavour: 'mariadb', batches: 125 },
  { flavour: 'mysql', batches: 10 },
];
const BATCH = 40;
/** Real servers on a busy machine take their time. */
const LIMIT = 240_000;

for (const { flavour, batches } of SERVERS) {
  describeWithMysql(flavour, { name: `subsets of ${batches * BATCH} random schemas` }, () => {
    let server: TestMysql;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;

    beforeAll(async () => {
      vi.stubEnv('TMPDIR', fastFolder());
      folder = await temporaryFolder();
      server = await startMysql(flavour);
    }, LIMIT);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
      vi.unstubAllEnvs();
    });

    for (let batch = 0; batch < batches; batch += 1) {
      const seeds = Array.from({ length: BATCH }, (_, index) => 1001 + batch * BATCH + index);
      it(`are what the rules say, row by row, for the seeds ${seeds[0]} to ${seeds.at(-1)}`, { timeout: LIMIT }, () =>
        checkWorlds({ server: worldsOnMysql(server), directory: folder.path, seeds }),
      );
    }
  });
}
