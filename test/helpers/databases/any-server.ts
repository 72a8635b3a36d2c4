import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chown, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { openSession } from '../../../src/engines/mysql/connection/session.ts';
import { parseMysqlUrl } from '../../../src/engines/mysql/connection/url.ts';
import { unprivilegedUser } from '../../../src/engines/shared/server/unprivileged-user.ts';
import { type Setup, startMysql, type TestFlavour, testedFlavours } from '../mysql/mysql-server.ts';
import { eventually, startPostgres, temporaryFolder } from '../postgres/postgres-server.ts';
import { noteServer } from '../trials.ts';
import { withoutMark } from './branch-servers.ts';
import { normalized } from './build-and-load.ts';

const run = promisify(execFile);

export const SERVER_KINDS = ['postgres', 'mariadb', 'mysql'] as const;
export type ServerKind = (typeof SERVER_KINDS)[number];

/** Returns the kinds of servers of a suite: PostgreSQL and one flavour in `npm test`, all in `npm run test:full`. */
export function testedKinds(flavour: TestFlavour): ServerKind[] {
  return ['postgres', ...testedFlavours(flavour)];
}

/** A server of any kind, for what has to hold on all of them. */
export interface AnyServer {
  kind: ServerKind;
  url(database: string): string;
  /** What comes before a table's name in the configuration. */
  prefix(database: string): string;
  create(database: string): Promise<void>;
  drop(database: string): Promise<void>;
  /** A new user with every right; the result is its name. */
  user(name: string, password: string): Promise<string>;
  /** Without those of the server. */
  databases(): Promise<string[]>;
  run(database: string, statements: string[]): Promise<void>;
  /** A session of its own for statements one by one, for as long as the work takes. */
  writer(database: string, work: (execute: (statement: string) => Promise<unknown>) => Promise<void>): Promise<void>;
  /** The first column of the rows of a query. */
  column(database: string, query: string): Promise<string[]>;
  /** Of the content of a table, whose columns the server converts and hashes. */
  checksum(database: string, table: string): Promise<string>;
  /** By the server's own dump program. */
  dump(database: string): Promise<string>;
  /** The same with the program's own defaults; MySQL with routines and events. */
  plainDump(database: string): Promise<string | Buffer>;
  /** The dump in an order of its own: where a server puts rows in a file is not content. */
  content(database: string): Promise<string>;
  /** Of its tables alone. MySQL: what belongs to them is made after them, by the next run when this one is killed. */
  tables(database: string): Promise<string>;
  /**
   * PostgreSQL: new databases are made in a folder, as a tablespace. Others have them where they started; their own
   * files, copied with holes, get their whole size there: such a server ends when it cannot write them.
   */
  keepDatabasesIn(folder: string): Promise<void>;
  /** Waits until the server has ended what killed clients had sent. */
  quiet(): Promise<void>;
  /** Kills one of its sessions; false when there is none. */
  killSession(pick: (count: number) => number): Promise<boolean>;
  /** Ends as by SIGKILL, and starts again; all that was committed is on its disk. */
  crash(): Promise<void>;
  stop(): Promise<void>;
}

export async function startAnyServer(kind: ServerKind, setup: Setup = 'lean'): Promise<AnyServer> {
  const server = kind === 'postgres' ? await anyPostgres() : await anyMysql(kind, setup);
  const [version = ''] = await server.column('', 'SELECT version()');
  noteServer(
    kind === 'postgres'
      ? version.split(' ').slice(0, 2).join(' ')
      : `${kind === 'mysql' ? 'MySQL' : 'MariaDB'} ${version.split('-')[0]}`,
  );
  return server;
}

async function anyPostgres(): Promise<AnyServer> {
  const server = await startPostgres({ synchronous_commit: 'on', full_page_writes: 'on' });
  const at = (database: string): string => database || 'postgres';
  const lines = async (database: string, sql: string): Promise<string[]> =>
    (await server.psql(at(database), { sql })).split('\n').slice(0, -1);
  const contentOf = async (database: string): Promise<string> => normalized(await server.dump(database)).join(';\n');
  const others = `SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() ORDER BY 1`;
  return {
    kind: 'postgres',
    url: server.url,
    prefix: () => 'public',
    create: server.createDatabase,
    drop: async (database) => void (await server.psql('postgres', { sql: `DROP DATABASE "${database}" WITH (FORCE)` })),
    async user(name, password) {
      const text = password.replaceAll("'", "''");
      await server.psql('postgres', { sql: `CREATE ROLE ${name} SUPERUSER LOGIN PASSWORD '${text}'` });
      return name;
    },
    databases: async () => (await server.databases()).filter((name) => name !== 'postgres'),
    async run(database, statements) {
      // By a file: an argument has not so much room.
      await using folder = await temporaryFolder();
      const file = join(folder.path, 'statements.sql');
      await writeFile(file, `${statements.join(';\n')};`);
      await server.psql(at(database), { file });
    },
    async writer(database, work) {
      const client = new pg.Client({ connectionString: server.url(database) });
      await client.connect();
      try {
        await work((statement) => client.query(statement));
      } finally {
        await client.end();
      }
    },
    column: lines,
    async checksum(database, table) {
      const text = `string_agg(t::text, chr(10) ORDER BY t::text COLLATE "C")`;
      const [sum = ''] = await lines(database, `SELECT count(*) || ' ' || coalesce(md5(${text}), '') FROM ${table} t`);
      return sum;
    },
    dump: (database) => server.dump(database),
    plainDump: (database) => server.dump(database),
    content: contentOf,
    tables: contentOf,
    async keepDatabasesIn(folder) {
      const place = join(folder, 'databases');
      await mkdir(place);
      const user = await unprivilegedUser('postgres');
      if (user) await chown(place, user.uid, user.gid);
      await lines('', `CREATE TABLESPACE small LOCATION '${place}'`);
      for (const template of ['template0', 'template1']) {
        await lines('', `ALTER DATABASE ${template} SET TABLESPACE small`);
      }
    },
    quiet: () => eventually(async () => (await lines('', others)).length === 0, { deadline: 60_000 }),
    async killSession(pick) {
      const pids = await lines('', others);
      if (pids.length === 0) return false;
      await lines('', `SELECT pg_terminate_backend(${Number(pids[pick(pids.length)])})`);
      return true;
    },
    async crash() {
      const [writer] = await lines('', `SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'`);
      // The server ends all sessions and recovers, as after its own SIGKILL.
      if (writer) process.kill(Number(writer), 'SIGKILL');
      const isUp = () =>
        lines('', `SELECT 1 FROM pg_stat_activity WHERE backend_type = 'walwriter' AND pid <> ${Number(writer)}`).then(
          (rows) => rows.length === 1,
          () => false,
        );
      await eventually(isUp, { deadline: 60_000 });
    },
    stop: server.stop,
  };
}

