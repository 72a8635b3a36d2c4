import { afterAll, beforeAll, it } from 'vitest';
import { checkWorlds, worldsOnPostgres } from '../../../contracts/random-subsets.ts';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
} from '../../../helpers/postgres/postgres-server.ts';
import { noteServer, trials } from '../../../helpers/trials.ts';

const part = trials('subsets/postgres');
/** Schemas in one database. */
const BATCH = 40;

describeWithPostgres('subsets of random schemas', () => {
  let server: TestPostgres;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeAll(async () => {
    folder = await temporaryFolder();
    server = await startPostgres();
    noteServer(`PostgreSQL ${(await server.psql('postgres', { sql: 'SHOW server_version' })).split(' ')[0]?.trim()}`);
  }, 240_000);

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  it(part.title('are what the rules say, row by row'), { timeout: part.timeout }, () =>
    part.eachBatch(BATCH, (rounds) =>
      checkWorlds({
        server: worldsOnPostgres(server, folder.path),
        directory: folder.path,
        seeds: rounds.map(({ seed }) => seed),
      }),
    ),
  );
});
