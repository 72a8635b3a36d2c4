import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { build } from '../../../src/operations/build/build.ts';
import { applySanitize, planSanitize, type SanitizeRequest } from '../../../src/operations/sanitize/sanitize.ts';
import type { Context } from '../../../src/runtime/context.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

/** Extensions that only a superuser may create, one in a schema of its own, one that needs another, and their comments. */
const EXTENSIONS = `
  CREATE SCHEMA ext; CREATE EXTENSION pageinspect SCHEMA ext; CREATE EXTENSION cube SCHEMA ext; CREATE EXTENSION earthdistance SCHEMA public;
  COMMENT ON EXTENSION pageinspect IS 'mine'; CREATE TABLE ext.box (id integer, at ext.cube); INSERT INTO ext.box VALUES (1, '(1,2)');
  CREATE SCHEMA only_ext; CREATE EXTENSION file_fdw SCHEMA only_ext`;

describeWithPostgres('a snapshot in a throw-away server', () => {
  const server = suiteResource(() => startPostgres());
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let outside: string;

  beforeEach(async () => {
    folder = await temporaryFolder();
    outside = await mkdtemp('/tmp/tool-test-outside-');
    await chmod(outside, 0o777);
    await server.psql('postgres', { sql: 'DROP DATABASE IF EXISTS source' });
    await server.createDatabase('source');
    await server.psql('source', {
      sql: `CREATE TABLE person (id integer PRIMARY KEY, note text); INSERT INTO person VALUES (1, 'x');
        ALTER TABLE person ENABLE ROW LEVEL SECURITY; ALTER TABLE person FORCE ROW LEVEL SECURITY`,
    });
  });

  afterEach(async () => {
    await folder?.[Symbol.asyncDispose]();
    await rm(outside, { recursive: true, force: true });
  });

  function contextFor(query: string): Context {
    const snapshot = { src_url: server.url('source'), schema_config: { use_default_schema: false } };
    const target = { snapshot, sanitize: { override_query: query } };
    return testContext({ settings: { working_directory: folder.path, targets: { app: target } } });
  }

  async function run(query: string, request: Partial<SanitizeRequest> = {}) {
    const context = contextFor(query);
    await build(context, { target: 'app' });
    return applySanitize(context, await planSanitize(context, { target: 'app', ephemeral: true, ...request }));
  }

  it('runs its code and the query as a role that reaches neither files nor programs of this machine', async () => {
    await server.psql('source', {
      sql: `CREATE FUNCTION leak() RETURNS integer LANGUAGE plpgsql AS
        $$ BEGIN EXECUTE 'COPY (SELECT 1) TO PROGRAM ''touch ${outside}/from-index'''; RETURN 1; EXCEPTION WHEN insufficient_privilege THEN RETURN 2; END $$;
        CREATE MATERIALIZED VIEW leaking AS SELECT leak() WITH NO DATA`,
    });
    const { coverage } = await run(
      `REFRESH MATERIALIZED VIEW leaking; UPDATE person SET note = current_user || (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)`,
    );
    expect(coverage.tables).toContainEqual(expect.objectContaining({ name: 'public.person', state: 'changed' }));
    expect(await readdir(outside)).toEqual([]);
    await expect(run(`COPY (SELECT 1) TO PROGRAM 'touch ${outside}/x'`)).rejects.toMatchObject({
      code: 'query_failed',
      hint: expect.stringContaining('--allow-superuser'),
    });
    await expect(run(`ALTER ROLE CURRENT_USER SUPERUSER`)).rejects.toMatchObject({ exit: 3 });
    expect(await readdir(outside)).toEqual([]);
  }, 60_000);

  it('has its extensions, of which most need a superuser, and all else belongs to the plain role', async () => {
    await server.psql('source', { sql: EXTENSIONS });
    const { snapshot } = await run(
      `SELECT 1 / (NOT rolsuper)::integer FROM pg_roles WHERE rolname = current_user; UPDATE ext.box SET at = ext.cube_enlarge(at, 1, 2)`,
    );
    expect(snapshot).toMatchObject({ sanitized: true, rows: 2 });
  }, 60_000);

  it('a snapshot that needs more rights is restored only when the user allows them', async () => {
    await server.psql('source', {
      sql: `CREATE FUNCTION native(double precision) RETURNS double precision LANGUAGE internal STRICT AS 'dsqrt'`,
    });
    await expect(run(`UPDATE person SET note = 'y'`)).rejects.toMatchObject({
      code: 'restore_failed',
      hint: expect.stringContaining('--allow-superuser'),
    });
    const { snapshot } = await run(`UPDATE person SET note = 'y'`, { allowSuperuser: true });
    expect(snapshot.sanitized).toBe(true);
  }, 60_000);
});
