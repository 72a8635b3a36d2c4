import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { buildAndLoad } from '../../helpers/databases/build-and-load.ts';
import { copyByPgDump, dumpDifferences } from '../../helpers/databases/dump-differences.ts';
import { canBuildRegression, makeRegressionDatabase, REGRESSION } from '../../helpers/postgres/postgres-regression.ts';
import { describeWithPostgres, startPostgres, temporaryFolder } from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const ALL = { use_default_schema: false };
const COPY = `${REGRESSION}_copy`;
/** What no copy of a database has. */
const FLAGS = ['--no-publications', '--no-subscriptions', '--no-tablespaces', '--load-via-partition-root'];

describeWithPostgres(
  "PostgreSQL's regression database",
  () => {
    const work = suiteResource(() => temporaryFolder());
    const folder = suiteResource(() => temporaryFolder({ mode: 0o755 }));
    const server = suiteResource(() => startPostgres({ max_prepared_transactions: '2', max_connections: '60' }));

    beforeAll(async () => {
      await makeRegressionDatabase(server, folder.path);
    }, 1_200_000);

    it('has hundreds of tables', async () => {
      const tables = `SELECT count(*) FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace`;
      expect(Number(await server.psql(REGRESSION, { sql: tables }))).toBeGreaterThan(400);
    });

    it('is the same after a build and a load as after pg_dump and psql', async () => {
      await buildAndLoad(server, {
        database: REGRESSION,
        workingDirectory: join(work.path, 'work'),
        schemaConfig: ALL,
      });
      const reference = { from: REGRESSION, to: 'reference', file: join(work.path, 'dump.sql'), flags: FLAGS };
      await copyByPgDump(server, reference);
      const [expected, found] = [await server.dump('reference', ...FLAGS), await server.dump(COPY, ...FLAGS)];
      expect(dumpDifferences(expected, found)).toEqual([]);
    });
  },
  canBuildRegression ? {} : { files: 'apt-get, gcc, make and perl' },
);
