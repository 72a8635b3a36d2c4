import { beforeAll, expect, it } from 'vitest';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { withDetails } from '../../helpers/databases/build-and-load.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

/** Each takes a lock when it is dropped, and none that lasts when it is made. */
const functions = (count: number): string => `DO $$ BEGIN FOR i IN 1..${count} LOOP
  EXECUTE format('CREATE FUNCTION f_%s() RETURNS integer LANGUAGE sql AS ''SELECT 1''', i); END LOOP; END $$`;

describeWithPostgres('a load in place', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());

  beforeAll(async () => {
    await server.createDatabase('little');
    await server.psql('little', { sql: 'CREATE TABLE t (id integer); INSERT INTO t VALUES (1)' });
  }, 60_000);

  function contextFor(destination: string) {
    const snapshot = { src_url: server.url('little'), dst_url: destination };
    return testContext({ settings: { working_directory: folder.path, targets: { little: { snapshot } } } });
  }

  const plan = (context: ReturnType<typeof contextFor>) =>
    planLoad(context, { target: 'little', cpus: 1, inPlace: true });

  it('is refused before it begins when the role does not own the destination', async () => {
    await server.createDatabase('theirs');
    await server.psql('theirs', {
      sql: `CREATE ROLE guest LOGIN PASSWORD 'guest'; CREATE SCHEMA hers; CREATE TABLE hers.kept (id integer)`,
    });
    const context = contextFor(server.url('theirs').replace(/postgres:[^/@]+@/, 'guest:guest@'));
    await build(context, { target: 'little' });
    await expect(plan(context)).rejects.toMatchObject({
      code: 'not_owner',
      details: expect.arrayContaining([expect.stringContaining('schema hers belongs to postgres')]),
      hint: expect.stringContaining('ALTER DATABASE "theirs" OWNER TO "guest"'),
    });
  });

  it('is refused with the setting that it needs when the server has too few locks, and done when it has them', async () => {
    const context = contextFor(server.url('wide'));
    await build(context, { target: 'little' });
    await server.createDatabase('wide');
    await server.psql('wide', { sql: functions(2000) });
    await withDetails(applyLoad(context, await plan(context)));
    expect(await server.psql('wide', { sql: 'SELECT count(*) FROM t' })).toBe('1\n');
    await server.psql('wide', { sql: functions(7000) });
    await expect(plan(context)).rejects.toMatchObject({
      code: 'too_few_locks',
      hint: expect.stringMatching(/Set max_locks_per_transaction = \d+/),
    });
  });
});
