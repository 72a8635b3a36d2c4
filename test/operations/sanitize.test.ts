import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Context } from '../../src/context.ts';
import type { RunEvent } from '../../src/events.ts';
import { build } from '../../src/operations/build.ts';
import { load, planLoad } from '../../src/operations/load.ts';
import { planSanitize, type SanitizeRequest, sanitize } from '../../src/operations/sanitize.ts';
import { findSnapshot, listSnapshots } from '../../src/operations/snapshots.ts';
import type { SanitizeResult } from '../../src/results.ts';
import { createObjectPool } from '../../src/snapshots/object-pool.ts';
import { createRepository, filesOf } from '../../src/snapshots/repository.ts';
import {
  describeWithPostgres,
  eventually,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
  testContext,
} from '../helpers/postgres-server.ts';

const FILL = `
  CREATE TABLE person (id integer PRIMARY KEY, first_name text, email text NOT NULL UNIQUE, note text);
  INSERT INTO person SELECT i, 'Ada', 'secret-' || i || '@real.example.org', 'likes tea' FROM generate_series(1, 500) i;
  CREATE TABLE city (id integer PRIMARY KEY, title text);
  INSERT INTO city SELECT i, 'City ' || i FROM generate_series(1, 50) i;
  CREATE TABLE login_log (at timestamptz NOT NULL, client_ip inet);
  INSERT INTO login_log SELECT now(), ('192.0.2.' || i)::inet FROM generate_series(1, 100) i;
  CREATE MATERIALIZED VIEW mailing AS SELECT email FROM person;
  CREATE TABLE audit (id serial, old_email text);
  CREATE FUNCTION make_batches() RETURNS void LANGUAGE sql AS 'SELECT 1';
  CREATE PROCEDURE in_batches() LANGUAGE plpgsql AS $$
    BEGIN UPDATE city SET title = 'Town ' || id WHERE id <= 25; COMMIT; UPDATE city SET title = 'Town ' || id WHERE id > 25; COMMIT; END $$`;

const MASK = `UPDATE person SET email = 'p' || id || '@example.com', first_name = 'Person ' || id; TRUNCATE login_log;`;

