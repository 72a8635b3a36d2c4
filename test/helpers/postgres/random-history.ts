import pg from 'pg';
import type { Round } from '../trials.ts';
import { eventually, type TestPostgres } from './postgres-server.ts';
import { provedBuild } from './row-evidence.ts';

/** Tables, partitions and types, for random work. */
export const SCHEMA = `
  CREATE TYPE mood AS ENUM ('glad', 'sad', 'calm');
  CREATE TYPE part AS (a integer, m mood);
  CREATE DOMAIN short AS varchar(30);
  CREATE TABLE plain (id integer, word text, n bigint DEFAULT 0);
  INSERT INTO plain SELECT i, repeat('w', 70), i FROM generate_series(1, 6000) i;
  CREATE TABLE large (id integer, value text, word text) WITH (fillfactor = 60);
  ALTER TABLE large ALTER value SET STORAGE EXTERNAL;
  INSERT INTO large SELECT i, CASE WHEN i % 40 = 0 THEN repeat('v', 2500) END, repeat('w', 60) FROM generate_series(1, 1500) i;
  CREATE TABLE typed (id integer, m mood, p part, s short, ms mood[], word text);
  INSERT INTO typed SELECT i, 'glad', ROW(i, 'sad')::part, 'x', '{calm}', repeat('w', 40) FROM generate_series(1, 2000) i;
  CREATE TABLE whole (id integer, word text, n bigint) PARTITION BY RANGE (id);
  CREATE TABLE low PARTITION OF whole FOR VALUES FROM (MINVALUE) TO (2000);
  CREATE TABLE high PARTITION OF whole FOR VALUES FROM (2000) TO (MAXVALUE);
  INSERT INTO whole SELECT i, repeat('w', 60), i FROM generate_series(1, 4000) i`;

const TABLES = ['plain', 'large', 'typed', 'low', 'high'];

export interface History {
  server: TestPostgres;
  database: string;
  round: Pick<Round, 'number' | 'random' | 'oneOf'>;
}

/** Random work in a database of `SCHEMA`. */
export interface RandomWork {
  /** A change in a session that others may wait for, which may stay open. */
  act(): Promise<void>;
  change(): Promise<void>;
  /** Of its own; what another session's lock prevents does not happen. */
  run(...statements: string[]): Promise<void>;
  /** Ends all sessions and transactions. */
  settle(): Promise<void>;
  crash(): Promise<void>;
  end(): Promise<void>;
}

