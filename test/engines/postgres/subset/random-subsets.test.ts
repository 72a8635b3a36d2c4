import { afterAll, beforeAll, it, vi } from 'vitest';
import { checkWorlds, worldsOnPostgres } from '../../../contracts/random-subsets.ts';
import { fastFolder } from '../../../helpers/fast-folder.ts';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
} from '../../../helpers/postgres-server.ts';

const BATCHES = 5;
const BATCH = 40;
/** Real servers on a busy machine take their time. */
const LIMIT = 240_000;

describeWithPostgres('subsets of 200 random schemas', () => {
  let server: TestPostgres;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeAll(async () => {
    vi.stubEnv('TMPDIR', fastFolder());
    folder = await temporaryFolder();
    server = await startPostgres();
  }, LIMIT);

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
    vi.unstubAllEnvs();
  });

  for (let batch = 0; batch < BATCHES; batch += 1) {
    const seeds = Array.from({ length: BATCH }, (_, index) => 1 + batch * BATCH + index);
    it(`are what the rules say, row by row, for the seeds ${seeds[0]} to ${seeds.at(-1)}`, { timeout: LIMIT }, () =>
      checkWorlds({ server: worldsOnPostgres(server, folder.path), directory: folder.path, seeds }),
    );
  }
});
