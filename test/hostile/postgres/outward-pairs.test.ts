import { join } from 'node:path';
import { expect, it } from 'vitest';
import { build } from '../../../src/operations/build/build.ts';
import { buildAndLoad } from '../../helpers/databases/build-and-load.ts';
import { dumpDifferences } from '../../helpers/databases/dump-differences.ts';
import { outwardPairs } from '../../helpers/postgres/outward-pairs.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const PAIRS = outwardPairs();
const full = process.env.TEST_FULL === '1';

describeWithPostgres('every pair of an object in a chosen schema and an object in a schema that is left out', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());

  async function create(database: string, pairs: typeof PAIRS): Promise<void> {
    await server.createDatabase(database);
    await server.psql(database, {
      sql: ['SET client_min_messages = error', 'CREATE SCHEMA other', ...pairs.map(({ sql }) => sql)].join(';\n'),
    });
  }

  /** What is left out is left out, and all else is there; the oracle is the server's own CASCADE. */
  async function leavesOut(database: string, pairs: typeof PAIRS): Promise<void> {
    await create(database, pairs);
    await buildAndLoad(server, { database, workingDirectory: join(folder.path, 'work') });
    const oracle = pairs.map(({ oracle: sql }) => sql).filter((sql) => sql !== '');
    await server.psql(database, { sql: [...oracle, 'DROP SCHEMA other CASCADE'].join(';\n') });
    expect(dumpDifferences(await server.dump(database), await server.dump(`${database}_copy`))).toEqual([]);
  }

  /** Refused with the name of the schema, and whole with it. */
  async function needs(database: string, pairs: typeof PAIRS): Promise<void> {
    await create(database, pairs);
    const workingDirectory = join(folder.path, 'work');
    const snapshot = { src_url: server.url(database) };
    const settings = { working_directory: workingDirectory, targets: { [database]: { snapshot } } };
    await expect(build(testContext({ settings }), { target: database })).rejects.toMatchObject({
      code: 'schema_needed',
      hint: expect.stringContaining('include_schemas: other'),
    });
    const { warnings } = await buildAndLoad(server, { database, workingDirectory, includeNeededSchemas: true });
    expect(warnings).toEqual([expect.stringContaining('Included schema other: public.pair_')]);
    expect(dumpDifferences(await server.dump(database), await server.dump(`${database}_copy`))).toEqual([]);
  }

  it('is left out in a build that then loads, all in one database', () =>
    leavesOut(
      'pairs',
      PAIRS.filter(({ needed }) => !needed),
    ));

  it('needs the schema where a table with rows uses it, all in one database', () =>
    needs(
      'needed_pairs',
      PAIRS.filter(({ needed }) => needed),
    ));

  it.each((full ? PAIRS : []).map((pair, index) => ({ ...pair, database: `pair_${index}` })))('$name', async (pair) => {
    await (pair.needed ? needs : leavesOut)(pair.database, [pair]);
    // A server with a thousand databases takes minutes to stop.
    for (const name of [pair.database, `${pair.database}_copy`]) {
      await server.psql('postgres', { sql: `DROP DATABASE ${name}` });
    }
  });
});
