import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { diff } from '../../../src/operations/snapshots/diff/diff.ts';
import { explainSubset } from '../../../src/operations/subset/explain-subset.ts';
import { applySubset, planSubset } from '../../../src/operations/subset/subset.ts';
import type { Context } from '../../../src/runtime/context.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

/** A table of migrations whose keys a role without rights converts to text, by a function that uses its caller's rights. */
const TRAP = `
  CREATE TYPE version AS ENUM ('20260101000000', '20260102000000');
  CREATE FUNCTION caught(version) RETURNS text LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'it ran as %', current_user; END $$;
  CREATE CAST (version AS text) WITH FUNCTION caught(version);
  CREATE TABLE schema_migrations (version version PRIMARY KEY);
  INSERT INTO schema_migrations VALUES ('20260101000000'), ('20260102000000');`;

describeWithPostgres('a cast of a role without rights', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());
  let context: Context;

  beforeAll(async () => {
    await server.psql('postgres', { sql: `CREATE ROLE guest LOGIN PASSWORD 'guest'` });
    await server.createDatabase('theirs', 'guest');
    await server.psql('theirs', { sql: `SET ROLE guest; ${TRAP}` });
    const subset = {
      src_url: server.url('theirs'),
      dst_url: server.url('small'),
      subset_tables: [{ table: 'public.schema_migrations', percent: 50 }],
    };
    const snapshot = { src_url: server.url('theirs'), dst_url: server.url('copy'), role: 'guest' };
    const settings = { working_directory: join(folder.path, 'work'), targets: { app: { snapshot, subset } } };
    context = testContext({ settings });
  }, 60_000);

  it('does not run with the rights of a superuser that compares the destination with its snapshot', async () => {
    await build(context, { target: 'app' });
    await applyLoad(context, await planLoad(context, { target: 'app' }));
    // The same migrations as in the snapshot, whose rows are read without the server.
    expect(await diff(context, { target: 'app', a: 0 })).not.toHaveProperty('migrations');
    await server.psql('copy', { sql: "DELETE FROM schema_migrations WHERE version = '20260102000000'" });
    const { migrations } = await diff(context, { target: 'app', a: 0 });
    expect(migrations).toMatchObject([{ only_from: ['20260102000000'], only_to: [] }]);
  });

  it('does not run with the rights of a superuser that makes a subset of their database', async () => {
    const { rows } = await applySubset(context, await planSubset(context, { target: 'app' }));
    expect(rows).toBe(1);
    const chains = await Promise.all(
      ['20260101000000', '20260102000000'].map(async (key) => {
        const { chain } = await explainSubset(context, { target: 'app', row: `public.schema_migrations:${key}` });
        return chain?.map((link) => link.key);
      }),
    );
    expect(chains.filter((chain) => chain !== undefined)).toHaveLength(1);
  });
});
