import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { anyClientTools } from '../../../src/engines/postgres/connection/tools.ts';
import { parsePostgresUrl } from '../../../src/engines/postgres/connection/url.ts';
import type { ArchiveDetails } from '../../../src/engines/postgres/dump/archive.ts';
import { findDifferences } from '../../../src/engines/postgres/restore/check.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import type { LoadRequest } from '../../../src/operations/load/planned-load.ts';
import { loadQuestion, loadSummary } from '../../../src/operations/load/text.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import { describeWithMysql, startMysql, type TestMysql } from '../../helpers/mysql/mysql-server.ts';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';

/** What a restore cannot create: `lax` finds nothing by the empty search_path. One batch has all tables. */
const SOURCE = `
  CREATE FUNCTION strict(integer) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1 > 0; END';
  CREATE FUNCTION lax(integer) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN strict($1); END';
  CREATE TABLE a_first (id serial PRIMARY KEY, filler text); INSERT INTO a_first (filler) SELECT repeat('x', 100) FROM generate_series(1, 500);
  CREATE TABLE culprit (id integer CHECK (lax(id))); INSERT INTO culprit VALUES (1), (2), (3);
  CREATE TABLE last_one (id integer REFERENCES a_first); INSERT INTO last_one SELECT generate_series(1, 7);
  CREATE INDEX last_index ON last_one (lax(id)); CREATE MATERIALIZED VIEW seen AS SELECT lax(1)`;

