import { type EngineProfile, parametersOf } from '../profile.ts';

export const profile = {
  id: 'postgres',
  products: ['PostgreSQL'],
  schemes: ['postgres', 'postgresql', 'pgdocker'],
  containerScheme: 'pgdocker',
  defaultPort: 5432,
  hasSchemas: true,
  client: 'psql',
  nameLimit: { most: 63, lengthOf: (text) => Buffer.byteLength(text) },
  rows: { byProgram: 'copied', emptyEnd: false, endBytes: 5 },
  indexing: 'Build indexes and constraints',
  perMs: {
    readBytes: 220_000,
    restoredBytes: 55_000,
    indexedBytes: 80_000,
    copiedBytes: 300_000,
    countedRows: 10_000,
    tableDefinitions: 1,
    indexDefinitions: 0.2,
    renamedTables: 1000,
  },
  partsFormat: 2,
  defaultImage: 'postgres:17',
  withoutPrograms: {
    works: false,
    advice: 'no client programs: apt-get install postgresql-client, or brew install libpq',
  },
  /**
   * The parameters of libpq up to PostgreSQL 18, except `replication`, `gsslib`, `sslkeylogfile` (it writes the keys of a
   * connection to a file) and obsolete ones.
   * https://www.postgresql.org/docs/18/libpq-connect.html#LIBPQ-PARAMKEYWORDS
   */
  parameters: parametersOf({
    route: `
      host hostaddr port dbname user service tunnel target_session_attrs load_balance_hosts oauth_issuer`,
    file: 'servicefile passfile sslcert sslkey sslrootcert sslcrl',
    secret: 'password sslpassword scram_client_key scram_server_key oauth_client_secret',
    setting: `
      oauth_client_id oauth_scope options application_name fallback_application_name client_encoding connect_timeout
      keepalives keepalives_idle keepalives_interval keepalives_count tcp_user_timeout require_auth channel_binding
      min_protocol_version max_protocol_version ssl sslmode sslnegotiation sslcompression sslcertmode sslcrldir
      sslsni ssl_min_protocol_version ssl_max_protocol_version requirepeer krbsrvname gssencmode gssdelegation`,
  }),
  surroundings: {
    variables: /^PG[A-Z]/,
    passwordVariables: ['PGPASSWORD'],
    passwordFileVariables: ['PGPASSFILE'],
    userVariable: 'PGUSER',
    sockets: ['/var/run/postgresql'],
    homeFiles: ['.pgpass', '.pg_service.conf', '.postgresql'],
  },
} satisfies EngineProfile & { id: 'postgres' };
