import { afterAll, beforeAll, expect, it } from 'vitest';
import { openSession } from '../../src/engines/postgres/connection/session.ts';
import { parsePostgresUrl } from '../../src/engines/postgres/connection/url.ts';
import { anyClientTools } from '../../src/engines/postgres/tools.ts';
import { buildAndLoad, normalized } from '../helpers/build-and-load.ts';
import { OTHER, OUTWARD_CASES, REFUSED_CASES } from '../helpers/outward-objects.ts';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
  testContext,
} from '../helpers/postgres-server.ts';

describeWithPostgres('a selection of schemas', () => {
  let server: TestPostgres;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeAll(async () => {
    folder = await temporaryFolder();
    server = await startPostgres();
  }, 60_000);

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  it('builds a snapshot that loads, without what depends on the schemas that are left out', async () => {
    await server.createDatabase('all_cases');
    await server.psql('all_cases', { sql: [OTHER, ...OUTWARD_CASES.map(({ sql }) => sql)].join(';\n') });
    const { warnings } = await buildAndLoad(server, { database: 'all_cases', workingDirectory: folder.path });
    expect(warnings.filter((text) => text.includes('pg_toast'))).toEqual([]);
    for (const { name, ends } of OUTWARD_CASES) {
      expect({ name, told: warnings.some((text) => ends.every((end) => text.includes(end))) }).toEqual({
        name,
        told: true,
      });
    }
    const oracle = OUTWARD_CASES.flatMap(({ oracle: sql }) => sql ?? []);
    await server.psql('all_cases', { sql: [...oracle, 'DROP SCHEMA other CASCADE'].join(';\n') });
    expect(normalized(await server.dump('all_cases_copy'))).toEqual(normalized(await server.dump('all_cases')));
  });

  it('takes no notice of temporary objects of other sessions', async () => {
    await server.createDatabase('busy');
    await server.psql('busy', { sql: `${OTHER}; CREATE TABLE kept (id integer); INSERT INTO kept VALUES (1)` });
    const { psql } = await anyClientTools(testContext({ settings: {} }));
    const url = parsePostgresUrl(server.url('busy'));
    await using session = await openSession({ ...testContext({ settings: {} }), psql, url });
    await session.execute('CREATE TEMPORARY VIEW mine AS SELECT id FROM other.log');
    await session.execute('CREATE TEMPORARY TABLE heir (CHECK (other.ok(id))) INHERITS (public.kept)');
    const { warnings } = await buildAndLoad(server, { database: 'busy', workingDirectory: folder.path });
    expect(warnings).toEqual([]);
  });

  it('refuses tables whose columns need a schema that is left out, and names it', async () => {
    for (const [index, { sql, ends }] of REFUSED_CASES.entries()) {
      const database = `refused_${index}`;
      await server.createDatabase(database);
      await server.psql(database, { sql: `${OTHER}; ${sql}` });
      const error = await buildAndLoad(server, { database, workingDirectory: folder.path }).catch((thrown) => thrown);
      expect(error).toMatchObject({ code: 'schema_needed', hint: expect.stringContaining('include_schemas: other') });
      expect(error.details.join('\n')).toContain(ends[0]);
      expect(error.details.join('\n')).toContain(ends[1]);
    }
  });
});
