import { join } from 'node:path';
import pg from 'pg';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { findBaseCopies } from '../../../src/engines/postgres/branches/base-copies.ts';
import { withOpenBase } from '../../../src/engines/postgres/branches/in-place/open-base.ts';
import { connect } from '../../../src/engines/postgres/connection/connect.ts';
import { parsePostgresUrl } from '../../../src/engines/postgres/connection/url.ts';
import { findAuxiliaryDatabases } from '../../../src/engines/postgres/server/server.ts';
import { writeMark } from '../../../src/engines/postgres/swap/mark.ts';
import { applyBack, planBack } from '../../../src/operations/back/back.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { applyReset, planReset, type ResetRequest } from '../../../src/operations/reset/reset.ts';
import { resetQuestion, resetSummary } from '../../../src/operations/reset/text.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { normalized } from '../../helpers/databases/build-and-load.ts';
import { asData } from '../../helpers/fakes/as-data.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const FILL = `
  CREATE TABLE person (id serial PRIMARY KEY, name text UNIQUE, boss integer REFERENCES person ON DELETE CASCADE,
    doubled integer GENERATED ALWAYS AS (id * 2) STORED);
  INSERT INTO person (name, boss) SELECT 'person ' || i, nullif(i / 2, 0) FROM generate_series(1, 2000) i;
  CREATE TABLE owned (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, person integer REFERENCES person ON DELETE RESTRICT,
    number double precision, at timestamptz, tags text[]);
  INSERT INTO owned (person, number, at, tags) SELECT i, random(), now(), ARRAY['a"b', NULL, '\\x'] FROM generate_series(1, 500) i;
  CREATE TABLE log (line text); INSERT INTO log VALUES ('same'), ('same'), (NULL), (E'a\\tb\\nc\\\\d');
  CREATE TABLE nothing (); INSERT INTO nothing DEFAULT VALUES;
  CREATE TABLE "odd t" (t text, "value" text, r text); INSERT INTO "odd t" VALUES ('x', 'y', 'z');
  CREATE TABLE g (b integer, n integer, g integer, t integer, r text, s text, "at" integer, "rows" integer, fresh boolean, "all" text,
    found text, ids text, id text, "row" text, value text, q text, o integer, oid integer, pages integer) WITH (fillfactor = 10);
  INSERT INTO g SELECT i, i, i, i, repeat('r', 700) FROM generate_series(1, 300) i;
  CREATE FUNCTION heard() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN INSERT INTO public.log VALUES (TG_OP); RETURN coalesce(NEW, OLD); END $$;
  CREATE TRIGGER heard AFTER INSERT OR UPDATE OR DELETE ON owned FOR EACH ROW EXECUTE FUNCTION heard();
  CREATE TABLE masked (id integer, kept text); INSERT INTO masked VALUES (1, 'secret');
  CREATE FUNCTION shown(masked) RETURNS text LANGUAGE sql AS 'SELECT $1.id::text'; CREATE CAST (masked AS text) WITH FUNCTION shown(masked);
  CREATE FUNCTION written(interval) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1::text';
  CREATE TABLE spans (span interval, text text GENERATED ALWAYS AS (written(span)) STORED); INSERT INTO spans VALUES ('1 day');
  CREATE SEQUENCE unused; CREATE SEQUENCE counter; SELECT setval('counter', 42)`;

describeWithPostgres('a reset in place', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres({ intervalstyle: 'iso_8601' }));
  let events: RunEvent[] = [];
  let pristine: string;

  beforeAll(async () => {
    await server.createDatabase('source');
    await server.psql('source', { sql: FILL });
    await build(contextWith(), { target: 'app' });
    await load();
    pristine = await content();
  }, 60_000);

  beforeEach(() => {
    events = [];
  });

  function contextWith(before?: ('load' | 'agent')[]): Context {
    const app = { snapshot: { src_url: server.url('source'), dst_url: server.url('copy') } };
    const saves = { keep: 20, max_duration: 10, ...(before && { before }) };
    const settings = { working_directory: join(folder.path, 'work'), targets: { app }, saves };
    return testContext({ settings, events });
  }

  /** The place of a row in a file is no content. */
  const content = async () => normalized(await server.dump('copy')).join(';\n');
  const load = async () => applyLoad(contextWith(), await planLoad(contextWith(), { target: 'app', keepBase: true }));
  const sql = async (text: string, database = 'copy') => (await server.psql(database, { sql: text })).trim();
  const plan = async (request: Partial<ResetRequest> = {}) =>
    asData(await planReset(contextWith(), { target: 'app', undo: false, ...request }));
  const reset = async (request: Partial<ResetRequest> = {}) => applyReset(contextWith(), await plan(request));

  it('leaves the base copy usable after a reading that was refused beside a session that is about to end', async () => {
    await using session = await connect(contextWith(), parsePostgresUrl(server.url('postgres')), {});
    const base = async () => (await findAuxiliaryDatabases(session, 'copy')).base ?? expect.fail('no base copy');
    const url = parsePostgresUrl(server.url('copy'));
    const reading = async <Result>(work: () => Promise<Result>) =>
      withOpenBase(contextWith(), session, { url, base: await base(), work });
    const connected = await reading(() => connect(contextWith(), parsePostgresUrl(server.url('copy.tool-base')), {}));
    const lasting = connected ?? expect.fail('not alone');
    // As a session that a reading has opened.
    const { name, mark } = await base();
    await session.execute(writeMark(name, { ...mark, sessions: (mark.sessions ?? 0) + 1 }));
    expect(await reading(async () => 'read')).toBe(null);
    await lasting.close();
    const gone = `SELECT count(*) FROM pg_stat_activity WHERE datname = 'copy.tool-base'`;
    await expect.poll(() => sql(gone, 'postgres')).toBe('0');
    expect((await findBaseCopies(session, 'copy')).base).toMatchObject({ outdated: null });
    expect(await reading(async () => 'read')).toBe('read');
  });

  it('restores changed rows and sequences, and ends no session', async () => {
    const session = new pg.Client({ connectionString: server.url('copy') });
    await session.connect();
    for (let round = 0; round < 3; round += 1) {
      await sql(`UPDATE person SET name = 'new ' || id WHERE id % 500 = 7; DELETE FROM person WHERE id > 1990;
        DELETE FROM owned WHERE id IN (3, 4)`);
      await sql(`INSERT INTO person (name) VALUES ('extra'); INSERT INTO log VALUES ('same'); DELETE FROM nothing;
        UPDATE owned SET number = number + 1, tags = NULL WHERE id < 10; UPDATE "odd t" SET t = 'changed'; UPDATE g SET n = 0 WHERE b % 50 = 1; DELETE FROM g WHERE b = 77; SELECT nextval('unused')`);
      const planned = await plan();
      expect(planned.plan).toMatchObject({ way: 'in_place', undo: false, needs_bytes: 0 });
      expect(resetQuestion(planned.plan, new Date()).consequence).toMatch('Sessions go on. This cannot be undone.');
      const result = await applyReset(contextWith(), planned);
      expect(result).toMatchObject({ way: 'in_place', swap_ms: null, undo_database: null });
      expect(resetSummary(result, planned.plan)).toMatchObject({
        details: [expect.stringContaining('no session was ended')],
      });
      expect(await content()).toBe(pristine);
    }
    expect((await session.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    await session.end();
    expect(events.filter(({ event }) => event === 'warning')).toEqual([]);
    // The base copy is as good as before.
    expect(await reset({ copy: true })).toMatchObject({ way: 'copy' });
    expect(await content()).toBe(pristine);
  });

  const wayAfter = async (change: string) => {
    await sql(change);
    const planned = await plan();
    const done = await applyReset(contextWith(), planned);
    expect(await content()).toBe(pristine);
    return [planned.plan.way, planned.plan.way_reason, done.way].join(' | ');
  };
  const IN_PLACE = 'in_place | definitions are the same, and few rows have changed | in_place';

  it('also restores a table that was truncated, and finds no change where all was rolled back', async () => {
    expect(await wayAfter('TRUNCATE owned, log; INSERT INTO log VALUES (NULL)')).toBe(IN_PLACE);
    expect(await wayAfter('BEGIN; DELETE FROM log; SAVEPOINT a; TRUNCATE owned; ROLLBACK')).toBe(IN_PLACE);
    expect(await wayAfter('CREATE TEMPORARY TABLE mine (id integer); ANALYZE')).toBe(IN_PLACE);
    for (const vacuum of ['VACUUM', 'VACUUM FREEZE', 'VACUUM FULL person']) await sql(vacuum);
    expect(await wayAfter('DELETE FROM log')).toBe(IN_PLACE);
    expect(await wayAfter('ALTER TABLE log ADD more text; ALTER TABLE log DROP more')).toMatch(
      /^copy \| definitions have changed/,
    );
  });

  it('restores values exactly, whatever formats the role has set', async () => {
    await sql("ALTER ROLE postgres SET extra_float_digits = -3; ALTER ROLE postgres SET DateStyle = 'SQL, DMY'");
    expect(await wayAfter('UPDATE owned SET number = 0 WHERE id < 20')).toBe(IN_PLACE);
    await sql('ALTER ROLE postgres RESET ALL');
    expect(await wayAfter('DELETE FROM spans')).toMatch(/^in_place .* \| copy$/);
    expect(events).toContainEqual(
      expect.objectContaining({ message: 'Not reset in place: computed columns of spans have other values' }),
    );
    expect(await sql('SELECT text FROM spans')).toBe('P1D');
  });

  it('is by copy where anything else has changed, and tells what', async () => {
    const reasons: [string, string][] = [
      ['CREATE TABLE another (id integer)', 'definitions have changed'],
      ["COMMENT ON TABLE log IS 'changed'", 'definitions have changed'],
      [
        'CREATE UNLOGGED TABLE quick (id integer)',
        'it has tables that are unlogged, unreadable or not stored as usual',
      ],
      ["SELECT lo_from_bytea(4711, 'large')", 'large objects have changed'],
      ["INSERT INTO log SELECT 'many' FROM generate_series(1, 100001)", '100,001 rows have changed, which is too many'],
      ["UPDATE masked SET kept = 'lost'", 'a cast of its own converts rows of public.masked'],
      ["CREATE SUBSCRIPTION news CONNECTION '' PUBLICATION news WITH (connect = false)", 'it has a subscription'],
      ['CLUSTER person USING person_pkey', 'definitions have changed'],
      ['ALTER TABLE owned ENABLE ALWAYS TRIGGER heard; DELETE FROM owned WHERE id = 1', 'definitions have changed'],
    ];
    for (const [change, reason] of reasons) expect(await wayAfter(change)).toBe(`copy | ${reason} | copy`);
    expect((await plan({ copy: true })).plan).toMatchObject({ way: 'copy', way_reason: '--copy was given' });
    expect((await plan({ spare: true })).plan).toMatchObject({ way: 'copy', way_reason: 'a spare is wanted' });
  });

  it('waits a moment for other sessions, and is by copy where they keep a table locked', async () => {
    const session = new pg.Client({ connectionString: server.url('copy') });
    session.on('error', () => {});
    await session.connect();
    await session.query("BEGIN; INSERT INTO log VALUES ('open')");
    expect(await wayAfter("INSERT INTO log VALUES ('closed')")).toMatch(/^in_place .* \| copy$/);
    expect(events).toContainEqual(
      expect.objectContaining({
        code: 'reset_by_copy',
        message: 'Not reset in place: other sessions keep its tables locked',
      }),
    );
    await session.end().catch(() => {});
  });

  it('saves the present state first unless that is not wanted, and a return restores it', async () => {
    await sql("INSERT INTO log VALUES ('of mine')");
    const before = await content();
    const planned = asData(await planReset(contextWith(['load']), { target: 'app' }));
    expect(planned.plan).toMatchObject({ way: 'in_place', automatic_saves: [{ database: 'copy', before: 'load' }] });
    expect(resetQuestion(planned.plan, new Date()).consequence).toMatch('The present state is saved first.');
    expect(await applyReset(contextWith(['load']), planned)).toMatchObject({ way: 'in_place' });
    expect(await content()).toBe(pristine);
    await applyBack(contextWith(), await planBack(contextWith(), { target: 'app' }));
    expect(await content()).toBe(before);
  });

  it('is by copy for an owner without superuser rights', async () => {
    await sql("CREATE ROLE plain LOGIN CREATEDB PASSWORD 'plain'", 'postgres');
    await server.createDatabase('own', 'plain');
    const url = new URL(server.url('own'));
    [url.username, url.password] = ['plain', 'plain'];
    const snapshot = { src_url: server.url('source'), dst_url: url.href };
    const settings = { working_directory: join(folder.path, 'plain'), targets: { app: { snapshot } } };
    const context = testContext({ settings });
    await build(context, { target: 'app' });
    await applyLoad(context, await planLoad(context, { target: 'app', keepBase: true }));
    const planned = await planReset(context, { target: 'app', undo: false });
    expect(planned.plan).toMatchObject({ way: 'copy', way_reason: 'the role is no superuser, so triggers would fire' });
    await sql('DELETE FROM log', 'own');
    expect(await applyReset(context, planned)).toMatchObject({ way: 'copy' });
    expect(await sql('SELECT count(*) FROM log', 'own')).toBe('4');
  });

  it('is by copy into an undo copy where no automatic save is made', async () => {
    const planned = asData(await planReset(contextWith([]), { target: 'app' }));
    expect(planned.plan).toMatchObject({
      way: 'copy',
      undo: true,
      way_reason: 'the present state is kept as the undo copy',
    });
  });
});