/** `isLazy`: commits are not waited for. `definitions`: the share of changes of definitions, and of files of tables. */
export async function startWork(
  { server, database, round }: History,
  { isLazy = false, definitions = 0.15 } = {},
): Promise<RandomWork> {
  const url = server.url(database);
  let own = await connected(url, isLazy);
  const open: pg.Client[] = [];
  const prepared = new Set<string>();
  const { random, oneOf } = round;
  const whole = (below: number): number => Math.floor(random() * below);
  const table = (): string => oneOf(TABLES);
  const some = (): string => {
    const from = whole(4200);
    return `id BETWEEN ${from} AND ${from + whole(oneOf([2, 2, 30, 2000]))}`;
  };
  let names = 0;

  /** What another session's lock prevents does not happen. */
  const run = async (client: pg.Client, ...statements: string[]): Promise<void> => {
    for (const statement of statements) {
      const done = await client.query(statement).then(
        () => true,
        () => false,
      );
      if (!done) {
        await client.query('ROLLBACK').catch(() => {});
        return;
      }
    }
  };

  const change = (): string =>
    oneOf([
      () =>
        `INSERT INTO ${table()} (id, word) SELECT i, repeat(chr(97 + i % 26), 40) FROM generate_series(1, ${oneOf([1, 5, 300])}) i`,
      () => `UPDATE ${table()} SET word = 'u${whole(99)}' || repeat('u', 30) WHERE ${some()}`,
      () => `UPDATE ${table()} SET word = word WHERE ${some()}`,
      () => `DELETE FROM ${table()} WHERE ${some()}`,
      () => `UPDATE large SET value = repeat('${oneOf(['a', 'b'])}', 2500) WHERE ${some()}`,
      () => `UPDATE typed SET m = '${oneOf(['1', '2'])}'::text::mood WHERE ${some()}`,
      () => `UPDATE typed SET p = ROW(${whole(9)}, NULL)::part WHERE ${some()}`,
      () => `SELECT count(*) FROM (SELECT 1 FROM ${table()} WHERE ${some()} FOR UPDATE) l`,
      () => `WITH gone AS (DELETE FROM plain WHERE ${some()} RETURNING *) INSERT INTO plain SELECT * FROM gone`,
      () => `UPDATE whole SET id = id + 1 WHERE ${some()}`,
    ])();

  const definition = (): string[] =>
    oneOf([
      () => [`VACUUM ${table()}`],
      () => [`VACUUM FREEZE ${table()}`],
      () => [`VACUUM FULL ${table()}`],
      () => [`TRUNCATE ${table()}`, change()],
      () => {
        const name = table();
        return [
          'BEGIN',
          `CREATE TEMP TABLE kept ON COMMIT DROP AS SELECT * FROM ${name}`,
          `TRUNCATE ${name}`,
          `INSERT INTO ${name} SELECT * FROM kept`,
          'COMMIT',
        ];
      },
      () => [`ALTER TYPE mood RENAME VALUE 'glad' TO 'other'`],
      () => [`ALTER TYPE mood RENAME VALUE 'other' TO 'glad'`],
      () => [`ALTER TYPE part ADD ATTRIBUTE x${names++} integer`],
      () => [`ALTER TABLE ${oneOf(['plain', 'large', 'typed'])} ADD COLUMN c${names++} text DEFAULT 'd${whole(9)}'`],
      () => [
        `ALTER TABLE plain DROP COLUMN IF EXISTS more`,
        `ALTER TABLE plain ADD COLUMN more text DEFAULT 'd${whole(9)}'`,
      ],
      () => [`ALTER TABLE typed ALTER s TYPE varchar(${30 + names++})`],
      () => [`ALTER TABLE plain RENAME COLUMN n TO n${names++}`],
      () => [`CREATE INDEX ON ${table()} (id)`],
      () => [`ANALYZE`],
      () => [
        'ALTER TABLE whole DETACH PARTITION high',
        'ALTER TABLE whole ATTACH PARTITION high FOR VALUES FROM (2000) TO (MAXVALUE)',
      ],
      () => [`CREATE TABLE again AS SELECT * FROM plain`, 'DROP TABLE plain', 'ALTER TABLE again RENAME TO plain'],
      () => [`ALTER TABLE large SET ${oneOf(['UNLOGGED', 'LOGGED'])}`],
    ])();

  async function act(): Promise<void> {
    if (random() < definitions) return run(own, ...definition());
    const kind = random() * 0.85;
    if (kind < 0.35) await run(own, change());
    else if (kind < 0.45) await run(own, 'BEGIN', change(), change(), oneOf(['COMMIT', 'ROLLBACK']));
    else if (kind < 0.58) {
      const savepoints = ['a', 'b', 'c'].flatMap((name) => [
        `SAVEPOINT ${name}`,
        change(),
        oneOf([`RELEASE ${name}`, `ROLLBACK TO ${name}`]),
      ]);
      await run(own, 'BEGIN', ...savepoints, oneOf(['COMMIT', 'COMMIT', 'ROLLBACK']));
    } else if (kind < 0.66 && open.length < 3) {
      const client = await connected(url);
      await run(client, 'BEGIN', change(), ...(random() < 0.5 ? ['SAVEPOINT a', change()] : []));
      open.push(client);
    } else if (kind < 0.76) {
      const client = open.splice(whole(open.length), 1)[0];
      if (client) await run(client, change(), oneOf(['COMMIT', 'COMMIT', 'ROLLBACK']));
      await client?.end();
    } else if (kind < 0.8) {
      const name = `${database}_${names++}`;
      await run(own, 'BEGIN', change(), `PREPARE TRANSACTION '${name}'`);
      prepared.add(name);
    } else {
      for (const name of [...prepared].slice(0, 1)) {
        await run(own, `${oneOf(['COMMIT', 'ROLLBACK'])} PREPARED '${name}'`);
        prepared.delete(name);
      }
    }
  }

  return {
    act,
    change: () => run(own, change()),
    run: (...statements) => run(own, ...statements),
    async settle() {
      for (const name of prepared) await own.query(`ROLLBACK PREPARED '${name}'`).catch(() => {});
      prepared.clear();
      for (const client of [own, ...open.splice(0)]) await client.end().catch(() => {});
      own = await connected(url, isLazy);
    },
    async crash() {
      await own.query(change()).catch(() => {});
      await crash(server);
      open.length = 0;
      await own.end().catch(() => {});
      own = await connected(url, isLazy);
    },
    async end() {
      for (const name of prepared) await own.query(`ROLLBACK PREPARED '${name}'`).catch(() => {});
      for (const client of [own, ...open]) await client.end().catch(() => {});
    },
  };
}

/** Random work of several sessions between builds, of which each is compared with a full read. */
export async function tryHistory({ server, database, round }: History): Promise<{ ranges: number; unchanged: number }> {
  await server.createDatabase(database);
  await server.psql(database, { sql: SCHEMA });
  const url = server.url(database);
  const isCrashing = round.number % 20 === 19;
  const work = await startWork({ server, database, round }, { isLazy: isCrashing });
  const { random, oneOf } = round;
  const whole = (below: number): number => Math.floor(random() * below);
  let [ranges, unchanged] = [0, 0];
  let evidence: unknown = null;
  try {
    const builds = 3 + whole(4);
    for (let number = 0; number < builds; number += 1) {
      const isBeside = random() < 0.3;
      // Sets the bits of visibility maps.
      if (random() < 0.5) await work.run('VACUUM');
      const built = await provedBuild(url, {
        evidence,
        width: oneOf([2, 4, 16]),
        meanwhile: isBeside ? () => work.change().then(work.change) : undefined,
      });
      ranges += built.ranges;
      unchanged += built.unchanged;
      // A build that records nothing leaves the earlier evidence, which stays true.
      evidence = built.evidence ?? evidence;
      for (let acts = whole(oneOf([2, 6, 14])); acts > 0; acts -= 1) await work.act();
      if (isCrashing && random() < 0.5) await work.crash();
    }
    return { ranges, unchanged };
  } finally {
    await work.end();
    await server.psql('postgres', { sql: `DROP DATABASE IF EXISTS ${database} WITH (FORCE)` });
  }
}

async function connected(url: string, isLazy = false): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  await client.query(`SET lock_timeout = '100ms'; SET synchronous_commit = ${isLazy ? 'off' : 'on'}`);
  return client;
}

/** Kills a session: the server ends all others, and recovers from its WAL. */
async function crash(server: TestPostgres): Promise<void> {
  const pid = (await server.psql('postgres', { sql: PID_OF_LAUNCHER })).trim();
  process.kill(Number(pid), 'SIGKILL');
  await eventually(async () => {
    const answer = await server.psql('postgres', { sql: PID_OF_LAUNCHER }).catch(() => '');
    return answer.trim() !== '' && answer.trim() !== pid;
  });
}

const PID_OF_LAUNCHER = `SELECT pid FROM pg_stat_activity WHERE backend_type = 'logical replication launcher'`;
