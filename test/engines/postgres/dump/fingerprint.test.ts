import { beforeAll, expect, it } from 'vitest';
import { isUnchanged, readFingerprint } from '../../../../src/engines/postgres/dump/unchanged/fingerprint.ts';
import { parseUrl } from '../../../../src/engines/registry.ts';
import { describeWithPostgres, startPostgres, testContext } from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

describeWithPostgres('the fingerprint of a database', () => {
  const server = suiteResource(() => startPostgres());
  const context = testContext({ settings: {} });
  const url = (database = 'app') => parseUrl(server.url(database));
  const run = (sql: string) => server.psql('app', { sql });
  const unchanged = (fingerprint: unknown, database?: string) =>
    isUnchanged(context, { url: url(database), fingerprints: [null, fingerprint] });

  beforeAll(async () => {
    await server.createDatabase('app');
    await run(`
      CREATE TABLE item (id int PRIMARY KEY, name text);
      INSERT INTO item SELECT n, 'name ' || n FROM generate_series(1, 1000) n;
      CREATE SEQUENCE counter;
      CREATE TYPE mood AS ENUM ('sad', 'happy');
      CREATE VIEW names AS SELECT name FROM item;
      CREATE FUNCTION one() RETURNS int LANGUAGE sql AS 'SELECT 1';
      SELECT lo_from_bytea(4711, 'large');`);
  }, 60_000);
  it.each([
    "UPDATE item SET name = 'other' WHERE id = 1",
    'DELETE FROM item WHERE id = 2',
    "BEGIN; SAVEPOINT a; INSERT INTO item VALUES (2, 'again'); RELEASE a; COMMIT",
    "SELECT nextval('counter')",
    "SELECT setval('counter', 1, false)",
    "ALTER TYPE mood RENAME VALUE 'sad' TO 'blue'",
    'CREATE OR REPLACE VIEW names AS SELECT upper(name) AS name FROM item',
    "CREATE OR REPLACE FUNCTION one() RETURNS int LANGUAGE sql AS 'SELECT 2'",
    "COMMENT ON TABLE item IS 'changed'",
    'GRANT SELECT ON item TO pg_monitor',
    "SELECT lo_put(4711, 0, 'LARGE')",
    'CREATE TABLE more (id int)',
    'DROP TABLE more',
    'CREATE INDEX item_name ON item (name)',
    'DROP INDEX item_name',
    'VACUUM FULL item',
    'TRUNCATE item',
  ])('differs after %s', async (sql) => {
    const before = await readFingerprint(context, url());
    expect(await unchanged(before)).toBe(true);
    await run(sql);
    expect(await unchanged(before)).toBe(false);
    expect(await unchanged(await readFingerprint(context, url()))).toBe(true);
  });

  it('stays with statistics, vacuums, rolled-back changes and another name, and is of one database', async () => {
    const before = await readFingerprint(context, url());
    await run('VACUUM FREEZE ANALYZE');
    await run("BEGIN; INSERT INTO item VALUES (5000, 'never'); ROLLBACK");
    expect(await unchanged(before)).toBe(true);
    await server.psql('postgres', { sql: 'ALTER DATABASE app RENAME TO renamed' });
    await server.psql('postgres', { sql: 'CREATE DATABASE app TEMPLATE renamed' });
    expect(await unchanged(before, 'renamed')).toBe(true);
    expect(await unchanged(before, 'app')).toBe(false);
    await server.psql('renamed', { sql: 'CREATE UNLOGGED TABLE fleeting (id int)' });
    expect(await readFingerprint(context, url('renamed'))).toBeNull();
  });
});
