import pg from 'pg';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { connect } from '../../../../src/engines/postgres/connection/connect.ts';
import { parsePostgresUrl } from '../../../../src/engines/postgres/connection/url.ts';
import { isOfPast, parseEvidence } from '../../../../src/engines/postgres/dump/unchanged/evidence.ts';
import { readTableMaps } from '../../../../src/engines/postgres/dump/unchanged/table-maps.ts';
import {
  describeWithPostgres,
  eventually,
  startPostgres,
  testContext,
} from '../../../helpers/postgres/postgres-server.ts';
import { startStandby } from '../../../helpers/postgres/postgres-standby.ts';
import { type ProvedBuild, provedBuild } from '../../../helpers/postgres/row-evidence.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

/** Some 400 kB in 13 ranges of four blocks. */
const TABLE = `
  CREATE TYPE mood AS ENUM ('glad', 'sad');
  CREATE TYPE inner_part AS (m mood);
  CREATE TYPE part AS (a integer, b inner_part);
  CREATE DOMAIN short AS varchar(20);
  CREATE TABLE item (id integer PRIMARY KEY, m mood, p part, s short, ms mood[], filler text, large text);
  ALTER TABLE item ALTER large SET STORAGE EXTERNAL;
  INSERT INTO item SELECT i, 'glad', ROW(i, ROW('sad')::inner_part)::part, 'x', '{glad}', repeat('x', 40), CASE WHEN i % 100 = 0 THEN repeat('y', 3000) END FROM generate_series(1, 4000) i`;

