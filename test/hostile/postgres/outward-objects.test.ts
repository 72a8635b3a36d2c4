import { expect, it } from 'vitest';
import { openSession } from '../../../src/engines/postgres/connection/session.ts';
import { anyClientTools } from '../../../src/engines/postgres/connection/tools.ts';
import { parsePostgresUrl } from '../../../src/engines/postgres/connection/url.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { applySanitize, planSanitize } from '../../../src/operations/sanitize/sanitize.ts';
import { applySubset, planSubset } from '../../../src/operations/subset/subset.ts';
import { buildAndLoad, normalized } from '../../helpers/databases/build-and-load.ts';
import { OTHER, OUTWARD_CASES, REFUSED_CASES } from '../../helpers/postgres/outward-objects.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

describeWithPostgres('a selection of schemas', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());

  it('builds a loadable snapshot, without dependents of omitted schemas', async () => {
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
    await using session = await openSession(testContext({ settings: {} }), { psql, url });
    await session.execute('CREATE TEMPORARY VIEW mine AS SELECT id FROM other.log');
    await session.execute('CREATE TEMPORARY TABLE heir (CHECK (other.ok(id))) INHERITS (public.kept)');
    const { warnings } = await buildAndLoad(server, { database: 'busy', workingDirectory: folder.path });
    expect(warnings).toEqual([
      expect.stringMatching(/^Not in the snapshot: 2 tables with .* public: other\. /),
      expect.stringMatching(/^The snapshot was built without the schemas other \(2 tables, /),
    ]);
  });

  it('refuses tables whose columns need a schema that is left out, and names it', async () => {
    for (const [index, { sql, ends }] of REFUSED_CASES.entries()) {
      const database = `refused_${index}`;
      await server.createDatabase(database);
      await server.psql(database, { sql: `${OTHER}; ${sql}` });
      const error = await buildAndLoad(server, { database, workingDirectory: folder.path }).catch((thrown) => thrown);
      expect(error).toMatchObject({ code: 'schema_needed', hint: expect.stringContaining('include_schemas: other') });
      expect(error.hint).toContain('--include-needed-schemas');
      expect(error.details.join('\n')).toContain(ends[0]);
      expect(error.details.join('\n')).toContain(ends[1]);
    }
  });

  it('includes on request all schemas that tables need, however many lie between, and a load takes them along', async () => {
    await server.createDatabase('chain');
    await server.psql('chain', {
      sql: `CREATE SCHEMA "a.b"; CREATE SCHEMA a; CREATE SCHEMA far; CREATE SCHEMA unused;
        CREATE TYPE far.mood AS ENUM ('fine'); CREATE TABLE far.log (id integer); INSERT INTO far.log VALUES (1);
        CREATE TYPE "a.b".pair AS (m integer); CREATE TABLE "a.b".held (m far.mood); INSERT INTO "a.b".held VALUES ('fine');
        CREATE TABLE a.alone (id integer); CREATE TABLE unused.alone (id integer);
        CREATE TABLE public.person (id integer, p "a.b".pair); INSERT INTO public.person VALUES (1, ROW(2))`,
    });
    const request = { database: 'chain', workingDirectory: folder.path };
    const refused = await buildAndLoad(server, request).catch((thrown) => thrown);
    expect(refused.hint).toMatch(/include_schemas: a\.b, far$/);
    const { warnings } = await buildAndLoad(server, { ...request, includeNeededSchemas: true });
    expect(warnings).toEqual([
      'Included schema a.b: public.person.p is of type "a.b".pair',
      'Included schema far: a.b.held.m is of type far.mood',
    ]);
    await server.psql('chain', { sql: 'DROP SCHEMA a CASCADE; DROP SCHEMA unused CASCADE' });
    expect(normalized(await server.dump('chain_copy'))).toEqual(normalized(await server.dump('chain')));

    // A sanitized snapshot has them for the same reason.
    const targets = {
      chain: {
        snapshot: { src_url: server.url('chain'), dst_url: server.url('chain_clean') },
        sanitize: { override_query: 'UPDATE person SET id = 7' },
      },
    };
    const context = testContext({ settings: { working_directory: folder.path, targets } });
    await applySanitize(context, await planSanitize(context, { target: 'chain' }));
    await applyLoad(context, await planLoad(context, { target: 'chain', cpus: 2 }));
    expect(await server.psql('chain_clean', { sql: 'SELECT id, p FROM person; SELECT m FROM "a.b".held' })).toBe(
      '7|(2)\nfine\n',
    );

    // So do a build before a sanitization, and the snapshot of a subset.
    const subset_tables = [{ table: 'public.person', percent: 100 }];
    const small = {
      subset: { src_url: server.url('chain'), dst_url: server.url('chain_small'), subset_tables },
      snapshot: { dst_url: server.url('chain_again') },
    };
    const whole = { ...small, snapshot: { ...small.snapshot, schema_config: { use_default_schema: false } } };
    const both = testContext({ settings: { working_directory: folder.path, targets: { ...targets, small, whole } } });
    const build = (includeNeededSchemas: boolean) => ({ target: 'chain', build: { includeNeededSchemas } });
    const subsets = (target: string) => ({ target, snapshot: true });
    await expect(applySanitize(both, await planSanitize(both, build(false)))).rejects.toMatchObject({
      code: 'schema_needed',
    });
    await expect(applySubset(both, await planSubset(both, subsets('small')))).rejects.toMatchObject({
      code: 'schema_needed',
    });
    expect((await applySanitize(both, await planSanitize(both, build(true)))).snapshot).toMatchObject({ rows: 3 });
    expect((await applySubset(both, await planSubset(both, subsets('whole')))).snapshot).toMatchObject({ rows: 1 });
    await applyLoad(both, await planLoad(both, { target: 'whole', cpus: 2 }));
    expect(await server.psql('chain_again', { sql: 'SELECT id, p FROM person' })).toBe('1|(2)\n');
  });
});
