import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { startSanitizeFixture } from '../../helpers/databases/sanitize-fixture.ts';
import { describeWithPostgres, temporaryFolder } from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

// What every engine refuses is in test/contracts/sanitizer.ts.
describeWithPostgres('a sanitization on PostgreSQL that cannot or must not be', () => {
  const fixture = suiteResource(startSanitizeFixture);

  beforeEach(() => fixture.reset());

  it('checks deferred constraints at the end of the query', async () => {
    const query = `ALTER TABLE person ADD CONSTRAINT k UNIQUE (note) DEFERRABLE INITIALLY DEFERRED`;
    await expect(fixture.run(fixture.contextOf({ query }))).rejects.toMatchObject({ code: 'query_failed' });
    await fixture.expectNothingPublished();
  });

  const BAD_QUERIES = [
    { what: 'drops the schema', query: 'DROP SCHEMA public CASCADE', code: 'schema_not_found', exit: 1 },
    { what: 'holds a command of psql', query: 'SELECT 1;\n\\! rm -rf /', code: 'query_refused', exit: 3 },
  ];

  it.each(BAD_QUERIES)('a query that $what is refused with $code', async ({ query, code, exit }) => {
    await expect(fixture.run(fixture.contextOf({ query }))).rejects.toMatchObject({ code, exit });
    await fixture.expectNothingPublished();
  });

  it('a command of psql that a setting of the query uncovers is never run', async () => {
    await using folder = await temporaryFolder();
    const canary = join(folder.path, 'canary');
    for (const setting of ["'standard_conforming_strings', 'off'", "'client_encoding', 'SJIS'"]) {
      const query = `SELECT set_config(${setting}, false);\nSELECT '\\'' \\! touch ${canary} ';\nSELECT 'Ü\\'; SELECT ' \\! touch ${canary}\n';`;
      await fixture.run(fixture.contextOf({ query })).catch(() => {});
      expect(await readdir(folder.path)).toEqual([]);
    }
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
