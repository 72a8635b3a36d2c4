import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import type { LoadRequest } from '../../../src/operations/load/planned-load.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import type { Context } from '../../../src/runtime/context.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

/** One object of every kind that has an owner, with names that need quotes. */
const FILL = `
  CREATE SCHEMA "Sales Dept";
  CREATE TYPE mood AS ENUM ('sad', 'ok');
  CREATE DOMAIN positive AS integer CHECK (value > 0);
  CREATE TYPE pair AS (a integer, b text);
  CREATE TYPE span AS RANGE (subtype = integer);
  CREATE TABLE "Sales Dept"."Order; DROP" (id serial PRIMARY KEY, g integer GENERATED ALWAYS AS IDENTITY, "a ""b" text, m mood, p positive);
  INSERT INTO "Sales Dept"."Order; DROP" ("a ""b") SELECT 'x' FROM generate_series(1, 20);
  CREATE TABLE item (id integer, note text); INSERT INTO item VALUES (1, 'one');
  CREATE TABLE brand_new (id integer);
  CREATE TABLE parted (id integer) PARTITION BY RANGE (id);
  CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (10);
  CREATE SEQUENCE counter;
  CREATE VIEW items AS SELECT * FROM item;
  CREATE MATERIALIZED VIEW items_m AS SELECT * FROM item;
  CREATE FUNCTION f(a integer, b text DEFAULT 'x') RETURNS integer LANGUAGE sql AS 'SELECT 1';
  CREATE PROCEDURE pr() LANGUAGE sql AS 'SELECT 1';
  CREATE AGGREGATE my_sum(integer) (SFUNC = int4pl, STYPE = integer, INITCOND = '0');
  CREATE AGGREGATE my_count(*) (SFUNC = int8inc, STYPE = bigint, INITCOND = '0');
  CREATE OPERATOR #+# (LEFTARG = integer, RIGHTARG = integer, FUNCTION = int4pl);
  CREATE OPERATOR FAMILY my_family USING btree;
  CREATE OPERATOR CLASS my_class FOR TYPE integer USING btree FAMILY my_family AS OPERATOR 1 <, FUNCTION 1 btint4cmp(integer, integer);
  CREATE COLLATION my_collation FROM "C";
  CREATE CONVERSION my_conversion FOR 'LATIN1' TO 'UTF8' FROM iso8859_1_to_utf8;
  CREATE TEXT SEARCH DICTIONARY my_dict (TEMPLATE = simple);
  CREATE TEXT SEARCH CONFIGURATION my_config (COPY = simple);
  CREATE STATISTICS my_stats ON id, note FROM item;
  CREATE EXTENSION postgres_fdw;
  CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw;
  CREATE FOREIGN TABLE far_table (id integer) SERVER far;
  SELECT lo_create(4711);`;

const OWNERS = `
  SELECT owner, count(*), CASE WHEN owner <> 'appuser'::regrole THEN string_agg(name, ',') END FROM (
    SELECT relowner::regrole AS owner, relname::text AS name FROM pg_class WHERE oid >= 16384 AND relkind IN ('r','p','v','m','S','f') AND relnamespace <> 'pg_catalog'::regnamespace
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = pg_class.oid AND d.deptype = 'e')
    UNION ALL SELECT nspowner::regrole, nspname FROM pg_namespace WHERE oid >= 16384 AND nspname !~ '^pg_' AND nspname <> 'public'
    UNION ALL SELECT proowner::regrole, proname FROM pg_proc WHERE oid >= 16384 AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = pg_proc.oid AND d.deptype = 'e')
    UNION ALL SELECT typowner::regrole, typname FROM pg_type WHERE oid >= 16384
    UNION ALL SELECT oprowner::regrole, oprname FROM pg_operator WHERE oid >= 16384
    UNION ALL SELECT opfowner::regrole, opfname FROM pg_opfamily WHERE oid >= 16384
    UNION ALL SELECT opcowner::regrole, opcname FROM pg_opclass WHERE oid >= 16384
    UNION ALL SELECT collowner::regrole, collname FROM pg_collation WHERE oid >= 16384
    UNION ALL SELECT conowner::regrole, conname FROM pg_conversion WHERE oid >= 16384
    UNION ALL SELECT dictowner::regrole, dictname FROM pg_ts_dict WHERE oid >= 16384
    UNION ALL SELECT cfgowner::regrole, cfgname FROM pg_ts_config WHERE oid >= 16384
    UNION ALL SELECT stxowner::regrole, stxname FROM pg_statistic_ext
    UNION ALL SELECT srvowner::regrole, srvname FROM pg_foreign_server
    UNION ALL SELECT lomowner::regrole, 'large object' FROM pg_largeobject_metadata
  ) o GROUP BY 1 ORDER BY 1`;