async function anyMysql(kind: 'mariadb' | 'mysql', setup: Setup): Promise<AnyServer> {
  // Commits are written to the file at once, so that they outlive the process.
  const server = await startMysql(kind, ['--innodb-flush-log-at-trx-commit=2'], setup);
  const column: AnyServer['column'] = async (database, query) =>
    (await server.sql(database, query)).map((row) => String(Object.values(row)[0]));
  const others =
    "SELECT ID FROM information_schema.PROCESSLIST WHERE USER = 'root' AND ID <> CONNECTION_ID() ORDER BY 1";
  return {
    kind,
    url: (database) => server.url(database),
    prefix: (database) => database,
    create: server.createDatabase,
    drop: async (database) => void (await server.sql('', `DROP DATABASE \`${database}\``)),
    async user(name, password) {
      const text = password.replaceAll('\\', '\\\\').replaceAll("'", "''");
      await server.sql(
        '',
        `CREATE USER ${name}@'%' IDENTIFIED BY '${text}'`,
        `GRANT ALL ON *.* TO ${name}@'%' WITH GRANT OPTION`,
      );
      return name;
    },
    databases: server.databases,
    run: async (database, statements) => void (await server.sql(database, ...statements)),
    async writer(database, work) {
      await using session = await openSession({ url: parseMysqlUrl(server.url(database)) });
      await work((statement) => session.execute(statement === 'BEGIN' ? 'START TRANSACTION' : statement));
    },
    column,
    async checksum(database, table) {
      // CHECKSUM TABLE of MariaDB differs between two copies of the same rows that the server has made itself.
      const columns = await column(
        '',
        `SELECT IF(DATA_TYPE = 'float', CONCAT(COLUMN_NAME, ' + 0e0'), COLUMN_NAME) FROM information_schema.COLUMNS
          WHERE TABLE_SCHEMA = '${database}' AND TABLE_NAME = '${table}' ORDER BY ORDINAL_POSITION`,
      );
      const values = columns.map((name) => `IFNULL(HEX(CAST(${name} AS BINARY)), '-')`).join(', ');
      const rows = await column(database, `SELECT SHA2(CONCAT_WS(',', ${values}), 256) FROM ${table}`);
      return createHash('sha256').update(rows.sort().join()).digest('hex');
    },
    dump: (database) => server.dump(database),
    plainDump: (database) => server.plainDump(database),
    content: async (database) => normalized(withoutMark(await server.dump(database))).join(';\n'),
    async tables(database) {
      const named = `SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = '${database}' AND TABLE_TYPE = 'BASE TABLE' ORDER BY 1`;
      const facts: unknown[] = [];
      for (const name of await column('', named)) {
        facts.push(await server.sql(database, `SHOW CREATE TABLE \`${name}\``));
        facts.push(await server.sql(database, `CHECKSUM TABLE \`${name}\``));
      }
      return JSON.stringify(facts);
    },
    async keepDatabasesIn(folder) {
      for (const { name, parentPath } of await readdir(folder, { recursive: true, withFileTypes: true })) {
        const file = join(parentPath, name);
        // Temporary ones go meanwhile.
        const stats = await stat(file).catch(() => null);
        if (stats?.isFile() && stats.size > 0) await run('fallocate', ['--length', `${stats.size}`, file]);
      }
    },
    quiet: () =>
      eventually(async () => (await column('', others)).length === 0, { deadline: 60_000 }).catch(async (error) => {
        throw new Error(JSON.stringify(await server.sql('', 'SHOW FULL PROCESSLIST')), { cause: error });
      }),
    async killSession(pick) {
      const ids = await column('', others);
      if (ids.length === 0) return false;
      // One that has ended meanwhile.
      await server.sql('', `KILL ${Number(ids[pick(ids.length)])}`).catch(() => {});
      return true;
    },
    crash: server.crash,
    stop: server.stop,
  };
}
