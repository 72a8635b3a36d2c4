import { afterAll, beforeAll, expect, it } from 'vitest';
import { load, planLoad } from '../../src/operations/load/load.ts';
import { planSubset, subset } from '../../src/operations/subset/subset.ts';
import { buildAndLoad, normalized, withDetails } from '../helpers/build-and-load.ts';
import { EVERY_OBJECT, INVALID_INDEX } from '../helpers/every-object.ts';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
  testContext,
} from '../helpers/postgres-server.ts';

const ALL = { use_default_schema: false };

describeWithPostgres('a database with every kind of object', () => {
  let server: TestPostgres;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let expected: string[];

  beforeAll(async () => {
    folder = await temporaryFolder();
    server = await startPostgres();
    await server.createDatabase('all_kinds');
    await server.psql('all_kinds', { sql: EVERY_OBJECT });
    await server.psql('all_kinds', { sql: INVALID_INDEX }).catch(() => {});
    expected = await dumpOf('all_kinds');
  }, 60_000);

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  /** Rows in the order of the table's bytes: a restored partition may hold those of another. */
  function dumpOf(database: string): Promise<string[]> {
    return server.dump(database, '--load-via-partition-root').then(normalized);
  }

  it('is the same after a build and a load, by pg_dump', async () => {
    const { warnings } = await buildAndLoad(server, {
      database: 'all_kinds',
      workingDirectory: folder.path,
      schemaConfig: ALL,
    });
    expect(warnings).toEqual([]);
    expect(await dumpOf('all_kinds_copy')).toEqual(expected);
  });

  it('is the same after a load in place, and after another over it', async () => {
    const snapshot = {
      src_url: server.url('all_kinds'),
      dst_url: server.url('all_kinds_in_place'),
      schema_config: ALL,
    };
    const settings = { working_directory: folder.path, targets: { all_kinds: { snapshot } } };
    const context = testContext({ settings });
    await server.createDatabase('all_kinds_in_place');
    for (let time = 0; time < 2; time += 1) {
      await withDetails(load(context, await planLoad(context, { target: 'all_kinds', cpus: 1, inPlace: true })));
      expect(await dumpOf('all_kinds_in_place')).toEqual(expected);
    }
  });

  it('has the same definitions in a subset, and rows of partitions by hash of an enum', async () => {
    const section = {
      src_url: server.url('all_kinds'),
      dst_url: server.url('all_kinds_small'),
      subset_tables: [{ table: 'public.hashed', where: 'n <= 5' }],
    };
    const context = testContext({ settings: { working_directory: folder.path, targets: { t: { subset: section } } } });
    await withDetails(subset(context, await planSubset(context, { target: 't', cpus: 2 })));
    const count = 'SELECT count(*) FROM hashed; SELECT count(*) FROM noted';
    expect(await server.psql('all_kinds_small', { sql: count })).toBe('25\n0\n');
    const definitions = async (database: string): Promise<string[]> =>
      normalized(await server.dump(database, '--schema-only'));
    expect(await definitions('all_kinds_small')).toEqual(await definitions('all_kinds'));
  });
});
