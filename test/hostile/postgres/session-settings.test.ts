import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { connect } from '../../../src/engines/postgres/connection/connect.ts';
import { parsePostgresUrl } from '../../../src/engines/postgres/connection/url.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { applySubset, planSubset } from '../../../src/operations/subset/subset.ts';
import type { Context } from '../../../src/runtime/context.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const SOURCE = String.raw`
  CREATE TABLE "values" (id integer PRIMARY KEY, t text, b bytea, f float8, d timestamptz, i interval, a text[], x xml, m money);
  INSERT INTO "values" VALUES
    (1, E'it''s \\ "x" \\'' ', '\x00275c22ff', 0.1 + 0.2, '2001-02-03 04:05:06.789+00', '-1 year 2 mons -3 days 04:05:06', '{a,NULL,"NULL"}', 'text <a/>', 1234.5),
    (2, E'\\.', '', 'NaN', '0099-01-01 BC', '1 day -00:00:01', '{}', '<a/>', -1);
  CREATE TABLE refers (id integer PRIMARY KEY, "value" integer REFERENCES "values", c text DEFAULT E'a\\b''c' CHECK (c <> E'\\'));
  INSERT INTO refers VALUES (1, 1), (2, 2); INSERT INTO refers VALUES (3, 2, NULL);
  CREATE FUNCTION twice(i integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT $1 * 2';
  CREATE VIEW pairs AS SELECT v.t, r.c FROM "values" v JOIN refers r ON r."value" = v.id`;

const SETTINGS = {
  standard_conforming_strings: 'off',
  backslash_quote: 'off',
  search_path: 'pg_temp',
  DateStyle: `'SQL, DMY'`,
  IntervalStyle: 'sql_standard',
  TimeZone: `'Asia/Kathmandu'`,
  extra_float_digits: '-15',
  bytea_output: 'escape',
  row_security: 'off',
  client_encoding: 'LATIN1',
  quote_all_identifiers: 'on',
  array_nulls: 'off',
  xmloption: 'document',
  transform_null_equals: 'on',
  default_transaction_isolation: 'serializable',
  statement_timeout: "'5s'",
  lock_timeout: "'5s'",
  idle_session_timeout: "'5s'",
  idle_in_transaction_session_timeout: "'5s'",
};

describeWithPostgres('settings of roles', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());
  let context: Context;

  const urlOf = (role: string, database: string) => server.url(database).replace(/\/\/[^@]*@/, `//${role}:${role}@`);
  const rowsOf = (database: string) =>
    server.psql(database, { sql: 'SELECT * FROM "values" ORDER BY 1; SELECT * FROM refers ORDER BY 1; TABLE pairs' });

  beforeAll(async () => {
    await server.createDatabase('source');
    await server.psql('source', { sql: SOURCE });
    const roles = [
      `CREATE ROLE reader LOGIN SUPERUSER PASSWORD 'reader'`,
      `CREATE ROLE loader LOGIN CREATEDB PASSWORD 'loader'`,
    ];
    const settings = Object.entries(SETTINGS).flatMap(([name, value]) =>
      ['reader', 'loader'].map((role) => `ALTER ROLE ${role} SET ${name} = ${value}`),
    );
    await server.psql('postgres', { sql: [...roles, ...settings].join(';') });
    for (const name of ['copy', 'small']) await server.createDatabase(name, 'loader');
    const src_url = urlOf('reader', 'source');
    const subset_tables = [{ table: 'public.refers', where: 'id = 1 OR c = NULL' }];
    const app = {
      snapshot: { src_url, dst_url: urlOf('loader', 'copy') },
      subset: { src_url, dst_url: urlOf('loader', 'small'), subset_tables },
    };
    context = testContext({ settings: { working_directory: join(folder.path, 'work'), targets: { app } } });
    await build(context, { target: 'app' });
  }, 60_000);

  it.each([
    ['a load', {}],
    ['a load in place', { inPlace: true }],
    ['a load of rows only', { tables: ['public.values', 'public.refers'], only: true }],
  ])(
    'change no rows of %s',
    async (_, options) => {
      await server.psql('copy', {
        sql: `DO $$BEGIN TRUNCATE refers, "values"; EXCEPTION WHEN undefined_table THEN END$$`,
      });
      await applyLoad(context, await planLoad(context, { target: 'app', ...options }));
      expect(await rowsOf('copy')).toBe(await rowsOf('source'));
    },
    60_000,
  );

  it('change no rows of a subset', async () => {
    await applySubset(context, await planSubset(context, { target: 'app' }));
    const first = 'SELECT v.*, r.* FROM "values" v JOIN refers r ON r."value" = v.id WHERE r.id = 1';
    expect(await server.psql('small', { sql: first })).toBe(await server.psql('source', { sql: first }));
    expect(await server.psql('small', { sql: 'SELECT count(*) FROM refers' })).toBe('1\n');
  }, 60_000);

  it('end no session that is idle', async () => {
    await using session = await connect(context, parsePostgresUrl(urlOf('loader', 'copy')));
    const names = ['idle_session_timeout', 'idle_in_transaction_session_timeout'];
    const rows = await session.query(
      `SELECT ${names.map((name) => `current_setting('${name}') AS ${name}`).join(', ')}`,
    );
    expect(rows).toEqual([{ idle_session_timeout: '0', idle_in_transaction_session_timeout: '0' }]);
  });
});
