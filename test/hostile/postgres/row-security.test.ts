import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { applySanitize, planSanitize } from '../../../src/operations/sanitize/sanitize.ts';
import { applySubset, planSubset } from '../../../src/operations/subset/subset.ts';
import { normalized, withDetails } from '../../helpers/databases/build-and-load.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

/** Forced, row level security also hides rows from the owner of the table, who then sees none of these. */
const SOURCE = `
  CREATE TABLE forced (id integer PRIMARY KEY, mail text); INSERT INTO forced VALUES (1, 'a@example.org'), (2, 'b@example.org');
  ALTER TABLE forced ENABLE ROW LEVEL SECURITY; ALTER TABLE forced FORCE ROW LEVEL SECURITY; CREATE POLICY none ON forced USING (false);
  CREATE TABLE refers (id integer PRIMARY KEY, forced integer REFERENCES forced); INSERT INTO refers VALUES (1, 1), (2, 2);
  ALTER TABLE refers ENABLE ROW LEVEL SECURITY; ALTER TABLE refers FORCE ROW LEVEL SECURITY;
  CREATE TABLE parts (id integer) PARTITION BY LIST (id); CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
  INSERT INTO parts VALUES (1); ALTER TABLE parts ENABLE ROW LEVEL SECURITY; ALTER TABLE parts_1 ENABLE ROW LEVEL SECURITY;
  ALTER TABLE parts_1 FORCE ROW LEVEL SECURITY; ALTER TABLE parts FORCE ROW LEVEL SECURITY;
  CREATE MATERIALIZED VIEW summary AS SELECT count(*) AS n FROM parts WITH NO DATA`;

describeWithPostgres('forced row level security', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());

  beforeAll(async () => {
    await server.createDatabase('secured');
    await server.psql('secured', { sql: SOURCE });
    await server.psql('postgres', { sql: `CREATE ROLE loader LOGIN CREATEDB PASSWORD 'loader'` });
    await build(contextOf('unused'), { target: 'secured' });
  }, 60_000);

  function contextOf(destination: string) {
    const dst_url = server.url(destination).replace(/\/\/[^@]*@/, '//loader:loader@');
    const targets = {
      secured: {
        snapshot: { src_url: server.url('secured'), dst_url },
        sanitize: { override_query: `UPDATE forced SET mail = 'x'` },
        subset: {
          src_url: server.url('secured'),
          dst_url,
          subset_tables: [{ table: 'public.refers', where: 'id = 1' }],
        },
      },
    };
    return testContext({ settings: { working_directory: join(folder.path, 'work'), targets } });
  }

  it.each([false, true])('does not hide rows from the check of a load by the owner (in place: %s)', async (inPlace) => {
    const copy = `secured_${inPlace}`;
    await server.createDatabase(copy, 'loader');
    const context = contextOf(copy);
    await withDetails(applyLoad(context, await planLoad(context, { target: 'secured', cpus: 2, inPlace })));
    expect(normalized(await server.dump(copy))).toEqual(normalized(await server.dump('secured')));
  });

  it('does not hide rows from a query that sanitizes in a throw-away database', async () => {
    const context = contextOf('unused');
    const { snapshot } = await withDetails(
      applySanitize(context, await planSanitize(context, { target: 'secured', ephemeral: true })),
    );
    await server.createDatabase('sanitized', 'loader');
    const into = contextOf('sanitized');
    await withDetails(applyLoad(into, await planLoad(into, { target: 'secured', snapshot: snapshot.id, cpus: 2 })));
    expect(await server.psql('sanitized', { sql: 'SELECT id, mail FROM forced ORDER BY 1' })).toBe('1|x\n2|x\n');
  });

  it('does not hide rows from a subset', async () => {
    await server.createDatabase('small', 'loader');
    const context = contextOf('small');
    await withDetails(applySubset(context, await planSubset(context, { target: 'secured', cpus: 2 })));
    expect(await server.psql('small', { sql: 'SELECT id FROM forced' })).toBe('1\n');
  });
});
