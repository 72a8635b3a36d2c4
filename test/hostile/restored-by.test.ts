import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { build } from '../../src/operations/build/build.ts';
import { applySanitize, planSanitize, type SanitizeRequest } from '../../src/operations/sanitize/sanitize.ts';
import { sanitizeQuestion } from '../../src/operations/sanitize/text.ts';
import { applySubset, planSubset } from '../../src/operations/subset/subset.ts';
import type { SubsetRequest } from '../../src/operations/subset/subset-setting.ts';
import { subsetQuestion } from '../../src/operations/subset/text.ts';
import type { Context } from '../../src/runtime/context.ts';
import { describeWithMysql, startMysql, type TestFlavour, type TestMysql } from '../helpers/mysql/mysql-server.ts';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
  testContext,
} from '../helpers/postgres/postgres-server.ts';

interface Work {
  source: string;
  destination: string;
  folder: string;
  table: string;
}

function contextFor({ source, destination, folder, table }: Work): Context {
  const file = join(folder, 'query.sql');
  return testContext({
    settings: {
      working_directory: folder,
      targets: {
        app: {
          snapshot: { src_url: source },
          sanitize: { query_file: file, dst_url: destination },
          subset: { src_url: source, dst_url: destination, copy_tables: [table] },
        },
      },
    },
  });
}

async function subset(context: Context, request: Partial<SubsetRequest> = {}) {
  const planned = await planSubset(context, { target: 'app', ...request });
  await applySubset(context, planned);
  return { plan: planned.plan, facts: subsetQuestion(planned.plan).facts };
}

async function sanitize(context: Context, folder: string, request: Partial<SanitizeRequest> = {}) {
  await writeFile(join(folder, 'query.sql'), `UPDATE person SET note = 'none'`);
  await build(context, { target: 'app', cpus: 1 });
  const planned = await planSanitize(context, { target: 'app', cpus: 1, ...request });
  await applySanitize(context, planned);
  return { plan: planned.plan, facts: sanitizeQuestion(planned.plan, context.clock()).facts };
}

const TEMPORARY = {
  plan: { restored_by: 'temporary_user', restored_by_reason: 'it has no rights outside the shadow database' },
  facts: expect.arrayContaining([expect.objectContaining({ name: 'Restored by', brief: 'a temporary user' })]),
};
const LOADING = {
  plan: { restored_by: 'loading_user', restored_by_reason: '--allow-superuser was given' },
  facts: expect.arrayContaining([
    expect.objectContaining({ name: 'Restored by', brief: 'the loading user: --allow-superuser was given' }),
  ]),
};

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeEach(async () => {
  await folder?.[Symbol.asyncDispose]();
  folder = await temporaryFolder();
});
afterAll(async () => {
  await folder?.[Symbol.asyncDispose]();
});

const ROLES = `SELECT string_agg(rolname, ' ' ORDER BY rolname) FROM pg_roles WHERE rolname !~ '^pg_'`;

