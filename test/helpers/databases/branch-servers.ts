import type { EngineProfile } from '../../../src/engines/profile.ts';
import { startMysql, type TestFlavour, testedFlavours } from '../mysql/mysql-server.ts';
import { eventually, startPostgres } from '../postgres/postgres-server.ts';
import type { ServerKind } from './any-server.ts';

/** A server with a database `source` of 200 persons. */
export interface BranchServer {
  url(database: string): string;
  databases(): Promise<string[]>;
  /** Resolves with the first value of the last statement. */
  sql(database: string, statements: string[]): Promise<string>;
  /** Statements that make a table of 20,000 rows. */
  items: string[];
  /** Everything that a vendor's dump contains. */
  dump(database: string): Promise<string>;
  createDestination(name: string): Promise<void>;
  drop(name: string): Promise<void>;
  /** Owner, grants and settings of a database. */
  settings(database: string): Promise<string>;
  /** Makes a base copy one that may have been changed. */
  openBase(name: string): Promise<void>;
  /** Waits until the server has ended what killed clients had sent. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

export interface BranchServerKind {
  kind: ServerKind;
  name: string;
  start: () => Promise<BranchServer>;
  /** Whether the server copies files. */
  files: boolean;
  /** `freeSpace`: its files are not on this machine, as it sees them. */
  cannot: { lastUse: boolean; freeSpace: boolean };
  nameLimit: EngineProfile['nameLimit'];
}

export const BRANCH_SERVERS: BranchServerKind[] = [
  {
    kind: 'postgres',
    name: 'PostgreSQL',
    start: startPostgresOfBranches,
    files: true,
    cannot: { lastUse: false, freeSpace: false },
    nameLimit: { most: 63, lengthOf: Buffer.byteLength },
  },
  ...testedFlavours('mariadb').map((flavour) => ({
    ...{ kind: flavour, name: flavour, start: () => startMysqlOfBranches(flavour), files: false },
    cannot: { lastUse: true, freeSpace: flavour === 'mysql' },
    nameLimit: { most: 64, lengthOf: ({ length }: string) => length },
  })),
];

async function startPostgresOfBranches(): Promise<BranchServer> {
  const server = await startPostgres();
  const sql = async (database: string, statements: string[]) =>
    (await server.psql(database, { sql: statements.join('; ') })).trim();
  await server.createDatabase('source');
  await sql('source', [
    ...['CREATE ROLE reader', 'CREATE ROLE owner LOGIN'],
    'CREATE TABLE person (id integer PRIMARY KEY, name text NOT NULL)',
    `INSERT INTO person SELECT i, 'person ' || i FROM generate_series(1, 200) i`,
  ]);
  return {
    url: (database) => server.url(database),
    databases: () => server.databases(),
    sql,
    items: [
      'CREATE TABLE item (id integer PRIMARY KEY, name text NOT NULL)',
      'INSERT INTO item SELECT i, md5(i::text) FROM generate_series(1, 20000) i',
    ],
    dump: (database) => server.dump(database),
    async createDestination(name) {
      await server.createDatabase(name);
      await sql('postgres', [
        `ALTER DATABASE "${name}" OWNER TO owner`,
        `ALTER DATABASE "${name}" SET work_mem = '7MB'`,
        `GRANT TEMP ON DATABASE "${name}" TO reader`,
      ]);
    },
    drop: async (name) => {
      await server.psql('postgres', { sql: `DROP DATABASE "${name}" WITH (FORCE)` });
    },
    settings: async (database) =>
      `${await sql(database, ['SHOW work_mem'])} ${await sql(database, [
        'SELECT pg_get_userbyid(datdba), datacl, datallowconn, datconnlimit FROM pg_database WHERE datname = current_database()',
      ])}`,
    settled: async () => {},
    openBase: async (name) => {
      await sql('postgres', [`ALTER DATABASE "${name}" ALLOW_CONNECTIONS true`]);
    },
    stop: () => server.stop(),
  };
}

/** From its DROP TABLE to its UNLOCK TABLES. */
const MARK_IN_DUMP = /DROP TABLE IF EXISTS `tool-mark`;[\s\S]*?LOCK TABLES `tool-mark` WRITE;[\s\S]*?UNLOCK TABLES;\n/;

/** Returns a dump of a branch as that of its snapshot, of which the mark is no part. */
export function withoutMark(dump: string): string {
  return dump.replace(MARK_IN_DUMP, '');
}

async function startMysqlOfBranches(flavour: TestFlavour): Promise<BranchServer> {
  const server = await startMysql(flavour);
  const sql = async (database: string, statements: string[]) => {
    const answer: unknown = await server.sql(database, ...statements);
    const [row] = (Array.isArray(answer) ? answer : []) as Record<string, unknown>[];
    return String(Object.values(row ?? {})[0] ?? '');
  };
  await server.createDatabase('source');
  await sql('source', [
    'CREATE TABLE person (id integer PRIMARY KEY AUTO_INCREMENT, name varchar(40) NOT NULL, boss integer, UNIQUE KEY by_name (name), CONSTRAINT led FOREIGN KEY (boss) REFERENCES person (id) ON DELETE SET NULL)',
    `INSERT INTO person (name) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) SELECT CONCAT('person ', i) FROM n`,
    'CREATE VIEW names AS SELECT name FROM person',
    'CREATE FUNCTION twice(n INT) RETURNS INT DETERMINISTIC RETURN 2 * n',
    "CREATE TRIGGER named BEFORE UPDATE ON person FOR EACH ROW SET NEW.name = CONCAT(NEW.name, '!')",
  ]);
  return {
    url: (database) => server.url(database),
    databases: () => server.databases(),
    sql,
    items: [
      'CREATE TABLE item (id integer PRIMARY KEY, name varchar(40) NOT NULL, KEY by_name (name))',
      'INSERT INTO item SELECT 100 * (a.id - 1) + b.id, LEFT(SHA2(100 * (a.id - 1) + b.id, 256), 32) FROM person a, person b WHERE b.id <= 100',
    ],
    async dump(database) {
      return withoutMark(await server.dump(database));
    },
    createDestination: (name) => server.createDatabase(name),
    drop: async (name) => {
      await server.sql('', `DROP DATABASE \`${name}\``);
    },
    settings: (database) => sql(database, ["SELECT CONCAT(@@character_set_database, ' ', @@collation_database)"]),
    settled: () =>
      eventually(async () => {
        const others =
          'SELECT COUNT(*) AS n FROM information_schema.PROCESSLIST WHERE USER = "root" AND ID <> CONNECTION_ID()';
        return (await sql('', [others])) === '0';
      }),
    openBase: async (name) => {
      // A plan knows the second in which a table was written, by a clock that lags some milliseconds behind NOW; only a reset compares the rows.
      const second = async (lag: number) => {
        const query = `SELECT CAST(FLOOR(UNIX_TIMESTAMP(NOW(6) - INTERVAL ${lag} MICROSECOND)) AS CHAR) AS now`;
        return Number((await server.sql<{ now: string }>('', query))[0]?.now);
      };
      const before = await second(0);
      await eventually(async () => (await second(50_000)) > before);
      await server.sql(name, 'DELETE FROM person WHERE id = 1');
    },
    stop: () => server.stop(),
  };
}
