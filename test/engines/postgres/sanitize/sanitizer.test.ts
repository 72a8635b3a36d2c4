import { sanitizerContract } from '../../../contracts/sanitizer.ts';
import { describeWithPostgres, startPostgres } from '../../../helpers/postgres-server.ts';

describeWithPostgres('the contract of sanitizers', () => {
  sanitizerContract(async () => {
    const server = await startPostgres();
    return {
      ...server,
      schema: 'public',
      dropDatabase: (name) =>
        server.psql('postgres', { sql: `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)` }).then(() => {}),
      value: async (database, sql) => (await server.psql(database, { sql })).trim(),
      run: (database, ...statements) => server.psql(database, { sql: statements.join(';') }),
      numbers: (count) => `generate_series(1, ${count}) AS numbers (i)`,
      sleeping: 'SELECT pg_sleep(100000)',
      sleepers: "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'",
      losesConnection: 'SELECT pg_terminate_backend(pg_backend_pid())',
      async readOnlyUrl(database) {
        await server.psql('postgres', {
          sql: "CREATE ROLE reader LOGIN PASSWORD 'reads'; GRANT pg_read_all_data TO reader",
        });
        return server.url(database).replace(/\/\/.*@/, '//reader:reads@');
      },
    };
  });
});
