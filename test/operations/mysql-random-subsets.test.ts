import { afterAll, beforeAll, it } from 'vitest';
import { describeWithMysql, startMysql, type TestMysql } from '../helpers/mysql-server.ts';
import { temporaryFolder } from '../helpers/postgres-server.ts';
import { checkWorlds, worldsOnMysql } from './random-subsets.ts';

/** Real servers on a busy machine take their time. */
const LIMIT = 240_000;
const SEEDS = 40;

describeWithMysql('mariadb', { name: `subsets of ${SEEDS} random schemas` }, () => {
  let server: TestMysql;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeAll(async () => {
    folder = await temporaryFolder();
    server = await startMysql('mariadb');
  }, LIMIT);

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  it('are what the rules say, row by row', { timeout: LIMIT }, () =>
    checkWorlds({
      server: worldsOnMysql(server),
      directory: folder.path,
      seeds: Array.from({ length: SEEDS }, (_, index) => index + 1),
    }),
  );
});