const SYSTEM_GRANTS = `REVOKE EXECUTE ON FUNCTION pg_sleep(double precision), pg_ls_logdir() FROM PUBLIC, pg_monitor;
  GRANT EXECUTE ON FUNCTION pg_ls_dir(text) TO reader WITH GRANT OPTION; GRANT SELECT ON pg_authid TO "wri""ter"`;
const SYSTEM_PRIVILEGES = `SELECT o, proacl::text FROM pg_proc, CAST(oid AS regprocedure) o WHERE proname IN ('pg_sleep', 'pg_ls_dir', 'pg_ls_logdir')
  UNION ALL SELECT NULL, relacl::text FROM pg_class WHERE relname = 'pg_authid' ORDER BY 1, 2`;

const ROLES = ['appuser', 'reader', 'wri"ter', 'loader'];

describeWithPostgres('who may do what in a database that was loaded', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());
  let events: RunEvent[];
  let context: Context;

  beforeAll(async () => {
    for (const role of ROLES) {
      await server.psql('postgres', { sql: `CREATE ROLE "${role.replaceAll('"', '""')}" LOGIN PASSWORD 'pw'` });
    }
    await server.psql('postgres', { sql: 'ALTER ROLE loader CREATEDB; GRANT appuser TO loader' });
    await server.createDatabase('source');
    await server.psql('source', { sql: FILL });
    await build(contextFor(), { target: 'app' });
  }, 120_000);

  beforeEach(async () => {
    events = [];
    context = contextFor();
    for (const name of await server.databases()) {
      if (name.startsWith('copy')) await server.psql('postgres', { sql: `DROP DATABASE "${name}" WITH (FORCE)` });
    }
    await server.createDatabase('copy', 'appuser');
  });

  function contextFor(): Context {
    const snapshot = {
      src_url: server.url('source'),
      dst_url: server.url('copy'),
      schema_config: { use_default_schema: false },
    };
    return testContext({ settings: { working_directory: folder.path, targets: { app: { snapshot } } }, events });
  }

  const asRole = (role: string, database: string): string =>
    server.url(database).replace(/\/\/.*@/, `//${encodeURIComponent(role)}:pw@`);

  const run = async (request: Partial<LoadRequest> = {}) =>
    applyLoad(context, await planLoad(context, { target: 'app', remoteTables: true, ...request }));

  const sql = async (text: string, database = 'copy') => (await server.psql(database, { sql: text })).trim();

  const can = async (role: string, statement: string): Promise<string> => {
    const quoted = `"${role.replaceAll('"', '""')}"`;
    return sql(`SET SESSION AUTHORIZATION ${quoted}; ${statement}`).then(
      () => 'yes',
      () => 'no',
    );
  };

  const warnings = () => events.filter(({ event }) => event === 'warning');

  it.each([false, true])(
    'objects of every kind belong to the owner of the replaced database (in place: %s)',
    async (inPlace) => {
      await sql('CREATE TABLE item (id integer); ALTER TABLE item OWNER TO appuser');
      await run({ inPlace });
      expect(
        await can('appuser', 'SELECT * FROM item; ALTER TABLE "Sales Dept"."Order; DROP" ADD COLUMN x integer'),
      ).toBe('yes');
      expect(await can('appuser', 'CREATE TABLE mine (id integer)')).toBe('yes');
      const owners = (await sql(OWNERS)).split('\n');
      expect(owners).toEqual([expect.stringMatching(/^appuser\|/)]);
      expect(warnings().filter((event) => 'code' in event && event.code === 'not_carried_over')).toEqual([]);
    },
  );

  it.each([false, true])(
    'grants on objects of the same name are those of the replaced database (in place: %s)',
    async (inPlace) => {
      await sql(`
      CREATE SCHEMA "Sales Dept" AUTHORIZATION appuser; GRANT USAGE ON SCHEMA "Sales Dept" TO reader;
      CREATE TABLE "Sales Dept"."Order; DROP" (id integer, "a ""b" text, secret text);
      GRANT SELECT (id, "a ""b") ON "Sales Dept"."Order; DROP" TO reader;
      CREATE TABLE item (id integer); CREATE TABLE gone (id integer); GRANT SELECT ON gone TO reader;
      GRANT SELECT ON item TO reader WITH GRANT OPTION; GRANT INSERT, UPDATE ON item TO "wri""ter";
      CREATE FUNCTION f(a integer, b text DEFAULT 'x') RETURNS integer LANGUAGE sql AS 'SELECT 2';
      REVOKE EXECUTE ON FUNCTION f(integer, text) FROM PUBLIC; GRANT EXECUTE ON FUNCTION f(integer, text) TO reader;
      CREATE SEQUENCE counter; GRANT USAGE ON SEQUENCE counter TO reader;
      REVOKE ALL ON SCHEMA public FROM PUBLIC; GRANT USAGE ON SCHEMA public TO reader, "wri""ter";
      ALTER DEFAULT PRIVILEGES FOR ROLE appuser IN SCHEMA public GRANT SELECT ON TABLES TO reader;
      ALTER DEFAULT PRIVILEGES FOR ROLE appuser REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC`);
      const defaults = `SELECT defaclrole::regrole, defaclnamespace::regnamespace, defaclobjtype, defaclacl FROM pg_default_acl ORDER BY 1, 2, 3`;
      const before = await sql(defaults);
      await run({ inPlace });
      expect(await can('reader', 'SELECT * FROM item')).toBe('yes');
      expect(await can('reader', 'GRANT SELECT ON item TO loader')).toBe('yes');
      expect(await can('reader', 'INSERT INTO item VALUES (2)')).toBe('no');
      expect(await can('wri"ter', 'INSERT INTO item VALUES (2)')).toBe('yes');
      expect(await can('reader', 'SELECT id, "a ""b" FROM "Sales Dept"."Order; DROP"')).toBe('yes');
      expect(await can('reader', 'SELECT m FROM "Sales Dept"."Order; DROP"')).toBe('no');
      expect(await can('reader', "SELECT f(1), nextval('counter')")).toBe('yes');
      expect(await can('wri"ter', 'SELECT f(1)')).toBe('no');
      expect(await can('wri"ter', 'SELECT * FROM items')).toBe('no');
      expect(await can('reader', 'SELECT * FROM brand_new'), 'by the default privileges').toBe('yes');
      expect(await sql(defaults)).toBe(before);
      expect(warnings()).toContainEqual(
        expect.objectContaining({ code: 'not_carried_over', message: expect.stringContaining('public.gone') }),
      );
    },
  );

  it('owners of objects in the replaced database keep their rights on the rows', async () => {
    await sql(
      'CREATE TABLE item (id integer); ALTER TABLE item OWNER TO reader; GRANT USAGE ON SCHEMA public TO reader',
    );
    await run();
    expect(await can('reader', 'INSERT INTO item VALUES (5); SELECT * FROM item')).toBe('yes');
    expect(await can('appuser', 'ALTER TABLE item ADD COLUMN more integer')).toBe('yes');
  });

  it('the comment, settings of roles and grants with options are kept, and undo brings the comment back', async () => {
    await sql(`COMMENT ON DATABASE copy IS 'it''s \\ mine'; GRANT CREATE ON DATABASE copy TO reader WITH GRANT OPTION;
      REVOKE TEMPORARY ON DATABASE copy FROM appuser, PUBLIC; ${SYSTEM_GRANTS};
      ALTER ROLE reader IN DATABASE copy SET work_mem = '9MB'; ALTER DATABASE copy CONNECTION LIMIT 17; ALTER DATABASE copy SET log_statement = 'all'`);
    const facts = `SELECT shobj_description(oid, 'pg_database'), datacl::text, datconnlimit, (SELECT array_agg(setconfig ORDER BY setconfig) FROM pg_db_role_setting WHERE setdatabase = d.oid) FROM pg_database d WHERE datname = 'copy'`;
    const before = await sql(facts, 'postgres');
    const ofServer = await sql(SYSTEM_PRIVILEGES);
    for (const _ of [1, 2]) {
      await run();
      expect(await sql(facts, 'postgres')).toBe(before);
      expect(await sql(SYSTEM_PRIVILEGES)).toBe(ofServer);
      expect(warnings()).not.toContainEqual(expect.objectContaining({ code: 'not_carried_over' }));
    }
  });

  it.each([false, true])('objects belong to the configured role (in place: %s)', async (inPlace) => {
    const given = contextFor();
    Object.assign(given.configuration.settings.targets.app?.snapshot ?? {}, { role: 'wri"ter' });
    await applyLoad(given, await planLoad(given, { target: 'app', inPlace, remoteTables: true }));
    expect(await can('wri"ter', 'ALTER TABLE item ADD COLUMN x integer')).toBe('yes');
    if (inPlace) return;
    await applyLoad(
      given,
      await planLoad(given, { target: 'app', destdb: server.url('copy_new'), remoteTables: true }),
    );
    const owners = `SELECT pg_get_userbyid(datdba), (SELECT relowner::regrole FROM pg_class WHERE relname = 'item') FROM pg_database WHERE datname = 'copy_new'`;
    expect(await sql(owners, 'copy_new')).toBe('wri"ter|"wri""ter"');
    Object.assign(given.configuration.settings.targets.app?.snapshot ?? {}, { role: 'nobody' });
    await expect(planLoad(given, { target: 'app' })).rejects.toMatchObject({ code: 'role_missing', exit: 1 });
    Object.assign(given.configuration.settings.targets.app?.snapshot ?? {}, { role: 'reader' });
    const destdb = asRole('loader', 'copy');
    await expect(planLoad(given, { target: 'app', destdb })).rejects.toMatchObject({ code: 'role_denied', exit: 1 });
  });

  it('a destination that takes no connections is replaced, with a warning', async () => {
    await sql('ALTER DATABASE copy ALLOW_CONNECTIONS false', 'postgres');
    await run();
    expect(warnings()).toContainEqual(expect.objectContaining({ code: 'not_carried_over' }));
    expect(await sql('SELECT count(*) FROM item')).toBe('1');
  });

  it('a role that is a member of the owner can do all of this, and sees beforehand what it cannot', async () => {
    await sql(`CREATE TABLE item (id integer); ALTER TABLE item OWNER TO appuser; GRANT SELECT ON item TO reader;
      ALTER DATABASE copy SET log_statement = 'all'; ALTER DATABASE copy SET work_mem = '9MB';
      ALTER DEFAULT PRIVILEGES FOR ROLE reader GRANT SELECT ON TABLES TO "wri""ter"; ${SYSTEM_GRANTS}`);
    const destdb = asRole('loader', 'copy');
    const { plan } = await planLoad(context, { target: 'app', destdb });
    const told = plan.warnings.filter(({ code }) => code === 'not_carried_over').map(({ message }) => message);
    expect(told).toEqual([
      expect.stringContaining('log_statement'),
      expect.stringContaining('default privileges of reader'),
      expect.stringMatching(
        /: grants and revokes on objects of the server: routine \S*pg_ls_dir\(\S+, routine \S*pg_ls_logdir\(\), routine \S*pg_sleep\(double precision\), table pg_catalog.pg_authid$/,
      ),
    ]);
    const file = join(folder.path, 'plain.sql');
    await writeFile(file, 'CREATE TABLE item (id integer);\n');
    await run({ file, destdb });
    expect(await sql(`SELECT relowner::regrole FROM pg_class WHERE relname = 'item'`)).toBe('appuser');
    expect(await can('reader', 'SELECT * FROM item')).toBe('yes');
    expect(warnings()).toContainEqual(
      expect.objectContaining({ code: 'not_carried_over', message: expect.stringContaining('log_statement') }),
    );
  });
});
