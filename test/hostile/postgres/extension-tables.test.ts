import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { applySanitize, planSanitize } from '../../../src/operations/sanitize/sanitize.ts';
import { buildAndLoad, normalized, withDetails } from '../../helpers/databases/build-and-load.ts';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { RELOCATABLE, relocatedPostgres } from '../../helpers/postgres/relocated-postgres.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

/** As PostGIS (`spatial_ref_sys`) and pg_partman (`part_config`) do: rows of users are dumped, those of the script are not. */
const CONFIGURED = `
  CREATE TABLE settings (name text PRIMARY KEY, value text, builtin boolean DEFAULT false);
  INSERT INTO settings VALUES ('size', '1', true), ('color', 'red', true);
  SELECT pg_catalog.pg_extension_config_dump('settings', 'WHERE NOT builtin');
  CREATE TABLE notes (id integer, note text); SELECT pg_catalog.pg_extension_config_dump('notes', '');
  CREATE SEQUENCE numbers; SELECT pg_catalog.pg_extension_config_dump('numbers', '');
  CREATE TABLE cache (id integer); INSERT INTO cache VALUES (1);
  CREATE TYPE kind AS ENUM ('a', 'b');
  CREATE FUNCTION setting(text) RETURNS text LANGUAGE sql STABLE AS 'SELECT value FROM @extschema@.settings WHERE name = $1'`;

const USED = (schema: string) => `
  INSERT INTO ${schema}.settings VALUES ('mine', '7'); INSERT INTO ${schema}.notes VALUES (1, 'kept'), (2, E'with\\ttab');
  SELECT setval('${schema}.numbers', 42); INSERT INTO ${schema}.cache VALUES (2);
  CREATE TABLE public.own (id integer PRIMARY KEY, k ${schema}.kind, mail text); INSERT INTO public.own VALUES (1, 'a', 'a@example.org');
  CREATE VIEW public.seen AS SELECT * FROM ${schema}.settings`;

const FACTS = (
  schema: string,
) => `SELECT name, value FROM ${schema}.settings ORDER BY 1; SELECT note FROM ${schema}.notes ORDER BY id;
  SELECT last_value FROM ${schema}.numbers; SELECT count(*) FROM ${schema}.cache`;
const ALL_ROWS = 'color|red\nmine|7\nsize|1\nkept\nwith\ttab\n42\n1\n';

describeWithPostgres(
  'tables that an extension configures to be dumped',
  () => {
    let server: TestPostgres;
    const folder = suiteResource(() => temporaryFolder());
    let programs: Awaited<ReturnType<typeof temporaryFolder>>;

    beforeAll(async () => {
      programs = await temporaryFolder({ mode: 0o755 });
      server = await startPostgres({}, await relocatedPostgres(programs.path, { tool_test: CONFIGURED }));
      await database('in_public', 'public');
      await database('elsewhere', 'ext');
    }, 60_000);

    afterAll(async () => {
      await server?.stop();
      await programs?.[Symbol.asyncDispose]();
    });

    async function database(name: string, schema: string): Promise<void> {
      await server.createDatabase(name);
      const extension = `CREATE SCHEMA IF NOT EXISTS ${schema}; CREATE EXTENSION tool_test SCHEMA ${schema}`;
      await server.psql(name, { sql: `SET client_min_messages = error; ${extension}` });
      await server.psql(name, { sql: USED(schema) });
    }

    function contextOf(name: string) {
      const snapshot = { src_url: server.url(name), dst_url: server.url(`${name}_in_place`) };
      const sanitizing = { override_query: `UPDATE own SET mail = 'x'`, dst_url: server.url(`${name}_clean`) };
      const targets = { [name]: { snapshot, sanitize: sanitizing } };
      return testContext({ settings: { working_directory: join(folder.path, 'work'), targets } });
    }

    it('have the rows of users after a load, once, beside those of the script', async () => {
      await buildAndLoad(server, { database: 'in_public', workingDirectory: join(folder.path, 'work') });
      expect(await server.psql('in_public_copy', { sql: FACTS('public') })).toBe(ALL_ROWS);
      expect(normalized(await server.dump('in_public_copy'))).toEqual(normalized(await server.dump('in_public')));
    });

    it('have them after a load in place, and after another over it', async () => {
      const context = contextOf('in_public');
      await server.createDatabase('in_public_in_place');
      for (let time = 0; time < 2; time += 1) {
        await withDetails(applyLoad(context, await planLoad(context, { target: 'in_public', cpus: 1, inPlace: true })));
        expect(await server.psql('in_public_in_place', { sql: FACTS('public') })).toBe(ALL_ROWS);
      }
    });

    it('have them in a sanitized snapshot', async () => {
      const context = contextOf('in_public');
      await withDetails(applySanitize(context, await planSanitize(context, { target: 'in_public' })));
      expect(await server.psql('in_public_clean', { sql: FACTS('public') })).toBe(ALL_ROWS);
    });

    it("extension tables in an omitted schema have the script's rows, and their dependents are kept", async () => {
      await buildAndLoad(server, { database: 'elsewhere', workingDirectory: join(folder.path, 'work') });
      expect(await server.psql('elsewhere_copy', { sql: FACTS('ext') })).toBe('color|red\nsize|1\n1\n1\n');
      expect(await server.psql('elsewhere_copy', { sql: 'SELECT id, k FROM own; SELECT count(*) FROM seen' })).toBe(
        '1|a\n2\n',
      );
    });

    it('extension tables in a chosen schema have all rows', async () => {
      await buildAndLoad(server, {
        database: 'elsewhere',
        workingDirectory: join(folder.path, 'work'),
        schemaConfig: { include_schemas: ['public', 'ext'] },
      });
      expect(await server.psql('elsewhere_copy', { sql: FACTS('ext') })).toBe(ALL_ROWS);
      expect(normalized(await server.dump('elsewhere_copy'))).toEqual(normalized(await server.dump('elsewhere')));
    });
  },
  RELOCATABLE,
);
