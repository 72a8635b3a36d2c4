import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { RunEvent } from '../../src/events.ts';
import { load, planLoad } from '../../src/operations/load.ts';
import { planSanitize } from '../../src/operations/sanitize.ts';
import { findSnapshot, listSnapshots } from '../../src/operations/snapshots.ts';
import { filesOf } from '../../src/snapshots/catalogue.ts';
import { createObjectPool } from '../../src/snapshots/object-pool.ts';
import { createRepository } from '../../src/snapshots/repository.ts';
import { describeWithPostgres } from '../helpers/postgres-server.ts';
import { MASK, type SanitizeFixture, startSanitizeFixture } from '../helpers/sanitize-fixture.ts';

describeWithPostgres('sanitizing a snapshot', () => {
  let fixture: SanitizeFixture;

  beforeAll(async () => {
    fixture = await startSanitizeFixture();
  }, 60_000);

  beforeEach(() => fixture.reset());

  afterAll(() => fixture?.stop());

  it('stores the result beside the original, which loads take unless the original is asked for', async () => {
    const result = await fixture.run(fixture.contextOf());
    expect(result).toMatchObject({
      snapshot: { index: 0, sanitized: true, sanitized_of: result.original.id, rows: 550 },
      original: { index: 0, sanitized: false, rows: 650 },
      statements: 2,
      undo_database: null,
    });
    const { snapshots } = await listSnapshots(fixture.contextOf(), 'app');
    expect(snapshots.map(({ index, id }) => [index, id])).toEqual([
      [0, result.snapshot.id],
      [0, result.original.id],
    ]);
    const firstEmail = async (request: object): Promise<string> => {
      await load(fixture.contextOf(), await planLoad(fixture.contextOf(), { target: 'app', undo: false, ...request }));
      return fixture.server.psql('copy', { sql: 'SELECT email FROM person WHERE id = 1' });
    };
    expect(await firstEmail({})).toBe('p1@example.com\n');
    expect(await firstEmail({ original: true })).toBe('secret-1@real.example.org\n');
    expect(await firstEmail({ snapshot: result.original.id })).toBe('secret-1@real.example.org\n');
  });

  it('tells which tables the query changed, emptied and left, and which columns still look personal', async () => {
    const { coverage } = await fixture.run(
      fixture.contextOf({ query: "UPDATE person SET first_name = 'X'; TRUNCATE login_log" }),
    );
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
    const some = await fixture.run(
      fixture.contextOf({
        query: `${MASK} UPDATE city SET title = '' WHERE false; UPDATE person SET email = 'secret-' || id || '@real.example.org' WHERE id % 10 = 0`,
      }),
    );
    expect(some.coverage.findings).toEqual([
      expect.objectContaining({ column: 'public.person.email', state: 'partly' }),
    ]);
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

  it('shares no object of a changed table with the original, and no e-mail of it is in any byte of the result', async () => {
    const { snapshot } = await fixture.run(fixture.contextOf());
    const { manifest } = await findSnapshot(fixture.contextOf(), { target: 'app', snapshot: snapshot.id });
    const { manifest: original } = await findSnapshot(fixture.contextOf(), { target: 'app', original: true });
    const changed = ['public.person', 'public.login_log'];
    const before = original.tables.filter(({ name }) => changed.includes(name)).map(({ file }) => file.sha256);
    expect(before).toHaveLength(2);
    expect(filesOf(manifest).filter(({ sha256 }) => before.includes(sha256))).toEqual([]);

    expect(await holds(filesOf(original), '@real.example.org')).toBe(true);
    expect(await holds(filesOf(manifest), '@real.example.org')).toBe(false);
    expect(await holds(filesOf(manifest), '@example.com')).toBe(true);
  });

  async function holds(files: ReturnType<typeof filesOf>, text: string): Promise<boolean> {
    const repository = createRepository({ directory: fixture.directory(), report: () => {} });
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

  it('tells nobody a value: not the log of statements, not the steps, not the result', async () => {
    const events: RunEvent[] = [];
    const query = "UPDATE person SET first_name = 'X'";
    const result = await fixture.run(fixture.contextOf({ query, events }));
    expect(result.coverage.findings).not.toEqual([]);
    expect(events.filter(({ event }) => event === 'statement').length).toBeGreaterThan(20);
    expect(JSON.stringify([events, result])).not.toMatch(/secret-\d|192\.0\.2\./);
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

  it('without a destination works in a throw-away database, of which nothing remains', async () => {
    const result = await fixture.run(fixture.contextOf(), { ephemeral: true });
    expect(result).toMatchObject({ destination: null, swap_ms: null, snapshot: { sanitized: true } });
    expect(await fixture.server.databases()).toEqual(['postgres', 'source']);
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
  });

  it('says beforehand which query won, its statements and where they run', async () => {
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
