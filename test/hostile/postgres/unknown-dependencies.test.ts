import { expect, it } from 'vitest';
import { buildAndLoad } from '../../helpers/databases/build-and-load.ts';
import { describeWithPostgres, startPostgres, temporaryFolder } from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

/** `lax` calls `strict` without its schema, which an empty search_path does not find. */
const LAX = `
  CREATE FUNCTION strict(integer) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1 > 0; END';
  CREATE FUNCTION lax(integer) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN strict($1); END';
  CREATE TABLE a_first (id integer, filler text); INSERT INTO a_first SELECT i, repeat('x', 100) FROM generate_series(1, 500) i;
  CREATE TABLE third (id integer); INSERT INTO third VALUES (1);`;

const CASES = [
  { what: 'a check', sql: 'CREATE TABLE culprit (id integer CHECK (lax(id))); INSERT INTO culprit VALUES (1)' },
  {
    what: 'a generated column',
    sql: 'CREATE TABLE culprit (id integer, g boolean GENERATED ALWAYS AS (lax(id)) STORED); INSERT INTO culprit VALUES (1)',
  },
  {
    what: 'an index',
    sql: 'CREATE TABLE culprit (id integer); INSERT INTO culprit VALUES (1); CREATE INDEX culprit_index ON culprit (lax(id))',
  },
  {
    what: 'a materialized view',
    sql: 'CREATE MATERIALIZED VIEW culprit AS SELECT lax(1)',
  },
];

describeWithPostgres('a dependency that pg_depend does not know', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());

  async function failure(database: string, sql: string): Promise<{ message: string; hint: string; details: string[] }> {
    await server.createDatabase(database);
    await server.psql(database, { sql });
    const error = await buildAndLoad(server, { database, workingDirectory: folder.path }).catch((thrown) => thrown);
    return error.cause;
  }

  it.each(CASES.map((each, index) => ({ ...each, database: `lax_${index}` })))(
    'of $what on a function without a search_path fails with the statement that helps, which then does',
    async ({ database, sql }) => {
      const { message, hint, details } = await failure(database, `${LAX} ${sql}`);
      expect([message, ...details].join('\n')).toContain('culprit');
      expect(message).not.toContain('a_first');
      const statements = /build again: (.*)$/.exec(hint)?.[1] ?? '';
      expect(statements).toContain('ALTER FUNCTION public.lax(integer) SET search_path = "public", pg_temp;');
      await server.psql(database, { sql: statements });
      await buildAndLoad(server, { database, workingDirectory: folder.path });
      expect(await server.psql(`${database}_copy`, { sql: 'SELECT count(*) FROM culprit' })).toBe('1\n');
    },
  );

  it('of a function body in text on a schema that is left out fails with the name of the schema', async () => {
    const { hint } = await failure(
      'hidden_body',
      `CREATE SCHEMA rates; CREATE TABLE rates.vat (rate numeric); INSERT INTO rates.vat VALUES (0.2);
      CREATE FUNCTION vat() RETURNS numeric LANGUAGE sql STABLE AS 'SELECT rate FROM rates.vat';
      CREATE MATERIALIZED VIEW prices AS SELECT vat() AS vat`,
    );
    expect(hint).toContain('Schema rates is not in the snapshot');
    expect(hint).toContain('include_schemas');
  });
});
