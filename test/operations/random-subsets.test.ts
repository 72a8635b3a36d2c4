import { afterAll, beforeAll, it } from 'vitest';
import { describeWithPostgres, startPostgres, type TestPostgres, temporaryFolder } from '../helpers/postgres-server.ts';
import { checkWorlds, worldsOnPostgres } from './random-subsets.ts';

const BATCHES = 5;
const BATCH = 40;

describeWithPostgres('subsets of 200 random schemas', () => {
  let server: TestPostgres;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeAll(async () => {
    folder = await temporaryFolder();
    server = await startPostgres();
  }, 60_000);

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  for (let batch = 0; batch < BATCHES; batch += 1) {
    const seeds = Array.from({ length: BATCH }, (_, index) => 1 + batch * BATCH + index);
    it(`are what the rules say, row by row, for the seeds ${seeds[0]} to ${seeds.at(-1)}`, { timeout: 120_000 }, () =>
      checkWorlds({ server: worldsOnPostgres(server), directory: folder.path, seeds }),
    );
  }
});
