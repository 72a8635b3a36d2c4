import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import type { LoadRequest } from '../../../src/operations/load/planned-load.ts';
import type { Context } from '../../../src/runtime/context.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const ROLES = `SELECT coalesce(string_agg(rolname, ' ' ORDER BY rolname), '') FROM pg_roles WHERE rolname !~ '^pg_'`;

describeWithPostgres('code of a snapshot that a superuser loads', () => {
  const server = suiteResource(() => startPostgres());
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let outside: string;

  beforeAll(async () => {
    outside = await mkdtemp('/tmp/tool-test-outside-');
    await server.psql('postgres', {
      sql: `CREATE ROLE plain LOGIN CREATEDB PASSWORD 'plain'; CREATE ROLE maker LOGIN CREATEDB CREATEROLE PASSWORD 'maker'`,
    });
  }, 60_000);

  beforeEach(async () => {
    await folder?.[Symbol.asyncDispose]();
    folder = await temporaryFolder();
    for (const name of ['source', 'copy', 'copy.tool-undo', 'copy.tool-base'])
      await server.psql('postgres', { sql: `DROP DATABASE IF EXISTS "${name}"` });
    await server.createDatabase('source');
    await server.createDatabase('copy');
    await server.psql('copy', { sql: 'CREATE TABLE precious AS SELECT 1 AS id' });
  });

  afterAll(async () => {
    await folder?.[Symbol.asyncDispose]();
    await rm(outside, { recursive: true, force: true });
  });

  function contextFor(user?: string): Context {
    const dst =
      user === undefined ? server.url('copy') : server.url('copy').replace(/\/\/[^@]*@/, `//${user}:${user}@`);
    const snapshot = { src_url: server.url('source'), dst_url: dst };
    return testContext({ settings: { working_directory: folder.path, targets: { app: { snapshot } } } });
  }

  async function load(request: Partial<LoadRequest> = {}, user?: string) {
    const context = contextFor(user);
    const planned = await planLoad(context, { target: 'app', cpus: 1, ...request });
    return { plan: planned.plan, result: await applyLoad(context, planned) };
  }

  /** A function that does something when it runs in another database than the source. */
  const attack = (statement: string): string => `
    CREATE TABLE person (id integer PRIMARY KEY, note text); INSERT INTO person VALUES (1, 'x');
    CREATE FUNCTION act() RETURNS void LANGUAGE plpgsql AS $act$
      BEGIN IF current_database() <> 'source' THEN ${statement}; END IF; END $act$;
    CREATE FUNCTION attack(i integer) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS $attack$
      BEGIN PERFORM public.act(); RETURN i; END $attack$;`;

  const PLACES = {
    'a materialized view': `CREATE MATERIALIZED VIEW seen AS SELECT public.attack(1) AS one`,
    'an expression index': `CREATE INDEX by_attack ON person (public.attack(id))`,
    'a CHECK constraint': `ALTER TABLE person ADD CHECK (public.attack(id) = id)`,
    'a generated column': `ALTER TABLE person ADD twice integer GENERATED ALWAYS AS (public.attack(id)) STORED`,
  };

  const ATTACKS: Record<string, string> = {
    'creates a role': `CREATE ROLE evil SUPERUSER`,
    'runs a program': `COPY (SELECT 1) TO PROGRAM 'touch OUTSIDE/program'`,
    'writes a file': `COPY (SELECT 1) TO 'OUTSIDE/file'`,
    'reads a file': `CREATE TEMP TABLE leak (line text); COPY leak FROM '/etc/passwd'`,
    'resets its role': `RESET ROLE; CREATE ROLE evil SUPERUSER`,
    'resets its session authorization': `RESET SESSION AUTHORIZATION; CREATE ROLE evil SUPERUSER`,
    'takes the role of the superuser': `SET ROLE postgres; CREATE ROLE evil SUPERUSER`,
    'makes itself a superuser': `EXECUTE format('ALTER ROLE %I SUPERUSER', session_user)`,
    'gives the destination away': `ALTER DATABASE copy CONNECTION LIMIT 0`,
    'ends sessions of others': `PERFORM 1 / (SELECT count(*) FROM pg_stat_activity WHERE usename = 'postgres' AND pg_terminate_backend(pid))`,
    'removes the mark of its database': `EXECUTE format('COMMENT ON DATABASE %I IS NULL', current_database())`,
  };

  it.each(Object.entries(PLACES))(
    'runs without its rights in %s',
    async (_, place) => {
      await server.psql('source', { sql: attack(`CREATE ROLE evil SUPERUSER`) + place });
      await build(contextFor(), { target: 'app', cpus: 1 });
      const before = await server.dump('copy');
      await expect(load()).rejects.toMatchObject({ code: 'restore_failed', exit: 1 });
      expect((await server.psql('postgres', { sql: ROLES })).trim()).toBe('maker plain postgres');
      expect(await server.dump('copy')).toBe(before);
      expect(await server.databases()).toEqual(['copy', 'postgres', 'source']);
    },
    60_000,
  );

  it.each(Object.entries(ATTACKS))(
    'is refused when it %s',
    async (_, statement) => {
      const sql = attack(statement.replace('OUTSIDE', outside)) + PLACES['a CHECK constraint'];
      await server.psql('source', { sql });
      await build(contextFor(), { target: 'app', cpus: 1 });
      const before = await server.dump('copy');
      await expect(load()).rejects.toMatchObject({ code: 'restore_failed', exit: 1 });
      expect((await server.psql('postgres', { sql: ROLES })).trim()).toBe('maker plain postgres');
      expect(existsSync(`${outside}/program`) || existsSync(`${outside}/file`)).toBe(false);
      expect(await server.dump('copy')).toBe(before);
      expect(await server.databases()).toEqual(['copy', 'postgres', 'source']);
    },
    60_000,
  );

  it('runs as a login of its own, which the plan names and which is gone afterwards', async () => {
    await server.psql('source', {
      sql: `CREATE TABLE seen (id integer, who text DEFAULT session_user); INSERT INTO seen VALUES (1, 'source');
        CREATE MATERIALIZED VIEW run AS SELECT session_user::text AS session, current_user::text AS role,
          (SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication FROM pg_roles WHERE rolname = session_user) AS rights`,
    });
    await build(contextFor(), { target: 'app', cpus: 1 });
    const { plan } = await load();
    expect(plan).toMatchObject({ restored_by: 'temporary_user' });
    const seen = await server.psql('copy', {
      sql: `SELECT session ~ '^tool-load-[0-9a-f]{16}$', session = role, rights FROM run`,
    });
    expect(seen.trim()).toBe('t|t|f');
    const owners = `SELECT string_agg(DISTINCT relowner::regrole::text, ' ') FROM pg_class WHERE oid >= 16384`;
    expect((await server.psql('copy', { sql: owners })).trim()).toBe('postgres');
    expect((await server.psql('postgres', { sql: ROLES })).trim()).toBe('maker plain postgres');
  }, 60_000);

  it('has its extensions and event triggers, which only a superuser may create', async () => {
    await server.psql('source', {
      sql: `CREATE SCHEMA ext; CREATE EXTENSION pageinspect SCHEMA ext; COMMENT ON EXTENSION pageinspect IS 'mine';
        CREATE EXTENSION citext; CREATE TABLE person (id integer PRIMARY KEY, note citext);
        CREATE TABLE told (what text); INSERT INTO told VALUES ('one');
        CREATE FUNCTION "Tell!"() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.told VALUES (tg_tag); END $$;
        CREATE EVENT TRIGGER "It's ""told""" ON ddl_command_end WHEN TAG IN ('CREATE TABLE', 'ALTER TABLE') EXECUTE FUNCTION "Tell!"();
        CREATE EVENT TRIGGER always ON ddl_command_start EXECUTE FUNCTION "Tell!"(); ALTER EVENT TRIGGER always ENABLE ALWAYS;
        CREATE EVENT TRIGGER never ON sql_drop EXECUTE FUNCTION "Tell!"(); ALTER EVENT TRIGGER never DISABLE;
        COMMENT ON EVENT TRIGGER always IS 'isn''t \\ this';
        DELETE FROM told WHERE what <> 'one'`,
    });
    const before = await server.dump('source');
    await build(contextFor(), { target: 'app', cpus: 1 });
    const { plan } = await load();
    expect(plan).toMatchObject({ restored_by: 'temporary_user' });
    expect(await server.dump('copy')).toBe(before);
    const owner = `SELECT string_agg(DISTINCT extowner::regrole::text, ' ') FROM pg_extension`;
    expect((await server.psql('copy', { sql: owner })).trim()).toBe('postgres');
  }, 60_000);

  it('is restored with its rights where only a superuser may create something, built here, and the plan says so', async () => {
    await server.psql('source', {
      sql: `CREATE FUNCTION native(double precision) RETURNS double precision LANGUAGE internal STRICT AS 'dsqrt'`,
    });
    await build(contextFor(), { target: 'app', cpus: 1 });
    const { plan } = await load();
    expect(plan).toMatchObject({
      restored_by: 'loading_user',
      restored_by_reason: expect.stringContaining('public.native'),
    });
    expect((await server.psql('copy', { sql: 'SELECT native(4)' })).trim()).toBe('2');
  }, 60_000);

  it('runs with its rights on request, and the plan shows it', async () => {
    await server.psql('source', { sql: attack(`CREATE ROLE evil`) + PLACES['a CHECK constraint'] });
    await build(contextFor(), { target: 'app', cpus: 1 });
    const { plan } = await load({ allowSuperuser: true });
    expect(plan).toMatchObject({ restored_by: 'loading_user', restored_by_reason: '--allow-superuser was given' });
    await server.psql('postgres', { sql: 'DROP ROLE evil' });
  }, 60_000);

  it('is restored by the loading role where that may create no role, and the plan says so', async () => {
    await server.psql('postgres', { sql: 'ALTER DATABASE copy OWNER TO plain' });
    await server.psql('source', {
      sql: `CREATE TABLE person (id integer); CREATE MATERIALIZED VIEW run AS SELECT session_user::text AS role`,
    });
    await build(contextFor(), { target: 'app', cpus: 1 });
    const { plan } = await load({}, 'plain');
    expect(plan).toMatchObject({ restored_by: 'loading_user', restored_by_reason: 'the role may not create roles' });
    expect((await server.psql('copy', { sql: 'SELECT role FROM run' })).trim()).toBe('plain');
  }, 60_000);

  it('is restored by a role of its own where the loading role may create roles without being a superuser', async () => {
    await server.psql('postgres', { sql: 'ALTER DATABASE copy OWNER TO maker' });
    await server.psql('source', {
      sql: `CREATE EXTENSION citext; CREATE SCHEMA more; CREATE TABLE more.person (id integer); CREATE MATERIALIZED VIEW run AS SELECT session_user::text AS role`,
    });
    await build(contextFor(), { target: 'app', cpus: 1 });
    const { plan } = await load({}, 'maker');
    expect(plan).toMatchObject({ restored_by: 'temporary_user' });
    expect((await server.psql('copy', { sql: `SELECT role ~ '^tool-load-' FROM run` })).trim()).toBe('t');
    const owners = `SELECT string_agg(DISTINCT relowner::regrole::text, ' ') FROM pg_class c WHERE oid >= 16384`;
    expect((await server.psql('copy', { sql: owners })).trim()).toBe('maker');
    expect((await server.psql('postgres', { sql: ROLES })).trim()).toBe('maker plain postgres');
  }, 60_000);

  it('leaves no role when the load is killed: the next load drops it', async () => {
    await server.psql('source', { sql: `CREATE TABLE person (id integer)` });
    await build(contextFor(), { target: 'app', cpus: 1 });
    await server.psql('postgres', {
      sql: `CREATE ROLE "tool-load-0123456789abcdef" LOGIN; COMMENT ON ROLE "tool-load-0123456789abcdef" IS '{"tool":"new","of":"copy"}';
        CREATE ROLE "tool-load-0123456789abcde0" LOGIN; COMMENT ON ROLE "tool-load-0123456789abcde0" IS '{"tool":"new","of":"other"}'`,
    });
    await load();
    expect((await server.psql('postgres', { sql: ROLES })).trim()).toBe(
      'maker plain postgres tool-load-0123456789abcde0',
    );
    await server.psql('postgres', { sql: 'DROP ROLE "tool-load-0123456789abcde0"' });
  }, 60_000);

  it('loads only what differs without its rights as well', async () => {
    await server.psql('source', {
      sql: `CREATE TABLE person (id integer PRIMARY KEY, note text); INSERT INTO person VALUES (1, 'x');
        CREATE TABLE other (id integer PRIMARY KEY); INSERT INTO other VALUES (1);
        CREATE MATERIALIZED VIEW run AS SELECT session_user::text AS role, count(*) FROM person`,
    });
    await build(contextFor(), { target: 'app', cpus: 1 });
    await load({ keepBase: true });
    await server.psql('source', { sql: `INSERT INTO person VALUES (2, 'y')` });
    await build(contextFor(), { target: 'app', cpus: 1 });
    const { plan } = await load({ keepBase: true });
    expect(plan).toMatchObject({ restored_by: 'temporary_user', difference: { method: 'difference' } });
    expect((await server.psql('copy', { sql: `SELECT role ~ '^tool-load-', count FROM run` })).trim()).toBe('t|2');
    const owners = `SELECT string_agg(DISTINCT relowner::regrole::text, ' ') FROM pg_class WHERE oid >= 16384`;
    expect((await server.psql('copy', { sql: owners })).trim()).toBe('postgres');
    expect((await server.psql('postgres', { sql: ROLES })).trim()).toBe('maker plain postgres');
  }, 60_000);

  it('runs without its rights in an event trigger of a base copy, and does not see the load', async () => {
    await server.psql('source', {
      sql: `CREATE TABLE person (id integer PRIMARY KEY, note text); INSERT INTO person VALUES (1, 'x');
        CREATE TABLE other (id integer PRIMARY KEY REFERENCES person); INSERT INTO other VALUES (1);
        CREATE TABLE told (what text, who text);
        CREATE FUNCTION tell() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
          IF current_database() = 'source' THEN RETURN; END IF;
          INSERT INTO public.told VALUES (tg_tag, current_user);
          IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN CREATE ROLE evil SUPERUSER; END IF; END $$;
        CREATE EVENT TRIGGER tell ON ddl_command_start EXECUTE FUNCTION tell(); ALTER EVENT TRIGGER tell ENABLE ALWAYS`,
    });
    await build(contextFor(), { target: 'app', cpus: 1 });
    await load({ keepBase: true });
    await server.psql('source', { sql: `INSERT INTO person VALUES (2, 'y')` });
    await build(contextFor(), { target: 'app', cpus: 1 });
    const { plan } = await load({ keepBase: true });
    expect((await server.psql('postgres', { sql: ROLES })).trim()).toBe('maker plain postgres');
    expect(plan).toMatchObject({ restored_by: 'temporary_user', difference: { method: 'difference' } });
    expect(await server.psql('copy', { sql: 'SELECT * FROM told' })).toBe('');
    expect((await server.psql('copy', { sql: 'SELECT evtenabled FROM pg_event_trigger' })).trim()).toBe('A');
  }, 60_000);
});
