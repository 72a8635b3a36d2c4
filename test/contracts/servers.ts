import type { EngineId } from '../../src/engines/list.ts';
import {
  describeWithMysql,
  type Setup,
  startMysql,
  type TestFlavour,
  testedFlavours,
} from '../helpers/mysql/mysql-server.ts';
import { describeWithPostgres, startPostgres } from '../helpers/postgres/postgres-server.ts';
import type { ContractServer } from './engine.ts';
import type { SanitizerServer } from './sanitizer.ts';

/** A real server on which the contracts of an engine are shown. */
interface ContractHost {
  describe(name: string, suite: () => void): void;
  start(): Promise<ContractServer & SanitizerServer>;
}

interface MysqlServer {
  /** The flavour that `npm test` shows it on. */
  one: TestFlavour;
  setup: Setup;
  flags: string[];
}

/** As on Windows, where names have no case; with the defaults of a server. */
const MYSQL_SERVERS: MysqlServer[] = [
  { one: 'mariadb', setup: 'lean', flags: [] },
  { one: 'mysql', setup: 'defaults', flags: ['--lower-case-table-names=1'] },
];

/** An engine of src/engines/list.ts is tested by its entry here. */
export const CONTRACT_HOSTS: Record<EngineId, ContractHost[]> = {
  postgres: [{ describe: (name, suite) => describeWithPostgres(`postgres: ${name}`, suite), start: onPostgres }],
  mysql: MYSQL_SERVERS.flatMap(({ one, setup, flags }) =>
    testedFlavours(one).map((flavour) => ({
      describe: (name, suite) => describeWithMysql(flavour, { name: [name, setup, ...flags].join(' ') }, suite),
      start: () => onMysql(flavour, { setup, flags }),
    })),
  ),
};

/** In `npm test` the first server of each engine, in `npm run test:full` all. */
export function testedHosts(id: EngineId): ContractHost[] {
  return process.env.TEST_FULL === '1' ? CONTRACT_HOSTS[id] : CONTRACT_HOSTS[id].slice(0, 1);
}

const FILL = `
  CREATE TABLE parent (id integer PRIMARY KEY, code text UNIQUE);
  INSERT INTO parent VALUES (0, 'NULL'), (1, 'tab' || chr(9)), (2, NULL);
  CREATE TABLE child (id bigserial PRIMARY KEY, parent_id integer REFERENCES parent, note text DEFAULT '\\N');
  INSERT INTO child (parent_id) SELECT i % 3 FROM generate_series(1, 2000) i;
  CREATE INDEX ON child (note);
  CREATE VIEW notes AS SELECT code, note FROM parent JOIN child ON parent_id = parent.id;`;

async function onPostgres() {
  const server = await startPostgres();
  return {
    ...server,
    deniedUrl: (database: string) => server.url(database).replace(/:[^:@/]*@/, ':not-it@'),
    fill: (database: string) => server.psql(database, { sql: FILL }).then(() => {}),
    run: (database: string, ...statements: string[]) => server.psql(database, { sql: statements.join(';') }),
    schema: 'public',
    dropDatabase: (name: string) =>
      server.psql('postgres', { sql: `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)` }).then(() => {}),
    value: async (database: string, sql: string) => (await server.psql(database, { sql })).trim(),
    numbers: (count: number) => `generate_series(1, ${count}) AS numbers (i)`,
    sleeping: 'SELECT pg_sleep(100000)',
    sleepers: "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'",
    losesConnection: 'SELECT pg_terminate_backend(pg_backend_pid())',
    async readOnlyUrl(database: string) {
      const sql = "CREATE ROLE reader LOGIN PASSWORD 'reads'; GRANT pg_read_all_data TO reader";
      await server.psql('postgres', { sql });
      return server.url(database).replace(/\/\/.*@/, '//reader:reads@');
    },
  };
}

const FIXTURES: Record<TestFlavour, string[]> = {
  mariadb: ['every-type.sql', 'mariadb-only.sql'],
  mysql: ['every-type.sql'],
};

async function onMysql(flavour: TestFlavour, { setup, flags }: Omit<MysqlServer, 'one'>) {
  const server = await startMysql(flavour, flags, setup);
  return {
    ...server,
    deniedUrl: (database: string) => server.url(database, { name: 'root', password: 'not it' }),
    async fill(database: string) {
      for (const name of FIXTURES[flavour]) {
        await server.file(database, new URL(`../engines/mysql/fixtures/${name}`, import.meta.url).pathname);
      }
    },
    // A default draws from the sequence of its own database.
    dump: async (database: string) => (await server.dump(database)).replaceAll(`nextval(\`${database}\`.`, 'nextval('),
    run: (database: string, ...statements: string[]) => server.sql(database, ...statements),
    schema: 'source',
    dropDatabase: (name: string) => server.sql('', `DROP DATABASE IF EXISTS \`${name}\``).then(() => {}),
    async value(database: string, sql: string) {
      const [row = {}] = await server.sql(database, sql);
      return String(Object.values(row)[0]);
    },
    numbers: (count: number) =>
      `(WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) SELECT i FROM n) numbers`,
    sleeping: 'SELECT SLEEP(100000)',
    sleepers: "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT SLEEP(%'",
    losesConnection: 'KILL CONNECTION_ID()',
    async readOnlyUrl(database: string) {
      const user = { name: 'reader', password: 'reads' };
      await server.sql(
        '',
        `CREATE USER IF NOT EXISTS '${user.name}'@'%' IDENTIFIED BY '${user.password}'`,
        `GRANT SELECT ON *.* TO '${user.name}'@'%'`,
      );
      return server.url(database, user);
    },
  };
}
