import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { connect } from '../../../../src/engines/postgres/connection/connect.ts';
import { parsePostgresUrl } from '../../../../src/engines/postgres/connection/url.ts';
import {
  carryOverQueries,
  JOINING_LISTS,
  lostGrantsQuery,
  readOwnership,
} from '../../../../src/engines/postgres/swap/carry-over.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

const TABLES = 400;

interface PlanNode {
  'Actual Rows': number;
  'Actual Loops': number;
  Plans?: PlanNode[];
}

describeWithPostgres('owners and grants of many tables', () => {
  const server = suiteResource(() => startPostgres());

  beforeAll(async () => {
    for (const [database, grant] of [
      ['before', `EXECUTE format('GRANT SELECT ON t%s TO reader', at);`],
      ['after', ''],
    ] as const) {
      await server.createDatabase(database);
      const sql = `DO $$ BEGIN FOR at IN 1..${TABLES} LOOP
        EXECUTE format('CREATE TABLE t%s (id integer PRIMARY KEY, note text)', at); ${grant}
      END LOOP; END $$`;
      if (grant) await server.psql(database, { sql: 'CREATE ROLE reader' });
      await server.psql(database, { sql });
    }
  });

  it('are compared without reading all objects again for each of them', async () => {
    await using old = await connect(testContext({ settings: {} }), parsePostgresUrl(server.url('before')));
    const ownership = await readOwnership(old);
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'explain.sql');
    const settings = Object.entries(JOINING_LISTS).map(([name, value]) => `SET ${name} = ${value};`);
    for (const query of [
      ...carryOverQueries({ owner: 'postgres', ownership, copied: true }),
      lostGrantsQuery(ownership),
    ]) {
      await writeFile(file, `${settings.join(' ')} EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${query}`);
      const [explained] = JSON.parse(await server.psql('after', { file }));
      expect(rowsRead(explained.Plan), query).toBeLessThan(TABLES * ROWS_OF_AN_OBJECT);
    }
  });
});

/** Over all steps of a plan: 128 are read where the lists are joined by hash, 2,429 where they are read again. */
const ROWS_OF_AN_OBJECT = 500;

function rowsRead({ Plans = [], ...node }: PlanNode): number {
  return node['Actual Rows'] * node['Actual Loops'] + Plans.reduce((sum, plan) => sum + rowsRead(plan), 0);
}