describeWithPostgres('code of PostgreSQL in a sanitization and a subset', () => {
  let server: TestPostgres;
  let context: Context;

  beforeAll(async () => {
    server = await startPostgres();
    await server.psql('postgres', {
      sql: `CREATE ROLE maker LOGIN CREATEDB CREATEROLE PASSWORD 'maker'; CREATE ROLE plain LOGIN CREATEDB PASSWORD 'plain'`,
    });
  }, 60_000);

  beforeEach(async () => {
    for (const name of ['source', 'copy', 'copy.tool-undo'])
      await server.psql('postgres', { sql: `DROP DATABASE IF EXISTS "${name}"` });
    await server.createDatabase('source');
    await server.psql('source', {
      sql: `CREATE SCHEMA ext; CREATE EXTENSION pageinspect SCHEMA ext; CREATE SCHEMA own;
        CREATE TABLE person (id integer PRIMARY KEY, note text); INSERT INTO person VALUES (1, 'x');
        CREATE TABLE own.more (id integer REFERENCES person, photo oid); INSERT INTO own.more VALUES (1, lo_from_bytea(0, 'one'));
        ALTER TABLE own.more ENABLE ROW LEVEL SECURITY; ALTER TABLE own.more FORCE ROW LEVEL SECURITY;
        CREATE MATERIALIZED VIEW run AS SELECT session_user::text AS role;
        CREATE FUNCTION tell() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END'`,
    });
    context = contextFor(work());
  });

  afterAll(async () => {
    await server?.stop();
  });

  function work(user?: string): Work {
    const destination = server.url('copy').replace(/\/\/[^@]*@/, user ? `//${user}:${user}@` : '$&');
    return { source: server.url('source'), destination, folder: folder.path, table: 'public.person' };
  }

  const runBy = async (): Promise<string> =>
    (await server.psql('copy', { sql: `SELECT role ~ '^tool-load-[0-9a-f]{16}$' FROM run` })).trim();
  const owners = `SELECT string_agg(DISTINCT owner::regrole::text, ' ') FROM (SELECT relowner AS owner FROM pg_class WHERE oid >= 16384
    UNION SELECT nspowner FROM pg_namespace WHERE oid >= 16384 UNION SELECT extowner FROM pg_extension WHERE oid >= 16384 UNION SELECT evtowner FROM pg_event_trigger
    UNION SELECT lomowner FROM pg_largeobject_metadata) o`;

  const refusesRole = `
    CREATE FUNCTION act() RETURNS void LANGUAGE plpgsql AS $act$
      BEGIN IF current_database() <> 'source' THEN CREATE ROLE evil SUPERUSER; END IF; END $act$;
    CREATE FUNCTION attack(i integer) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS $attack$
      BEGIN PERFORM public.act(); RETURN i; END $attack$;
    ALTER TABLE person ADD CHECK (public.attack(id) = id)`;

  it('runs as a login of its own in a subset, which the plan names and which is gone afterwards', async () => {
    await server.psql('source', { sql: 'CREATE EVENT TRIGGER told ON ddl_command_end EXECUTE FUNCTION tell()' });
    expect(await subset(context)).toMatchObject(TEMPORARY);
    expect(await runBy()).toBe('t');
    expect((await server.psql('copy', { sql: owners })).trim()).toBe('postgres');
    const contents = 'SELECT note, (SELECT count(*) FROM own.more), (SELECT evtname FROM pg_event_trigger) FROM person';
    expect((await server.psql('copy', { sql: contents })).trim()).toBe('x|0|told');
    expect((await server.psql('postgres', { sql: ROLES })).trim()).toBe('maker plain postgres');
  }, 60_000);

  it('has no rights outside the shadow database of a subset', async () => {
    await server.psql('source', { sql: refusesRole });
    await expect(subset(context)).rejects.toMatchObject({ code: 'restore_failed', exit: 1 });
    expect((await server.psql('postgres', { sql: ROLES })).trim()).toBe('maker plain postgres');
    expect(await server.databases()).toEqual(['postgres', 'source']);
  }, 60_000);

  it('runs with the rights of the loading role in a subset where it is told to, and the plan says so', async () => {
    expect(await subset(context, { allowSuperuser: true })).toMatchObject(LOADING);
    expect(await runBy()).toBe('f');
  }, 60_000);

  it('runs with those of a superuser in a subset of what only a superuser may create, and the plan says so', async () => {
    await server.psql('source', {
      sql: `CREATE FUNCTION native(float8) RETURNS float8 LANGUAGE internal STRICT AS 'dsqrt'`,
    });
    const { plan } = await subset(context);
    expect(plan).toMatchObject({
      restored_by: 'loading_user',
      restored_by_reason: expect.stringContaining('public.native'),
    });
  }, 60_000);

  it.each([
    ['maker', 'temporary_user', 't'],
    ['plain', 'loading_user', 'f'],
  ])(
    'is restored for %s, who is no superuser, by the %s',
    async (user, restored_by, own) => {
      await server.psql('source', { sql: 'DROP EXTENSION pageinspect' });
      expect(await subset(contextFor(work(user)))).toMatchObject({ plan: { restored_by } });
      expect(await runBy()).toBe(own);
      expect((await server.psql('copy', { sql: owners })).trim()).toBe(user);
    },
    60_000,
  );

  it('runs as a login of its own in a sanitization, which the plan names', async () => {
    expect(await sanitize(context, folder.path)).toMatchObject(TEMPORARY);
    expect(await runBy()).toBe('t');
    expect(await sanitize(context, folder.path, { allowSuperuser: true })).toMatchObject(LOADING);
    const { plan } = await sanitize(context, folder.path, { ephemeral: true });
    expect(plan).toMatchObject({ restored_by: 'temporary_user', restored_by_reason: expect.stringMatching(/server$/) });
  }, 60_000);
});

