import { beforeAll, it } from 'vitest';
import { checkWorlds, worldsOnPostgres } from '../../../contracts/random-subsets.ts';
import { describeWithPostgres, startPostgres, temporaryFolder } from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';
import { noteServer, trials } from '../../../helpers/trials.ts';

const part = trials('subsets/postgres');
/** Schemas in one database. */
const BATCH = 40;

describeWithPostgres('subsets of random schemas', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());

  beforeAll(async () => {
    noteServer(`PostgreSQL ${(await server.psql('postgres', { sql: 'SHOW server_version' })).split(' ')[0]?.trim()}`);
  }, 240_000);

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
