import { afterAll, beforeAll, it, vi } from 'vitest';
import { checkWorlds, worldsOnMysql } from '../../../contracts/random-subsets.ts';
import { fastFolder } from '../../../helpers/fast-folder.ts';
import { describeWithMysql, startMysql, type TestMysql } from '../../../helpers/mysql-server.ts';
import { temporaryFolder } from '../../../helpers/postgres-server.ts';

const BATCHES = 5;
const BATCH = 40;
/** Real servers on a busy machine take their time. */
const LIMIT = 240_000;

describeWithMysql('mariadb', { name: 'subsets of 200 random schemas' }, () => {
  let server: TestMysql;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeAll(async () => {
    vi.stubEnv('TMPDIR', fastFolder());
    folder = await temporaryFolder();
    server = await startMysql('mariadb');
  }, LIMIT);

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
    vi.unstubAllEnvs();
  });

  for (let batch = 0; batch < BATCHES; batch += 1) {
    const seeds = Array.from({ length: BATCH }, (_, index) => 1 + batch * BATCH + index);
    it(`are what the rules say, row by row, for the seeds ${seeds[0]} to ${seeds.at(-1)}`, { timeout: LIMIT }, () =>
      checkWorlds({ server: worldsOnMysql(server), directory: folder.path, seeds }),
    );
  }
});
