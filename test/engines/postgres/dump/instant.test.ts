import { join } from 'node:path';
import pg from 'pg';
import { expect, it } from 'vitest';
import { build } from '../../../../src/operations/build/build.ts';
import {
  describeWithPostgres,
  eventually,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

const schema_config = { include_schemas: ['public', 'archive'] };

describeWithPostgres('the instant of a build', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());

  /** Builds while a transaction holds its locks; it commits when the build waits for one of them. */
  async function buildBeside(database: string, statements: string): Promise<{ tables: number; rows: number }> {
    await server.createDatabase(database);
    await server.psql(database, {
      sql: `CREATE TABLE orders AS SELECT i AS id FROM generate_series(1, 100) i; CREATE TABLE note (id integer);
        CREATE TABLE day (at date) PARTITION BY RANGE (at); CREATE SCHEMA archive; CREATE TABLE archive.old (id integer)`,
    });
    const other = new pg.Client({ connectionString: server.url(database) });
    await other.connect();
    try {
      await other.query(`BEGIN; ${statements}`);
      const context = testContext({
        settings: {
          working_directory: join(folder.path, database),
          targets: { app: { snapshot: { src_url: server.url(database), dst_url: server.url('copy'), schema_config } } },
        },
      });
      const building = build(context, { target: 'app' });
      building.catch(() => {});
      const waits = `SELECT 1 FROM pg_locks l JOIN pg_database d ON d.oid = l.database
        WHERE NOT l.granted AND l.mode = 'AccessShareLock' AND d.datname = '${database}'`;
      await eventually(async () => (await server.psql(database, { sql: waits })).trim() !== '');
      await other.query('COMMIT');
      const { tables, rows } = await building;
      return { tables, rows };
    } finally {
      await other.end();
    }
  }

  it('includes the rows of a transaction that empties and fills a table before the build has its lock', async () => {
    const built = await buildBeside('emptied', 'TRUNCATE orders; INSERT INTO orders VALUES (1), (2), (3)');
    expect(built).toEqual({ tables: 3, rows: 3 });
  });

  it('includes a table that replaces one of its name', async () => {
    const built = await buildBeside('replaced', 'DROP TABLE orders; CREATE TABLE orders AS SELECT 1 AS n');
    expect(built).toEqual({ tables: 3, rows: 1 });
  });

  it('omits a table that is dropped, and includes a table and a partition that are created', async () => {
    const created = `CREATE TABLE today PARTITION OF day DEFAULT; INSERT INTO day VALUES ('2026-01-01');
      CREATE TABLE next AS SELECT i AS id FROM generate_series(1, 7) i`;
    const built = await buildBeside('dropped', `DROP TABLE orders; ${created}`);
    expect(built).toEqual({ tables: 4, rows: 8 });
  });

  it('omits the tables of a schema that is dropped', async () => {
    const built = await buildBeside('without-schema', 'DROP SCHEMA archive CASCADE');
    expect(built).toEqual({ tables: 2, rows: 100 });
  });
});
