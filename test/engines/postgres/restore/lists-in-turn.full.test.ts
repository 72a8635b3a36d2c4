import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { build } from '../../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../../src/operations/load/load.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

/** As many as a load has several sessions for, each with two indexes that alter it and one that does not. */
const TABLES = 300;
const FILL = `DO $$ BEGIN FOR at IN 1 .. ${TABLES} LOOP EXECUTE replace('
  CREATE TABLE %s (id integer NOT NULL, customer integer NOT NULL, note text);
  INSERT INTO %s SELECT i, i % 7, md5(i::text) FROM generate_series(1, 300) i;
  CREATE UNIQUE INDEX %s_a ON %s (id); ALTER TABLE %s REPLICA IDENTITY USING INDEX %s_a;
  CREATE INDEX %s_b ON %s (customer, id); ALTER TABLE %s CLUSTER ON %s_b;
  CREATE INDEX %s_c ON %s (note); COMMENT ON INDEX %s_b IS ''clusters'';
  CREATE TABLE %s_child (id integer REFERENCES %s (id))', '%s', 't' || at); END LOOP; END $$`;

describeWithPostgres('a load of tables with a replica identity and a clustering index', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres({ max_locks_per_transaction: '1024' }));

  beforeAll(async () => {
    for (const name of ['source', 'copy']) await server.createDatabase(name);
    await server.psql('source', { sql: FILL });
  }, 120_000);

  it('ends without a deadlock, and restores both', async () => {
    const snapshot = { src_url: server.url('source'), dst_url: server.url('copy') };
    const context = testContext({
      settings: { working_directory: join(folder.path, 'work'), targets: { app: { snapshot } }, defaults: { cpus: 4 } },
    });
    await build(context, { target: 'app' });
    for (let round = 0; round < 3; round += 1) {
      await applyLoad(context, await planLoad(context, { target: 'app', undo: false }));
      expect(await server.dump('copy', '--schema-only')).toBe(await server.dump('source', '--schema-only'));
    }
  }, 300_000);
});