describeWithPostgres('rows that are proved to be unchanged', () => {
  const server = suiteResource(() =>
    startPostgres({
      synchronous_commit: 'on',
      max_prepared_transactions: '10',
      wal_level: 'replica',
      autovacuum: 'off',
    }),
  );
  const clients: pg.Client[] = [];
  let database = '';
  let count = 0;

  afterEach(async () => {
    for (const client of clients.splice(0)) await client.end().catch(() => {});
  });

  async function fill(statements = TABLE): Promise<void> {
    count += 1;
    database = `app_${count}`;
    await server.createDatabase(database);
    await sql(statements);
  }

  const sql = (statements: string): Promise<string> => server.psql(database, { sql: statements });

  async function connected(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: server.url(database) });
    client.on('error', () => {});
    await client.connect();
    clients.push(client);
    return client;
  }

  const build = (before?: ProvedBuild): Promise<ProvedBuild> =>
    provedBuild(server.url(database), before && { evidence: before.evidence });

  async function first(statements?: string): Promise<ProvedBuild> {
    await fill(statements);
    const built = await build();
    expect(built).toMatchObject({ unchanged: 0, evidence: expect.anything() });
    return built;
  }

  it('are all rows when nothing changes, also after VACUUM FREEZE, ANALYZE, row locks and work elsewhere', async () => {
    let built = await first();
    expect(built.ranges).toBeGreaterThan(10);
    for (const statements of [
      'SELECT 1',
      'VACUUM FREEZE item',
      'ANALYZE',
      'BEGIN; SELECT count(*) FROM (SELECT 1 FROM item FOR UPDATE) l; COMMIT',
      'CREATE TABLE other AS SELECT 1 AS id',
      'CREATE INDEX ON item (filler)',
      'BEGIN; INSERT INTO item SELECT i FROM generate_series(5001, 5003) i; ROLLBACK',
    ]) {
      await sql(statements);
      built = await build(built);
      expect([statements, built.unchanged]).toEqual([statements, built.ranges]);
    }
  });

  it.each([
    ['an insert', 'INSERT INTO item (id) VALUES (9000)'],
    ['an update', 'UPDATE item SET s = $$z$$ WHERE id = 70'],
    ['an update of a large value', `UPDATE item SET large = repeat('z', 3000) WHERE id = 100`],
    ['a deletion', 'DELETE FROM item WHERE id = 70'],
    [
      'a deletion and an insert of another row in its place',
      'DELETE FROM item WHERE id = 70',
      'VACUUM item',
      'INSERT INTO item (id) VALUES (9000)',
    ],
    ['a subtransaction', 'BEGIN; SAVEPOINT a; UPDATE item SET id = -id WHERE id = 70; RELEASE a; COMMIT'],
    [
      'a subtransaction beside one that is rolled back',
      'BEGIN; SAVEPOINT a; DELETE FROM item WHERE id = 71; ROLLBACK TO a; SAVEPOINT b; UPDATE item SET id = -id WHERE id = 70; COMMIT',
    ],
  ])('are those of other ranges after %s', async (_, ...statements) => {
    const before = await first();
    for (const statement of statements) await sql(statement);
    const after = await build(before);
    expect(after.unchanged).toBeGreaterThan(0);
    expect(after.unchanged).toBeLessThan(after.ranges);
  });

  it.each([
    [
      'TRUNCATE and the same rows',
      'CREATE TABLE kept AS SELECT * FROM item; TRUNCATE item; INSERT INTO item SELECT * FROM kept; DROP TABLE kept',
    ],
    ['VACUUM FULL', 'VACUUM FULL item'],
    ['CLUSTER', 'CLUSTER item USING item_pkey'],
    ['the rename of a label', `ALTER TYPE mood RENAME VALUE 'glad' TO 'happy'`],
    ['a new attribute of a composite type', 'ALTER TYPE part ADD ATTRIBUTE c integer'],
    ['a renamed attribute within a composite type', 'ALTER TYPE inner_part RENAME ATTRIBUTE m TO n'],
    ['a new column with a default', `ALTER TABLE item ADD COLUMN more text DEFAULT 'x'`],
    ['a column without its type modifier', 'ALTER TABLE item ALTER s TYPE varchar'],
    ['a row security policy', 'ALTER TABLE item ENABLE ROW LEVEL SECURITY'],
  ])('are none after %s', async (_, statements) => {
    const before = await first();
    for (const statement of statements.split('; ')) await sql(statement);
    expect((await build(before)).unchanged).toBe(0);
  });

  it('are none when a default is replaced by another column of the same name', async () => {
    const before = await first();
    await sql(`ALTER TABLE item ADD COLUMN more text DEFAULT 'x'`);
    const middle = await build(before);
    await sql(`ALTER TABLE item DROP COLUMN more; ALTER TABLE item ADD COLUMN more text DEFAULT 'y'`);
    expect((await build(middle)).unchanged).toBe(0);
  });

  it('are none when a label is renamed while the rows are read, and back afterwards', async () => {
    await fill();
    const url = server.url(database);
    const built = await provedBuild(url, { meanwhile: () => sql(`ALTER TYPE mood RENAME VALUE 'glad' TO 'happy'`) });
    await sql(`ALTER TYPE mood RENAME VALUE 'happy' TO 'glad'`);
    expect((await build(built)).unchanged).toBe(0);
  });

  it.each(['COMMIT', 'ROLLBACK'])('are not those of a transaction that was open, at its %s', async (end) => {
    await fill();
    const other = await connected();
    await other.query('BEGIN; DELETE FROM item WHERE id = 2000; UPDATE item SET s = $$z$$ WHERE id = 70');
    const before = await build();
    await other.query(end);
    const after = await build(before);
    if (end === 'ROLLBACK') expect(after.unchanged).toBe(after.ranges);
    else expect(after.unchanged).toBeLessThan(after.ranges - 1);
  });

  it('are not those of a transaction that was open while another one, which began later, committed', async () => {
    await fill();
    const other = await connected();
    await other.query(`BEGIN; INSERT INTO item (id) VALUES (9000)`);
    await sql('DELETE FROM item WHERE id = 1; INSERT INTO item (id) VALUES (9001)');
    const before = await build();
    // As many rows as before.
    await other.query('DELETE FROM item WHERE id = 9001; COMMIT');
    const after = await build(before);
    expect(after.unchanged).toBeLessThan(after.ranges);
  });

  it.each(['COMMIT', 'ROLLBACK'])('are not those of a prepared transaction, at its %s', async (end) => {
    await fill();
    await sql(
      `BEGIN; DELETE FROM item WHERE id = 70; INSERT INTO item (id) VALUES (9000); PREPARE TRANSACTION 'p${count}'`,
    );
    const before = await build();
    await sql(`${end} PREPARED 'p${count}'`);
    const after = await build(before);
    expect(after.unchanged < after.ranges).toBe(end === 'COMMIT');
  });

  it('are those of a table that shrinks and grows', async () => {
    const before = await first();
    await sql('DELETE FROM item WHERE id > 3000');
    await sql('VACUUM item');
    const shrunk = await build(before);
    expect(shrunk.ranges).toBeLessThan(before.ranges);
    expect(shrunk.unchanged).toBe(shrunk.ranges - 1);
    await sql(`INSERT INTO item (id, filler) SELECT i, repeat('z', 40) FROM generate_series(10000, 14000) i`);
    const grown = await build(shrunk);
    expect(grown.unchanged).toBe(shrunk.ranges - 1);
    expect(grown.ranges).toBeGreaterThan(shrunk.ranges);
  });

  it('are not those of a wider range with as many rows', async () => {
    await fill(`CREATE TABLE even AS SELECT i AS id, repeat('x', 40) AS filler FROM generate_series(1, 4000) i`);
    const before = await provedBuild(server.url(database), { width: 2 });
    await sql(`DELETE FROM even WHERE ctid < '(2,0)'`);
    const after = await provedBuild(server.url(database), { evidence: before.evidence, width: 4 });
    // The last ranges may have the same borders.
    expect(after.unchanged).toBeLessThan(2);
  });

  it.each([
    ['regclass', `'item'::regclass`],
    ['money', `1::money`],
    ['an array of regtype', `ARRAY['integer'::regtype]`],
    ['aclitem', `'postgres=r/postgres'::aclitem`],
  ])('are none of a table with %s', async (_, value) => {
    await fill(
      `${TABLE}; CREATE TABLE named AS SELECT i, repeat('x', 40) AS filler, ${value} AS value FROM generate_series(1, 4000) i`,
    );
    const before = await build();
    const after = await build(before);
    expect(after.reading).toMatchObject({ read: ['public.named'], unchanged: ['public.item'] });
  });

  it('are none of tables of other storage', async () => {
    await fill(
      `CREATE UNLOGGED TABLE loose AS SELECT i, repeat('x', 40) AS filler FROM generate_series(1, 4000) i; ${TABLE}`,
    );
    expect((await build(await build())).reading.read).toEqual(['public.loose']);
  });

  it('are none in a copy of the database', async () => {
    const before = await first();
    await server.psql('postgres', { sql: `CREATE DATABASE ${database}_copy TEMPLATE ${database}` });
    const copy = await provedBuild(server.url(`${database}_copy`), { evidence: before.evidence });
    expect(copy).toMatchObject({ unchanged: 0, reading: { refused: 'history' } });
  });

  it('are none in another database of the same oid', async () => {
    await fill();
    if (Number((await sql('SHOW server_version_num')).trim()) < 150_000) return;
    // The same ids of its tables, as in a copy of a template that was changed.
    const oid = 90_000 + count;
    const create = `CREATE DATABASE replaced TEMPLATE ${database} OID ${oid}`;
    await server.psql('postgres', { sql: create });
    const url = server.url('replaced');
    const before = await provedBuild(url);
    expect((await provedBuild(url, { evidence: before.evidence })).unchanged).toBe(before.ranges);
    await sql('SELECT 1');
    await server.psql('postgres', { sql: 'DROP DATABASE replaced' });
    await server.psql('postgres', { sql: create });
    const after = await provedBuild(url, { evidence: before.evidence });
    expect(after).toMatchObject({ unchanged: 0, reading: { refused: 'history' } });
  });

  it('are all rows while settings of the database change, and its row in the catalog is vacuumed', async () => {
    const before = await first();
    await sql(`ALTER DATABASE ${database} SET work_mem = '8MB'`);
    for (const how of ['', 'FREEZE', 'FULL']) await sql(`VACUUM ${how} pg_database`);
    await sql('VACUUM FREEZE');
    const after = await build(before);
    expect(after.unchanged).toBe(after.ranges);
  });

  it('are none for another user, who may see masked values', async () => {
    const before = await first();
    await sql(`CREATE ROLE reader_${count} SUPERUSER LOGIN PASSWORD 'reader'`);
    const url = new URL(server.url(database));
    url.username = `reader_${count}`;
    url.password = 'reader';
    const after = await provedBuild(url.href, { evidence: before.evidence });
    expect(after).toMatchObject({ unchanged: 0, reading: { refused: 'history' } });
    const again = await provedBuild(url.href, { evidence: after.evidence });
    expect(again.unchanged).toBe(again.ranges);
    await sql(`
      INSERT INTO pg_shseclabel (objoid, classoid, provider, label)
      VALUES ('reader_${count}'::regrole, 'pg_authid'::regclass, 'masks', 'MASKED')`);
    const masked = await provedBuild(url.href, { evidence: again.evidence });
    expect(masked).toMatchObject({ unchanged: 0, reading: { refused: 'history' } });
  });

  it('are none of a table whose column gets a security label', async () => {
    const before = await first();
    await sql(`
      INSERT INTO pg_seclabel (objoid, classoid, objsubid, provider, label)
      VALUES ('item'::regclass, 'pg_class'::regclass, 4, 'masks', 'MASKED WITH VALUE $$***$$')`);
    expect((await build(before)).unchanged).toBe(0);
  });

  it.each(['anon', 'pg_columnmask'])('are none, and nothing is recorded, with extension %s', async (extension) => {
    const before = await first();
    await sql(`
      INSERT INTO pg_extension SELECT 90000, '${extension}', extowner, extnamespace, false, '1', NULL, NULL
      FROM pg_extension WHERE extname = 'plpgsql'`);
    expect(await build(before)).toMatchObject({ unchanged: 0, evidence: null, reading: { refused: 'unprovable' } });
  });

  it('are none after 2^30 transactions, in another version, on another server, or by damaged evidence', async () => {
    const { evidence } = await first();
    const good = evidence as { xmin: string; history: object; tables: object[] };
    const of = async (changed: unknown) => {
      const { unchanged, reading } = await provedBuild(server.url(database), { evidence: changed });
      return [unchanged > 0, reading.refused];
    };
    expect(await of(good)).toEqual([true, null]);
    const refused = [false, 'history'];
    expect(await of({ ...good, xmin: String(BigInt(good.xmin) + 2n ** 32n) })).toEqual(refused);
    const parsed = parseEvidence(good);
    if (!parsed) throw new Error('the evidence is damaged');
    const after = (transactions: bigint): boolean => {
      const xmax = String(BigInt(parsed.xmin) + transactions);
      return isOfPast(parsed, { history: parsed.history, xmin: xmax, xmax });
    };
    expect([after(0n), after(2n ** 30n - 1n), after(2n ** 30n), after(2n ** 32n + 5n)]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(await of({ ...good, program: '0.0.0' })).toEqual(refused);
    for (const history of [
      { system: '1' },
      { timeline: '00000002' },
      { started: '1.5' },
      { reset: '1.5' },
      { database: 1 },
      { created: '1' },
      { reader: '0'.repeat(64) },
    ]) {
      expect(await of({ ...good, history: { ...good.history, ...history } })).toEqual(refused);
    }
    for (const damaged of [{ ...good, xmin: '-1' }, { ...good, more: 1 }, { ...good, tables: [{}] }, 'text', []]) {
      expect(await of(damaged)).toEqual(refused);
    }
  });

  it('are none when a crash has undone a commit that was not flushed', async () => {
    const lazy = await startPostgres({ synchronous_commit: 'off', wal_writer_delay: '10s', autovacuum: 'off' });
    onTestFinished(lazy.stop);
    await lazy.createDatabase('app');
    const run = (statements: string): Promise<string> => lazy.psql('app', { sql: statements });
    await run(`${TABLE}; SET synchronous_commit = on; CREATE TABLE other (); CHECKPOINT`);
    await run(`UPDATE item SET s = 'lost' WHERE id = 70`);
    const before = await provedBuild(lazy.url('app'));
    const victim = new pg.Client({ connectionString: lazy.url('app') });
    victim.on('error', () => {});
    await victim.connect();
    const { rows } = await victim.query('SELECT pg_backend_pid() AS pid');
    process.kill(rows[0].pid, 'SIGKILL');
    await eventually(async () => (await run('SELECT count(*) FROM item').catch(() => '')).trim() === '4000');
    expect((await run('SELECT s FROM item WHERE id = 70')).trim()).toBe('x');
    await run(`UPDATE item SET s = 'found' WHERE id = 70`);
    const after = await provedBuild(lazy.url('app'), { evidence: before.evidence });
    expect(after).toMatchObject({ unchanged: 0, reading: { refused: 'history' } });
  });

  it('are found without visibility maps while a session keeps a table locked', async () => {
    await fill();
    const client = await connected();
    await client.query('BEGIN');
    await client.query('LOCK TABLE item IN ACCESS EXCLUSIVE MODE');
    await using session = await connect(testContext({ settings: {} }), parsePostgresUrl(server.url(database)));
    expect((await readTableMaps(session)).size).toBe(0);
    await client.query('ROLLBACK');
    expect((await readTableMaps(session)).size).toBe(1);
  });

  it('are none on a standby, nor after its promotion', async () => {
    const before = await first();
    const standby = await startStandby(server, { max_prepared_transactions: '10' });
    try {
      const url = standby.url(database);
      await eventually(async () => (await provedBuild(url)).reading !== null);
      const read = await provedBuild(url, { evidence: before.evidence });
      expect(read).toMatchObject({ unchanged: 0, evidence: null, reading: { refused: 'unprovable' } });
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query('SELECT pg_promote()');
      await client.end();
      const promoted = await provedBuild(url, { evidence: before.evidence });
      expect(promoted).toMatchObject({ unchanged: 0, reading: { refused: 'history' }, evidence: expect.anything() });
      const again = await provedBuild(url, { evidence: promoted.evidence });
      expect(again.unchanged).toBe(again.ranges);
    } finally {
      await standby.stop();
    }
  }, 60_000);
});
