import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { planSanitize } from '../../../src/operations/sanitize/sanitize.ts';
import { listSnapshots } from '../../../src/operations/snapshots/snapshots.ts';
import { MASK, startSanitizeFixture } from '../../helpers/databases/sanitize-fixture.ts';
import { describeWithPostgres } from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

// What holds on every engine is in test/contracts/sanitizer.ts.
describeWithPostgres('sanitizing a snapshot of PostgreSQL', () => {
  const fixture = suiteResource(startSanitizeFixture);

  beforeEach(() => fixture.reset());

  it('finds values that a query has left in some rows, and those that it has only moved to others', async () => {
    const some = await fixture.run(
      fixture.contextOf({
        query: `${MASK} UPDATE city SET title = '' WHERE false; UPDATE person SET email = 'secret-' || id || '@real.example.org' WHERE id % 10 = 0`,
      }),
    );
    expect(some.coverage.findings).toEqual([
      expect.objectContaining({ column: 'public.person.email', state: 'partly' }),
    ]);
    // Stored with the snapshot, in numbers.
    const { columns, changed, kept, unchanged } = some.snapshot.coverage ?? {};
    expect({ unchanged, kept, rest: (columns ?? 0) - (changed ?? 0) }).toEqual({
      ...{ unchanged: ['public.person.email'], kept: some.coverage.acknowledged.length },
      rest: 1 + some.coverage.acknowledged.length,
    });
    expect(JSON.stringify(some.snapshot.coverage)).not.toContain('@');
    const moved = await fixture.run(
      fixture.contextOf({
        query: `UPDATE person SET first_name = 'X'; TRUNCATE login_log; ALTER TABLE person DROP CONSTRAINT person_email_key;
          UPDATE person p SET email = o.email FROM person o WHERE o.id = 501 - p.id`,
      }),
    );
    expect(moved.coverage.findings).toEqual([
      expect.objectContaining({ column: 'public.person.email', state: 'unchanged' }),
    ]);
  });

  it('leaves no old value in the destination: not in views, statistics or dead rows', async () => {
    await fixture.run(fixture.contextOf());
    const sql = async (text: string): Promise<string> => (await fixture.server.psql('clean', { sql: text })).trim();
    expect(await sql("SELECT count(*) FROM mailing WHERE email LIKE '%real%'")).toBe('0');
    expect(await sql("SELECT count(*) FROM pg_stats WHERE histogram_bounds::text LIKE '%real.example%'")).toBe('0');
    await sql('CREATE EXTENSION pageinspect');
    const pages = `SELECT count(*) FROM generate_series(0, pg_relation_size('person') / 8192 - 1) n,
      LATERAL (SELECT get_raw_page('person', n::int) AS page) p
      WHERE position(convert_to('@real.example.org', 'UTF8') IN page) > 0`;
    expect(await sql(pages)).toBe('0');
  });

  it('runs statements that refuse a transaction after the others, in order', async () => {
    await fixture.run(
      fixture.contextOf({
        query: `VACUUM person; CALL in_batches(); ${MASK} CREATE INDEX CONCURRENTLY by_name ON person (first_name)`,
      }),
    );
    expect(await fixture.server.psql('clean', { sql: "SELECT count(*) FROM city WHERE title LIKE 'Town%'" })).toBe(
      '50\n',
    );
    expect(
      await fixture.server.psql('clean', { sql: "SELECT count(*) FROM pg_indexes WHERE indexname = 'by_name'" }),
    ).toBe('1\n');
  });

  it('takes a new snapshot first when told to', async () => {
    const { original } = await fixture.run(fixture.contextOf(), { build: { note: 'fresh' } });
    expect(original).toMatchObject({ index: 0, note: 'fresh' });
    const { snapshots } = await listSnapshots(fixture.contextOf(), 'app');
    expect(snapshots.map(({ index, sanitized }) => ({ index, sanitized }))).toEqual([
      { index: 0, sanitized: true },
      { index: 0, sanitized: false },
      { index: 1, sanitized: false },
    ]);
  });

  it('sanitized again, a snapshot has the new result instead of the old one', async () => {
    const first = await fixture.run(fixture.contextOf());
    const second = await fixture.run(fixture.contextOf());
    const { snapshots } = await listSnapshots(fixture.contextOf(), 'app');
    expect(snapshots.map(({ id }) => id)).toEqual([second.snapshot.id, first.original.id]);
    // The query of each is on this machine, readable by its owner only, for as long as the snapshot is.
    const [{ query_file = '' } = {}, original] = snapshots;
    expect(original).not.toHaveProperty('query_file');
    expect(await readFile(query_file, 'utf8')).toContain('TRUNCATE login_log;\n');
    expect((await stat(query_file)).mode & 0o077).toBe(0);
    expect(await readdir(dirname(query_file))).toEqual([`${second.snapshot.id}.sql`]);
  });

  it('plans with the chosen query, its statements and where they run', async () => {
    await writeFile(join(fixture.directory(), 'query.sql'), MASK);
    const change = { override_query: undefined, query_file: join(fixture.directory(), 'query.sql') };
    const { plan } = await planSanitize(fixture.contextOf({ sanitize: change }), { target: 'app' });
    expect(plan).toMatchObject({
      query: {
        chosen_by: 'targets.app.sanitize.query_file',
        file: join(fixture.directory(), 'query.sql'),
        statements: [
          { number: 1, line: 1 },
          { number: 2, line: 1, text: 'TRUNCATE login_log' },
        ],
      },
      destination: { database: 'clean', exists: false },
      strict: false,
    });
    await fixture.expectNothingPublished();
  });
});
