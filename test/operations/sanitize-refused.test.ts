import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWithPostgres, eventually } from '../helpers/postgres-server.ts';
import { MASK, type SanitizeFixture, startSanitizeFixture } from '../helpers/sanitize-fixture.ts';

describeWithPostgres('a sanitization that cannot or must not be', () => {
  let fixture: SanitizeFixture;

  beforeAll(async () => {
    fixture = await startSanitizeFixture();
  }, 60_000);

  beforeEach(() => fixture.reset());

  afterAll(() => fixture?.stop());

  it('names the statement that fails, publishes nothing and leaves the destination as it was', async () => {
    await fixture.server.createDatabase('clean');
    await fixture.server.psql('clean', { sql: 'CREATE TABLE mine (id integer)' });
    await expect(
      fixture.run(fixture.contextOf({ query: `${MASK}\n\nUPDATE nobody\nSET x = 1` })),
    ).rejects.toMatchObject({
      code: 'query_failed',
      exit: 1,
      message: 'The sanitization query failed at statement 3 (line 3): UPDATE nobody SET x = 1',
      details: [expect.stringContaining('nobody'), 'SQLSTATE 42P01'],
    });
    expect(await fixture.server.psql('clean', { sql: 'SELECT count(*) FROM mine' })).toBe('0\n');
    await fixture.expectNothingPublished(['clean', 'postgres', 'source']);
  });

  it('checks deferred constraints at the end of the query', async () => {
    const query = `ALTER TABLE person ADD CONSTRAINT k UNIQUE (note) DEFERRABLE INITIALLY DEFERRED`;
    await expect(fixture.run(fixture.contextOf({ query }))).rejects.toMatchObject({ code: 'query_failed' });
    await fixture.expectNothingPublished();
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
    await expect(fixture.run(fixture.contextOf({ query }))).rejects.toMatchObject({ code, exit });
    await fixture.expectNothingPublished();
  });

  it('a query file that is not there, and no query at all, are errors of the configuration', async () => {
    const missing = { override_query: undefined, query_file: '/nowhere/query.sql' };
    await expect(fixture.run(fixture.contextOf({ sanitize: missing }))).rejects.toMatchObject({
      code: 'query_file_not_found',
      exit: 3,
    });
    await expect(fixture.run(fixture.contextOf({ sanitize: { override_query: undefined } }))).rejects.toMatchObject({
      code: 'query_missing',
      exit: 3,
    });
  });

  it('a query that runs for ever is cancelled, and leaves nothing', async () => {
    const cancelled = new AbortController();
    const context = fixture.contextOf({ query: 'SELECT pg_sleep(100000)', signal: cancelled.signal });
    const running = fixture.run(context);
    running.catch(() => {});
    const asleep = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    await eventually(async () => (await fixture.server.psql('postgres', { sql: asleep })) === '1\n');
    const reason = new Error('Ctrl-C');
    cancelled.abort(reason);
    await expect(running).rejects.toBe(reason);
    await fixture.expectNothingPublished();
    expect(await fixture.server.psql('postgres', { sql: asleep })).toBe('0\n');
  });

  it('a user that may not make databases is told so, and the destination stays as it is', async () => {
    await fixture.server.psql('postgres', { sql: "CREATE ROLE reader LOGIN PASSWORD 'reads'" });
    await expect(fixture.run(fixture.contextOf({ user: 'reader:reads' }))).rejects.toMatchObject({
      code: 'may_not_create',
      exit: 1,
    });
    await fixture.server.createDatabase('clean', 'reader');
    await expect(fixture.run(fixture.contextOf({ user: 'reader:reads' }))).rejects.toMatchObject({
      code: 'may_not_create',
      exit: 1,
    });
    await fixture.expectNothingPublished(['clean', 'postgres', 'source']);
  });

  it('a source is never a destination', async () => {
    await expect(
      fixture.run(fixture.contextOf({ sanitize: { dst_url: fixture.server.url('source') } })),
    ).rejects.toMatchObject({
      code: 'destination_is_source',
      exit: 5,
    });
  });

  it('when strict publishes nothing while findings are neither changed nor kept by a comment', async () => {
    const query = `UPDATE person SET first_name = 'X'`;
    await expect(fixture.run(fixture.contextOf({ query }), { strict: true })).rejects.toMatchObject({
      code: 'personal_data_left',
      exit: 5,
      details: [expect.stringContaining('public.login_log.client_ip'), expect.stringContaining('public.person.email')],
    });
    await fixture.expectNothingPublished();
    const kept = `-- keep: public.login_log.client_ip of our own office\n-- keep: public.person.email invented\n${query}`;
    const { coverage } = await fixture.run(fixture.contextOf({ query: kept }), { strict: true });
    expect(coverage).toMatchObject({
      findings: [],
      acknowledged: [
        { column: 'public.login_log.client_ip', reason: 'of our own office' },
        { column: 'public.person.email', reason: 'invented' },
      ],
    });
  });

  it('is strict of itself where a share target loads what it stores', async () => {
    const context = fixture.contextOf({
      query: `UPDATE person SET first_name = 'X'`,
      sanitize: { storage_profile: 'team' },
    });
    const nowhere = { endpoint: 'http://127.0.0.1:1', access_key: 'a', secret_key: 'b' };
    context.configuration.settings.storage_profiles = { team: { provider: 'minio', bucket: 'team', ...nowhere } };
    context.configuration.settings.targets.theirs = { share: { storage_profile_name: 'team' } };
    await expect(fixture.run(context)).rejects.toMatchObject({ code: 'personal_data_left' });
  });
});
