import { afterAll, beforeEach, expect, it } from 'vitest';
import { build } from '../../../../src/operations/build/build.ts';
import { applySanitize, planSanitize } from '../../../../src/operations/sanitize/sanitize.ts';
import { suggest } from '../../../../src/operations/sanitize/suggest.ts';
import type { Context } from '../../../../src/runtime/context.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

const SECOND = new URL('../../../sanitize/labelled-schema.sql', import.meta.url).pathname;

describeWithPostgres('a suggested query', () => {
  const server = suiteResource(() => startPostgres());
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeEach(async () => {
    folder = await temporaryFolder();
  });

  afterAll(async () => {
    await folder?.[Symbol.asyncDispose]();
  });

  function contextOf(database: string, query?: string): Context {
    const target = {
      snapshot: { src_url: server.url(database), schema_config: { use_default_schema: false } },
      sanitize: { dst_url: server.url(`${database}_clean`), ...(query !== undefined && { override_query: query }) },
    };
    return testContext({ settings: { working_directory: folder.path, targets: { app: target } } });
  }

  /** What the query makes of the database. */
  async function applied(database: string): Promise<{ sql: (text: string) => Promise<string> }> {
    await build(contextOf(database), { target: 'app' });
    const { query } = await suggest(contextOf(database), { target: 'app' });
    const context = contextOf(database, query);
    await applySanitize(context, await planSanitize(context, { target: 'app', strict: true }));
    return { sql: async (text) => (await server.psql(`${database}_clean`, { sql: text })).trim() };
  }

  it('leaves nothing that looks personal in the second labelled schema, and breaks none of its constraints', async () => {
    await server.createDatabase('second');
    await server.psql('second', { file: SECOND });
    const { sql } = await applied('second');
    expect(await sql("SELECT count(*) FROM users WHERE email ~ '^user-[0-9a-f]{16}@example.com$'")).toBe('80');
    expect(await sql("SELECT count(*) FROM versicherung.kunde WHERE plz !~ '^[0-9]{5}$'")).toBe('0');
  }, 120_000);

  it('keeps foreign keys on e-mail addresses whole, equal values equal, and triggers silent', async () => {
    await server.createDatabase('keys');
    await server.psql('keys', {
      sql: `
        CREATE EXTENSION citext;
        CREATE TABLE "Account Holder" (email citext PRIMARY KEY, phone varchar(12) UNIQUE, mobile varchar(12));
        INSERT INTO "Account Holder" SELECT 'Someone' || i || '@Real.example', '+49 30 ' || 1000 + i, '+49 30 ' || 1000 + i FROM generate_series(1, 300) i;
        CREATE TABLE booking (id integer PRIMARY KEY, booked_by citext REFERENCES "Account Holder" ON UPDATE RESTRICT, contact_email text, date_of_birth date);
        INSERT INTO booking SELECT i, 'someone' || i || '@real.example', 'someone' || i || '@real.example', date '1980-01-01' + i FROM generate_series(1, 300) i;
        CREATE TABLE change_log (old_row text);
        CREATE FUNCTION log_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO change_log VALUES (OLD::text); RETURN NEW; END $$;
        CREATE TRIGGER logged AFTER UPDATE ON booking FOR EACH ROW EXECUTE FUNCTION log_change()`,
    });
    const { sql } = await applied('keys');
    expect(await sql('SELECT count(*) FROM booking JOIN "Account Holder" ON email = booked_by')).toBe('300');
    expect(await sql('SELECT count(DISTINCT contact_email) FROM booking')).toBe('300');
    expect(await sql(`SELECT count(*) FROM "Account Holder" WHERE mobile LIKE '+49 __ ____'`)).toBe('300');
    // Six digits would not differ in as many rows as one likes: here the format gives way.
    expect(await sql(`SELECT count(*) FROM "Account Holder" WHERE phone ~ '^[0-9a-f]{12}$'`)).toBe('300');
    expect(await sql("SELECT count(*) FROM booking WHERE date_of_birth = date '1980-01-01' + id")).toBe('0');
    expect(await sql('SELECT count(DISTINCT extract(year FROM date_of_birth)) FROM booking')).toBe('1');
    expect(await sql('SELECT count(*) FROM change_log')).toBe('0');
    expect(
      await sql(
        "SELECT condeferrable, (SELECT tgenabled FROM pg_trigger WHERE tgname = 'logged') FROM pg_constraint WHERE contype = 'f'",
      ),
    ).toBe('f|O');
  }, 120_000);
});
