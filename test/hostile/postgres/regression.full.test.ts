import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildAndLoad } from '../../helpers/databases/build-and-load.ts';
import { copyByPgDump, dumpDifferences } from '../../helpers/databases/dump-differences.ts';
import { canBuildRegression, makeRegressionDatabase, REGRESSION } from '../../helpers/postgres/postgres-regression.ts';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
} from '../../helpers/postgres/postgres-server.ts';

const ALL = { use_default_schema: false };
const COPY = `${REGRESSION}_copy`;
/** What no copy of a database has. */
const FLAGS = ['--no-publications', '--no-subscriptions', '--no-tablespaces', '--load-via-partition-root'];

describeWithPostgres(
  "PostgreSQL's regression database",
  () => {
    let server: TestPostgres;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let work: Awaited<ReturnType<typeof temporaryFolder>>;

    beforeAll(async () => {
      work = await temporaryFolder();
      folder = await temporaryFolder({ mode: 0o755 });
      server = await startPostgres({ max_prepared_transactions: '2', max_connections: '60' });
      await makeRegressionDatabase(server, folder.path);
    }, 1_200_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
      await work?.[Symbol.asyncDispose]();
    });

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
