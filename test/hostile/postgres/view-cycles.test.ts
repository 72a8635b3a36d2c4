import { expect, it } from 'vitest';
import { applySubset, planSubset } from '../../../src/operations/subset/subset.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

/** A rule on `t` writes what a view over `t` counts; two tables write into each other by rules. */
const CYCLE = `
  CREATE TABLE t (id integer PRIMARY KEY); CREATE TABLE log (n bigint); INSERT INTO t VALUES (1), (2), (3);
  CREATE VIEW v AS SELECT id FROM t;
  CREATE RULE r AS ON INSERT TO t DO ALSO INSERT INTO log SELECT count(*) FROM v;
  CREATE MATERIALIZED VIEW m AS SELECT * FROM v;
  CREATE MATERIALIZED VIEW a_first_by_name AS SELECT count(*) AS n FROM m;
  CREATE TABLE one (id integer); CREATE TABLE two (id integer);
  CREATE VIEW v2 AS SELECT id FROM one;
  CREATE RULE there AS ON INSERT TO one DO ALSO UPDATE two SET id = (SELECT max(id) FROM v2);
  CREATE RULE back AS ON INSERT TO two DO ALSO UPDATE one SET id = (SELECT count(*) FROM v2)`;

describeWithPostgres('a subset of a database whose views and rules form a cycle', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());

  it('ends, and refreshes each materialized view after those it reads', async () => {
    await server.createDatabase('cycle');
    await server.psql('cycle', { sql: CYCLE });
    const section = {
      src_url: server.url('cycle'),
      dst_url: server.url('cycle_small'),
      subset_tables: [{ table: 'public.t', where: 'id < 3' }],
    };
    const context = testContext({ settings: { working_directory: folder.path, targets: { t: { subset: section } } } });
    await applySubset(context, await planSubset(context, { target: 't', cpus: 2 }));
    const rows = await server.psql('cycle_small', {
      sql: 'SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM m), (SELECT n FROM a_first_by_name)',
    });
    expect(rows.trim()).toBe('2|2|2');
  });
});
