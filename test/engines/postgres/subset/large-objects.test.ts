import { beforeAll, expect, it } from 'vitest';
import { applySubset, planSubset } from '../../../../src/operations/subset/subset.ts';
import type { SubsetSettings } from '../../../../src/subset/graph.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

/** One of several lines of the copy, with bytes of every value; an empty one; and one that no row names. */
const FILL = `
  CREATE DOMAIN lo AS oid;
  CREATE TABLE document (id integer PRIMARY KEY, content oid, preview lo, of_table oid);
  SELECT lo_from_bytea(70000 + i, (SELECT coalesce(string_agg(decode(md5((i * 100000 + n)::text), 'hex'), '' ORDER BY n), '')
    FROM generate_series(1, 40000 * (i % 2)) n))
    FROM generate_series(1, 8) i;
  SELECT lo_from_bytea(70100, 'nobody names me');
  INSERT INTO document SELECT i, 70000 + i, NULL, 'document'::regclass FROM generate_series(1, 8) i;
  UPDATE document SET preview = 70004 WHERE id = 3;
  CREATE ROLE clerk LOGIN PASSWORD 'secret';
  GRANT SELECT ON ALL TABLES IN SCHEMA public TO clerk;
  GRANT SELECT ON LARGE OBJECT 70001, 70002 TO clerk`;

describeWithPostgres('large objects of a subset', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());

  beforeAll(async () => {
    await server.createDatabase('papers');
    await server.psql('papers', { sql: FILL });
  }, 120_000);

  function contextFor(section: SubsetSettings) {
    const urls = { src_url: server.url('papers'), dst_url: server.url('papers_small') };
    return testContext({
      settings: { working_directory: folder.path, targets: { t: { subset: { ...urls, ...section } } } },
    });
  }

  async function make(section: SubsetSettings): Promise<void> {
    const context = contextFor(section);
    await applySubset(context, await planSubset(context, { target: 't', cpus: 2 }));
  }

  async function objects(database: string, condition: string): Promise<string> {
    const sql = `SELECT oid, md5(lo_get(oid)), length(lo_get(oid)) FROM pg_largeobject_metadata WHERE ${condition} ORDER BY 1`;
    return server.psql(database, { sql });
  }

  it('large objects that a row of the subset references are included completely, and no others', async () => {
    await make({ subset_tables: [{ table: 'public.document', where: 'id IN (2, 3)' }] });
    expect(await objects('papers_small', 'true')).toBe(await objects('papers', 'oid IN (70002, 70003, 70004)'));
    expect(await objects('papers_small', 'oid = 70003')).toMatch(/\|640000$/m);
  });

  it('are listed in the plan', async () => {
    const { plan } = await planSubset(contextFor({ copy_tables: ['public.document'] }), { target: 't' });
    expect(plan.warnings).toContainEqual({
      code: 'large_objects',
      message: expect.stringMatching(
        /has 9 large objects: .*public\.document\.content, public\.document\.preview, public\.document\.of_table$/,
      ),
    });
  });

  it('large objects are included for a user with rights on them only, and are named otherwise', async () => {
    const url = new URL(server.url('papers'));
    Object.assign(url, { username: 'clerk', password: 'secret' });
    const section = (where: string) => ({
      src_url: url.href,
      subset_tables: [{ table: 'public.document', where }],
    });
    await make(section('id <= 2'));
    expect(await objects('papers_small', 'true')).toBe(await objects('papers', 'oid IN (70001, 70002)'));
    await expect(make(section('id = 5'))).rejects.toMatchObject({
      code: 'restore_failed',
      details: expect.arrayContaining([expect.stringContaining('permission denied for large object 70005')]),
    });
    expect(await objects('papers_small', 'true')).toBe(await objects('papers', 'oid IN (70001, 70002)'));
  });
});
