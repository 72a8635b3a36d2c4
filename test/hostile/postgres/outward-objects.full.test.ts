import { expect, it } from 'vitest';
import { buildAndLoad, normalized } from '../../helpers/databases/build-and-load.ts';
import { OTHER, OUTWARD_CASES } from '../../helpers/postgres/outward-objects.ts';
import { describeWithPostgres, startPostgres, temporaryFolder } from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

describeWithPostgres('a selection of schemas, one dependency at a time', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());

  it.each(OUTWARD_CASES.map((each, index) => ({ ...each, database: `case_${index}` })))(
    'leaves out: $name',
    async ({ database, sql, oracle }) => {
      await server.createDatabase(database);
      await server.psql(database, { sql: `${OTHER}; ${sql}` });
      await buildAndLoad(server, { database, workingDirectory: folder.path });
      await server.psql(database, { sql: `${oracle ? `${oracle};` : ''} DROP SCHEMA other CASCADE` });
      expect(normalized(await server.dump(`${database}_copy`))).toEqual(normalized(await server.dump(database)));
    },
  );
});