describeWithPostgres('a load that goes on after errors', () => {
  let server: TestPostgres;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeAll(async () => {
    folder = await temporaryFolder();
    server = await startPostgres();
    await server.createDatabase('app');
    await server.psql('app', { sql: SOURCE });
    await build(contextOf(), { target: 'app' });
  }, 60_000);

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  function contextOf(events: RunEvent[] = [], destination = 'app_dev') {
    const snapshot = { src_url: server.url('app'), dst_url: server.url(destination) };
    const settings = { working_directory: join(folder.path, 'work'), targets: { app: { snapshot } } };
    return testContext({ settings, events });
  }

  async function loadWith(request: Partial<LoadRequest>, events: RunEvent[] = []) {
    const context = contextOf(events);
    const planned = await planLoad(context, { target: 'app', cpus: 2, ...request });
    return { plan: planned.plan, result: await applyLoad(context, planned) };
  }

  async function shadows(): Promise<string[]> {
    return (await server.databases()).filter((name) => name.startsWith('app_dev.tool-new-'));
  }

  const MISSING = [
    'index public.last_index is missing',
    'populated materialized view public.seen is missing',
    'public.culprit: 0 rows, 3 in the manifest',
  ];

  it('keeps the rest for inspection, lists what is missing, and leaves the destination as it was', async () => {
    await server.createDatabase('app_dev');
    await server.psql('app_dev', { sql: 'CREATE TABLE before (id integer)' });
    await expect(loadWith({})).rejects.toMatchObject({ code: 'restore_failed' });
    expect(await shadows()).toEqual([]);

    const error = await loadWith({ keepGoing: 'inspect' }).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'restore_incomplete', exit: 1 });
    expect(error.message).toBe('The restored database lacks 2 objects and 3 rows of 1 table, so it was not swapped in');
    expect(error.details).toEqual(expect.arrayContaining(MISSING));
    expect(error.details.join('\n')).toMatch(/public\.culprit could not be loaded: .*strict\(integer\) does not exist/);
    expect(await server.psql('app_dev', { sql: 'SELECT count(*) FROM before' })).toBe('0\n');

    const [shadow = ''] = await shadows();
    expect(error.hint).toContain(shadow);
    const counts =
      'SELECT (SELECT count(*) FROM a_first), (SELECT count(*) FROM last_one), (SELECT count(*) FROM culprit)';
    expect(await server.psql(shadow, { sql: counts })).toBe('500|7|0\n');
    const mark = `SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = '${shadow}'`;
    expect(JSON.parse(await server.psql('postgres', { sql: mark }))).toMatchObject({ tool: 'new', of: 'app_dev' });
  });

  it('swaps only when that is requested, says what is missing, and removes what was kept for inspection', async () => {
    const kept = await shadows();
    const events: RunEvent[] = [];
    const { plan, result } = await loadWith({ keepGoing: 'swap' }, events);
    expect(loadQuestion(plan, new Date()).steps.join('\n')).toContain('List what is missing, and continue without it');
    expect(result.missing).toMatchObject({ objects: 2, tables: 1, rows: 3, differences: MISSING });
    expect(loadSummary(result, plan).problems.slice(0, 2)).toEqual(['Missing:', MISSING[0]]);
    expect(events).toContainEqual({
      event: 'warning',
      code: 'restore_incomplete',
      message: 'The restored database lacks 2 objects and 3 rows of 1 table',
    });
    expect(await server.psql('app_dev', { sql: 'SELECT count(*) FROM a_first' })).toBe('500\n');
    expect(await server.psql('app_dev.tool-undo', { sql: 'SELECT count(*) FROM before' })).toBe('0\n');
    expect(kept).toHaveLength(1);
    expect(await shadows()).toEqual([]);
  });

  it('is a load like any other where nothing is missing', async () => {
    await server.psql('app', {
      sql: 'ALTER FUNCTION lax(integer) SET search_path = public, pg_temp',
    });
    await build(contextOf(), { target: 'app' });
    const { result } = await loadWith({ keepGoing: 'inspect' });
    expect(result.missing).toBeUndefined();
    expect(await server.psql('app_dev', { sql: 'SELECT count(*) FROM culprit' })).toBe('3\n');
    expect(await server.dump('app_dev')).toBe(await server.dump('app'));
  });

  it('counts the tables of one statement singly where one of them is missing', async () => {
    await server.createDatabase('part');
    await server.psql('part', { sql: 'CREATE TABLE a AS SELECT generate_series(1, 3); CREATE TABLE c ()' });
    const names = ['a', 'b', 'c'];
    const file = (name: string) => ({ name, sha256: '', bytes: 0, stored_bytes: 0 });
    const tables = names.map((name) => ({ name: `public.${name}`, rows: 2, file: file(name) }));
    const data = names.map((table) => [table, { schema: 'public', table, columns: [], of_extension: false }]);
    const inventory = { objects: {}, sequences: [], large_objects: null };
    const details = { data: Object.fromEntries(data), inventory } as unknown as ArchiveDetails;
    const context = contextOf();
    const check = { tools: await anyClientTools(context), details, jobs: 1, leftOut: [] };
    const plan = { schemas: [], tables, empty: [] };
    const { rows } = await findDifferences(context, { ...check, url: parsePostgresUrl(server.url('part')), plan });
    expect(rows.map(({ table, found }) => [table, found])).toEqual([
      ['public.a', 3],
      ['public.b', null],
      ['public.c', 0],
    ]);
  });

  it('is refused in place', async () => {
    const planning = planLoad(contextOf(), { target: 'app', inPlace: true, keepGoing: 'inspect' });
    await expect(planning).rejects.toMatchObject({ code: 'keep_going_refused', exit: 1 });
  });
});

describeWithMysql('mariadb', { name: 'a load that goes on after errors' }, () => {
  let server: TestMysql;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeAll(async () => {
    folder = await temporaryFolder();
    server = await startMysql('mariadb');
  }, 120_000);

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  it('is refused with the reason', async () => {
    await server.createDatabase('app');
    await server.sql('app', 'CREATE TABLE t (id integer)');
    const snapshot = { src_url: server.url('app'), dst_url: server.url('app_dev') };
    const settings = { working_directory: join(folder.path, 'work'), targets: { app: { snapshot } } };
    const context = testContext({ settings });
    await build(context, { target: 'app' });
    await expect(planLoad(context, { target: 'app', keepGoing: 'inspect' })).rejects.toMatchObject({
      code: 'keep_going_refused',
      message: expect.stringContaining('renames every table'),
    });
    expect(await server.databases()).toEqual(['app']);
  });
});