describeWithPostgres('sanitizing a snapshot', () => {
  let server: TestPostgres;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let events: RunEvent[];

  beforeAll(async () => {
    server = await startPostgres();
    await server.createDatabase('source');
    await server.psql('source', { sql: FILL });
  }, 60_000);

  beforeEach(async () => {
    await folder?.[Symbol.asyncDispose]();
    folder = await temporaryFolder();
    events = [];
    for (const name of await server.databases()) {
      if (name.startsWith('clean')) await server.psql('postgres', { sql: `DROP DATABASE "${name}" WITH (FORCE)` });
    }
    await build(contextOf(), { target: 'app' });
  });

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  interface Change {
    query?: string;
    sanitize?: object;
    signal?: AbortSignal;
    user?: string;
  }

  function contextOf({ query = MASK, sanitize: change = {}, signal, user }: Change = {}): Context {
    const clean = user ? server.url('clean').replace(/\/\/.*@/, `//${user}@`) : server.url('clean');
    const target = {
      snapshot: { src_url: server.url('source'), dst_url: server.url('copy') },
      sanitize: { dst_url: clean, override_query: query, ...change },
    };
    const settings = { working_directory: folder.path, targets: { app: target } };
    return testContext({ settings, events, ...(signal && { signal }) });
  }

  async function run(context: Context, request: Partial<SanitizeRequest> = {}): Promise<SanitizeResult> {
    return sanitize(context, await planSanitize(context, { target: 'app', ...request }));
  }

  /** The original is the only snapshot, and the server has the databases that it had. */
  async function expectNothingPublished(databases = ['postgres', 'source']): Promise<void> {
    const { snapshots } = await listSnapshots(contextOf(), 'app');
    expect(snapshots).toEqual([expect.objectContaining({ index: 0, sanitized: false })]);
    expect(await server.databases()).toEqual(databases);
    expect(await readdir(join(folder.path, 'staging'))).toEqual([]);
  }

  it('stores the result beside the original, which loads take unless the original is asked for', async () => {
    const result = await run(contextOf());
    expect(result).toMatchObject({
      snapshot: { index: 0, sanitized: true, sanitized_of: result.original.id, rows: 550 },
      original: { index: 0, sanitized: false, rows: 650 },
      statements: 2,
      undo_database: null,
    });
    const { snapshots } = await listSnapshots(contextOf(), 'app');
    expect(snapshots.map(({ index, id }) => [index, id])).toEqual([
      [0, result.snapshot.id],
      [0, result.original.id],
    ]);
    const firstEmail = async (request: object): Promise<string> => {
      await load(contextOf(), await planLoad(contextOf(), { target: 'app', undo: false, ...request }));
      return server.psql('copy', { sql: 'SELECT email FROM person WHERE id = 1' });
    };
    expect(await firstEmail({})).toBe('p1@example.com\n');
    expect(await firstEmail({ original: true })).toBe('secret-1@real.example.org\n');
    expect(await firstEmail({ snapshot: result.original.id })).toBe('secret-1@real.example.org\n');
    await server.psql('postgres', { sql: 'DROP DATABASE copy' });
  });

  it('tells which tables the query changed, emptied and left, and which columns still look personal', async () => {
    const { coverage } = await run(contextOf({ query: "UPDATE person SET first_name = 'X'; TRUNCATE login_log" }));
    expect(coverage.tables).toEqual([
      { name: 'public.audit', state: 'untouched', rows_before: 0, rows_after: 0 },
      { name: 'public.city', state: 'untouched', rows_before: 50, rows_after: 50 },
      { name: 'public.login_log', state: 'emptied', rows_before: 100, rows_after: 0 },
      { name: 'public.person', state: 'changed', rows_before: 500, rows_after: 500 },
    ]);
    expect(coverage.findings).toEqual([
      expect.objectContaining({ column: 'public.person.email', kind: 'email', state: 'unchanged', values: 500 }),
    ]);
    expect(JSON.stringify(coverage)).not.toMatch(/secret-\d/);
  });

  it('finds values that a query has left in some rows, and those that it has only moved to others', async () => {
    const some = await run(
      contextOf({
        query: `${MASK} UPDATE city SET title = '' WHERE false; UPDATE person SET email = 'secret-' || id || '@real.example.org' WHERE id % 10 = 0`,
      }),
    );
    expect(some.coverage.findings).toEqual([
      expect.objectContaining({ column: 'public.person.email', state: 'partly' }),
    ]);
    const moved = await run(
      contextOf({
        query: `UPDATE person SET first_name = 'X'; TRUNCATE login_log; ALTER TABLE person DROP CONSTRAINT person_email_key;
          UPDATE person p SET email = o.email FROM person o WHERE o.id = 501 - p.id`,
      }),
    );
    expect(moved.coverage.findings).toEqual([
      expect.objectContaining({ column: 'public.person.email', state: 'unchanged' }),
    ]);
  });

  it('shares no object of a changed table with the original, and no e-mail of it is in any byte of the result', async () => {
    const { snapshot } = await run(contextOf());
    const { manifest } = await findSnapshot(contextOf(), { target: 'app', snapshot: snapshot.id });
    const { manifest: original } = await findSnapshot(contextOf(), { target: 'app', original: true });
    const changed = ['public.person', 'public.login_log'];
    const before = original.tables.filter(({ name }) => changed.includes(name)).map(({ file }) => file.sha256);
    expect(before).toHaveLength(2);
    expect(filesOf(manifest).filter(({ sha256 }) => before.includes(sha256))).toEqual([]);

    expect(await holds(filesOf(original), '@real.example.org')).toBe(true);
    expect(await holds(filesOf(manifest), '@real.example.org')).toBe(false);
    expect(await holds(filesOf(manifest), '@example.com')).toBe(true);
  });

  async function holds(files: ReturnType<typeof filesOf>, text: string): Promise<boolean> {
    const repository = createRepository({ directory: folder.path, report: () => {} });
    const pool = createObjectPool(1);
    let found = false;
    for (const file of files) {
      const parts: Uint8Array[] = [];
      for await (const part of pool.read(repository.object(file))) parts.push(part);
      found ||= Buffer.concat(parts).includes(text);
    }
    await pool.close();
    return found;
  }

  it('leaves no old value in the destination: not in views, statistics or dead rows', async () => {
    await run(contextOf());
    const sql = async (text: string): Promise<string> => (await server.psql('clean', { sql: text })).trim();
    expect(await sql("SELECT count(*) FROM mailing WHERE email LIKE '%real%'")).toBe('0');
    expect(await sql("SELECT count(*) FROM pg_stats WHERE histogram_bounds::text LIKE '%real.example%'")).toBe('0');
    await sql('CREATE EXTENSION pageinspect');
    const pages = `SELECT count(*) FROM generate_series(0, pg_relation_size('person') / 8192 - 1) n,
      LATERAL (SELECT get_raw_page('person', n::int) AS page) p
      WHERE position(convert_to('@real.example.org', 'UTF8') IN page) > 0`;
    expect(await sql(pages)).toBe('0');
  });

  it('runs statements that refuse a transaction after the others, in order', async () => {
    await run(
      contextOf({
        query: `VACUUM person; CALL in_batches(); ${MASK} CREATE INDEX CONCURRENTLY by_name ON person (first_name)`,
      }),
    );
    expect(await server.psql('clean', { sql: "SELECT count(*) FROM city WHERE title LIKE 'Town%'" })).toBe('50\n');
    expect(await server.psql('clean', { sql: "SELECT count(*) FROM pg_indexes WHERE indexname = 'by_name'" })).toBe(
      '1\n',
    );
  });

  it('names the statement that fails, publishes nothing and leaves the destination as it was', async () => {
    await server.createDatabase('clean');
    await server.psql('clean', { sql: 'CREATE TABLE mine (id integer)' });
    await expect(run(contextOf({ query: `${MASK}\n\nUPDATE nobody\nSET x = 1` }))).rejects.toMatchObject({
      code: 'query_failed',
      exit: 1,
      message: 'The sanitization query failed at statement 3 (line 3): UPDATE nobody SET x = 1',
      details: [expect.stringContaining('nobody'), 'SQLSTATE 42P01'],
    });
    expect(await server.psql('clean', { sql: 'SELECT count(*) FROM mine' })).toBe('0\n');
    await expectNothingPublished(['clean', 'postgres', 'source']);
  });

  it('checks deferred constraints at the end of the query', async () => {
    const query = `ALTER TABLE person ADD CONSTRAINT k UNIQUE (note) DEFERRABLE INITIALLY DEFERRED`;
    await expect(run(contextOf({ query }))).rejects.toMatchObject({ code: 'query_failed' });
    await expectNothingPublished();
  });

  const BAD_QUERIES = [
    { what: 'is empty but for a comment', query: '-- nothing', code: 'query_empty', exit: 3 },
    {
      what: 'drops every table',
      query: 'DROP TABLE person, city, login_log, audit CASCADE',
      code: 'nothing_left',
      exit: 1,
    },
    { what: 'drops the schema', query: 'DROP SCHEMA public CASCADE', code: 'schema_not_found', exit: 1 },
    { what: 'holds a command of psql', query: 'SELECT 1;\n\\! rm -rf /', code: 'query_refused', exit: 3 },
    {
      what: 'loses its connection',
      query: 'SELECT pg_terminate_backend(pg_backend_pid())',
      code: 'connection_lost',
      exit: 4,
    },
  ];

  it.each(BAD_QUERIES)('a query that $what is refused with $code', async ({ query, code, exit }) => {
    await expect(run(contextOf({ query }))).rejects.toMatchObject({ code, exit });
    await expectNothingPublished();
  });

  it('a query file that is not there, and no query at all, are errors of the configuration', async () => {
    const missing = { override_query: undefined, query_file: '/nowhere/query.sql' };
    await expect(run(contextOf({ sanitize: missing }))).rejects.toMatchObject({
      code: 'query_file_not_found',
      exit: 3,
    });
    await expect(run(contextOf({ sanitize: { override_query: undefined } }))).rejects.toMatchObject({
      code: 'query_missing',
      exit: 3,
    });
  });

  it('a query that runs for ever is cancelled, and leaves nothing', async () => {
    const cancelled = new AbortController();
    const context = contextOf({ query: 'SELECT pg_sleep(100000)', signal: cancelled.signal });
    const running = run(context);
    running.catch(() => {});
    const asleep = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    await eventually(async () => (await server.psql('postgres', { sql: asleep })) === '1\n');
    const reason = new Error('Ctrl-C');
    cancelled.abort(reason);
    await expect(running).rejects.toBe(reason);
    await expectNothingPublished();
    expect(await server.psql('postgres', { sql: asleep })).toBe('0\n');
  });

  it('a user that may not make databases is told so, and the destination stays as it is', async () => {
    await server.psql('postgres', { sql: "CREATE ROLE reader LOGIN PASSWORD 'reads'" });
    await expect(run(contextOf({ user: 'reader:reads' }))).rejects.toMatchObject({ code: 'may_not_create', exit: 1 });
    await server.createDatabase('clean', 'reader');
    await expect(run(contextOf({ user: 'reader:reads' }))).rejects.toMatchObject({ code: 'may_not_create', exit: 1 });
    await expectNothingPublished(['clean', 'postgres', 'source']);
  });

  it('a source is never a destination', async () => {
    await expect(run(contextOf({ sanitize: { dst_url: server.url('source') } }))).rejects.toMatchObject({
      code: 'destination_is_source',
      exit: 5,
    });
  });

  it('when strict publishes nothing while findings are neither changed nor kept by a comment', async () => {
    const query = `UPDATE person SET first_name = 'X'`;
    await expect(run(contextOf({ query }), { strict: true })).rejects.toMatchObject({
      code: 'personal_data_left',
      exit: 5,
      details: [expect.stringContaining('public.login_log.client_ip'), expect.stringContaining('public.person.email')],
    });
    await expectNothingPublished();
    const kept = `-- keep: public.login_log.client_ip of our own office\n-- keep: public.person.email invented\n${query}`;
    const { coverage } = await run(contextOf({ query: kept }), { strict: true });
    expect(coverage).toMatchObject({
      findings: [],
      acknowledged: [
        { column: 'public.login_log.client_ip', reason: 'of our own office' },
        { column: 'public.person.email', reason: 'invented' },
      ],
    });
  });

  it('is strict of itself where a share target loads what it stores', async () => {
    const context = contextOf({ query: `UPDATE person SET first_name = 'X'`, sanitize: { storage_profile: 'team' } });
    context.configuration.settings.targets.theirs = { share: { storage_profile_name: 'team' } };
    await expect(run(context)).rejects.toMatchObject({ code: 'personal_data_left' });
  });

  it('without a destination works in a throw-away database, of which nothing remains', async () => {
    const result = await run(contextOf(), { ephemeral: true });
    expect(result).toMatchObject({ destination: null, swap_ms: null, snapshot: { sanitized: true } });
    expect(await server.databases()).toEqual(['postgres', 'source']);
  });

  it('takes a new snapshot first when told to', async () => {
    const { original } = await run(contextOf(), { build: { note: 'fresh' } });
    expect(original).toMatchObject({ index: 0, note: 'fresh' });
    const { snapshots } = await listSnapshots(contextOf(), 'app');
    expect(snapshots.map(({ index, sanitized }) => ({ index, sanitized }))).toEqual([
      { index: 0, sanitized: true },
      { index: 0, sanitized: false },
      { index: 1, sanitized: false },
    ]);
  });

  it('sanitized again, a snapshot has the new result instead of the old one', async () => {
    const first = await run(contextOf());
    const second = await run(contextOf());
    const { snapshots } = await listSnapshots(contextOf(), 'app');
    expect(snapshots.map(({ id }) => id)).toEqual([second.snapshot.id, first.original.id]);
  });

  it('says beforehand which query won, its statements and where they run', async () => {
    await writeFile(join(folder.path, 'query.sql'), MASK);
    const change = { override_query: undefined, query_file: join(folder.path, 'query.sql') };
    const { plan } = await planSanitize(contextOf({ sanitize: change }), { target: 'app' });
    expect(plan).toMatchObject({
      query: {
        chosen_by: 'targets.app.sanitize.query_file',
        file: join(folder.path, 'query.sql'),
        statements: [
          { number: 1, line: 1 },
          { number: 2, line: 1, text: 'TRUNCATE login_log' },
        ],
      },
      destination: { database: 'clean', exists: false },
      strict: false,
    });
    await expectNothingPublished();
  });
});