describe.each<TestFlavour>(['mariadb', 'mysql'])('on %s', (flavour) => {
  describeWithMysql(flavour, { name: 'code in a sanitization and a subset' }, () => {
    let server: TestMysql;
    let context: Context;

    beforeAll(async () => {
      server = await startMysql(flavour, ['--local-infile=ON', '--log-bin-trust-function-creators=ON']);
    }, 120_000);

    beforeEach(async () => {
      await server.sql('', 'DROP DATABASE IF EXISTS source', 'DROP DATABASE IF EXISTS copy', 'CREATE DATABASE source');
      await server.sql(
        'source',
        'CREATE TABLE person (id INT PRIMARY KEY AUTO_INCREMENT, note TEXT)',
        'CREATE TABLE child (id INT, person INT, KEY (person), CONSTRAINT c FOREIGN KEY (person) REFERENCES person (id))',
        "INSERT INTO person (note) VALUES ('one'), ('two')",
        'CREATE FUNCTION f(a INT) RETURNS INT DETERMINISTIC RETURN a + 1',
        'CREATE VIEW v AS SELECT f(id) AS next FROM person',
        'CREATE TRIGGER t BEFORE INSERT ON child FOR EACH ROW SET NEW.id = f(NEW.id)',
        'CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO DELETE FROM child',
      );
      const [source, destination] = [server.url('source'), server.url('copy')];
      context = contextFor({ source, destination, folder: folder.path, table: 'source.person' });
    });

    afterAll(async () => {
      await server?.stop();
    });

    async function usersWhile(work: () => Promise<void>): Promise<(string | undefined)[]> {
      await server.sql(
        '',
        "SET GLOBAL log_output = 'TABLE'",
        'TRUNCATE mysql.general_log',
        'SET GLOBAL general_log = ON',
      );
      await work();
      await server.sql('', 'SET GLOBAL general_log = OFF');
      const log = await server.sql<{ who: string; what: string }>(
        '',
        `SELECT CONVERT(user_host USING utf8mb4) AS who, CONVERT(argument USING utf8mb4) AS what FROM mysql.general_log
         WHERE command_type IN ('Query', 'Execute') ORDER BY event_time`,
      );
      const firsts = [/^CREATE TABLE .person/, /^(LOAD DATA|INSERT INTO .person)/, /^CREATE.* VIEW /];
      return firsts.map((first) =>
        log
          .find(({ what }) => first.test(what))
          ?.who.replace(/\[.*/, '')
          .replace(/-.*/, ''),
      );
    }

    const TOOL = ['tool', 'tool', 'tool'];
    const ROOT = ['root', 'root', 'root'];
    const USERS = "SELECT User AS name FROM mysql.user WHERE User LIKE 'tool-load-%'";

    it('is created by a user of its own in a subset, which the plan names and which is gone afterwards', async () => {
      expect(await usersWhile(async () => expect(await subset(context)).toMatchObject(TEMPORARY))).toEqual(TOOL);
      const rows = await server.sql('copy', 'SELECT COUNT(*) AS rows_, MAX(next) AS next FROM v');
      expect(rows.map((row) => Object.values(row).map(Number))).toEqual([[2, 3]]);
      expect(await server.sql('', USERS)).toEqual([]);
      expect((await server.databases()).filter((name) => name.includes('tool-new'))).toEqual([]);
      const told = { allowSuperuser: true };
      expect(await usersWhile(async () => expect(await subset(context, told)).toMatchObject(LOADING))).toEqual(ROOT);
    }, 60_000);

    it('is created by a user of its own in a sanitization, which the plan names', async () => {
      expect(
        await usersWhile(async () => expect(await sanitize(context, folder.path)).toMatchObject(TEMPORARY)),
      ).toEqual(TOOL);
      expect(await sanitize(context, folder.path, { allowSuperuser: true })).toMatchObject(LOADING);
    }, 60_000);
  });
});
