import { afterAll, beforeAll, expect, it } from 'vitest';
import { build } from '../../../src/operations/build/build.ts';
import { checkPostgresRights, createRightsSource } from '../../helpers/postgres/postgres-rights.ts';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

/** The role may read all of it but for what a case takes away. */
const READABLE = `
  CREATE TABLE t (id integer); INSERT INTO t VALUES (1); CREATE SEQUENCE s; CREATE VIEW v AS SELECT id FROM t;
  CREATE MATERIALIZED VIEW m AS SELECT id FROM t; CREATE FUNCTION f() RETURNS integer LANGUAGE sql AS 'SELECT 1';
  CREATE TYPE mood AS ENUM ('fine'); CREATE FOREIGN DATA WRAPPER w; CREATE SERVER far FOREIGN DATA WRAPPER w OPTIONS (host 'h');
  CREATE FOREIGN TABLE ft (id integer) SERVER far; SELECT lo_from_bytea(4711, 'x');
  GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader; GRANT SELECT ON ALL SEQUENCES IN SCHEMA public TO reader;
  GRANT SELECT ON LARGE OBJECT 4711 TO reader`;

/** A right that is taken away, and what the hint must say where pg_dump needs it; the hint's SQL must then do. */
const RIGHTS: { right: string; sql: string; names?: string }[] = [
  { right: 'USAGE on a schema', sql: 'REVOKE USAGE ON SCHEMA public FROM PUBLIC', names: 'schema public' },
  { right: 'SELECT on a table', sql: 'REVOKE SELECT ON t FROM reader', names: 'table public.t' },
  { right: 'SELECT on a sequence', sql: 'REVOKE SELECT ON SEQUENCE s FROM reader', names: 'sequence public.s' },
  {
    right: 'SELECT on a large object',
    sql: 'REVOKE SELECT ON LARGE OBJECT 4711 FROM reader',
    names: 'large object 4711',
  },
  {
    right: 'BYPASSRLS',
    sql: 'ALTER TABLE t ENABLE ROW LEVEL SECURITY',
    names: 'row level security of table public.t',
  },
  {
    right: 'BYPASSRLS of an owner, where it is forced',
    sql: 'ALTER TABLE t OWNER TO reader; ALTER TABLE t ENABLE ROW LEVEL SECURITY; ALTER TABLE t FORCE ROW LEVEL SECURITY',
    names: 'row level security of table public.t',
  },
  { right: 'SELECT on a view', sql: 'REVOKE SELECT ON v FROM reader' },
  { right: 'SELECT on a materialized view', sql: 'REVOKE SELECT ON m FROM reader' },
  { right: 'SELECT on a foreign table', sql: 'REVOKE SELECT ON ft FROM reader' },
  { right: 'EXECUTE on a function', sql: 'REVOKE EXECUTE ON FUNCTION f() FROM PUBLIC' },
  { right: 'USAGE on a type', sql: 'REVOKE USAGE ON TYPE mood FROM PUBLIC' },
];

describeWithPostgres('a build by a role that lacks a right', () => {
  let server: TestPostgres;
  let kinds: TestPostgres;
  const folder = suiteResource(() => temporaryFolder());

  beforeAll(async () => {
    [server, kinds] = await Promise.all([startPostgres(), startPostgres()]);
    await createRightsSource(kinds);
    await server.psql('postgres', { sql: `CREATE ROLE reader LOGIN PASSWORD 'reader'` });
  }, 60_000);

  afterAll(async () => {
    await server?.stop();
    await kinds?.stop();
  });

  it.each(RIGHTS.map((each, index) => ({ ...each, database: `rights_${index}` })))(
    '$right: is complete, or names the object and the SQL that helps',
    async ({ database, sql, names }) => {
      await server.createDatabase(database);
      await server.psql(database, { sql: `${READABLE}; ${sql}` });
      const snapshot = { src_url: server.url(database).replace(/postgres:[^/@]+@/, 'reader:reader@') };
      const settings = { working_directory: folder.path, targets: { [database]: { snapshot } } };
      const context = testContext({ settings });
      const built = await build(context, { target: database }).catch((error) => error);
      if (names === undefined) return expect(built).toMatchObject({ rows: 1 });
      expect(built).toMatchObject({ code: 'dump_failed', details: expect.arrayContaining([`not readable: ${names}`]) });
      const help = /run on the source: (.*)$/s.exec(built.hint)?.[1] ?? '';
      await server.psql(database, { sql: help });
      await expect(build(context, { target: database })).resolves.toMatchObject({ rows: 1 });
      await server.psql(database, { sql: 'ALTER ROLE reader NOBYPASSRLS' });
    },
  );

  it('gets a short hint for very many large objects and schemas', async () => {
    await server.createDatabase('many');
    await server.psql('many', {
      sql: `SELECT count(lo_from_bytea(0, 'x')) FROM generate_series(1, 3000);
        DO 'BEGIN FOR n IN 1..300 LOOP EXECUTE format(''CREATE SCHEMA s%s; CREATE TABLE s%s.t ()'', n, n); END LOOP; END'`,
    });
    const snapshot = {
      src_url: server.url('many').replace(/postgres:[^/@]+@/, 'reader:reader@'),
      schema_config: { use_default_schema: false },
    };
    const context = testContext({ settings: { working_directory: folder.path, targets: { many: { snapshot } } } });
    const error = await build(context, { target: 'many' }).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'dump_failed' });
    expect(error.hint.length).toBeLessThan(800);
    expect(error.details.join('\n').length).toBeLessThan(5000);
  });

  it('names the number of connections that it needs where there are too few', async () => {
    await server.createDatabase('crowded');
    await server.psql('crowded', { sql: `${READABLE}; ALTER DATABASE crowded CONNECTION LIMIT 1` });
    const snapshot = { src_url: server.url('crowded').replace(/postgres:[^/@]+@/, 'reader:reader@') };
    const context = testContext({
      settings: { working_directory: folder.path, targets: { crowded: { snapshot } } },
    });
    await expect(build(context, { target: 'crowded', cpus: 4 })).rejects.toMatchObject({
      code: 'dump_failed',
      hint: expect.stringContaining('CONNECTION LIMIT'),
    });
  });

  it.each([
    'REVOKE ALL ON FOREIGN SERVER far FROM PUBLIC, reader',
    'REVOKE ALL ON a.t FROM reader; GRANT SELECT (id) ON a.t TO reader',
  ])(
    'is whole, or announces what it lacks: %s',
    async (revoke) => {
      const database = `kinds_${revoke.length}`;
      const { hidden } = await checkPostgresRights(kinds, {
        database,
        revoke,
        workingDirectory: `${folder.path}/${database}`,
      });
      const own = revoke.includes('FOREIGN SERVER') ? ['far for reader'] : [];
      expect(hidden).toEqual([
        { kind: 'user mapping option', names: ['far for other', 'far for public', ...own], right: 'superuser' },
      ]);
    },
    60_000,
  );
});
