import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { build } from '../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../src/operations/load/load.ts';
import type { LoadRequest } from '../../src/operations/load/planned-load.ts';
import type { LoadResult } from '../../src/results/load-results.ts';
import { withDetails } from '../helpers/databases/build-and-load.ts';
import { dumpDifferences } from '../helpers/databases/dump-differences.ts';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
  testContext,
} from '../helpers/postgres/postgres-server.ts';
import { type ChangedTable, randomTable, SPOIL, TYPES } from '../helpers/postgres/random-changes.ts';
import { type Round, trials } from '../helpers/trials.ts';

/** Tables in one database, each a round. */
const BATCH = 20;

const part = trials('data/difference-rows');

describeWithPostgres('pairs of snapshots with random tables', () => {
  let server: TestPostgres;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let databases = 0;
  const ways = { rows: 0, whole: 0 };

  beforeAll(async () => {
    folder = await temporaryFolder();
    server = await startPostgres();
  }, 60_000);

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  it.skipIf(part.isEmpty)(
    part.title('are loaded from the base copy as by a full load'),
    { timeout: part.timeout },
    async () => {
      await part.eachBatch(BATCH, check);
      if (part.isLong) expect([ways.rows > 0, ways.whole > 0]).toEqual([true, true]);
    },
  );

  async function check(rounds: Round[]): Promise<void> {
    databases += 1;
    const names = { source: `source${databases}`, copy: `copy${databases}`, full: `full${databases}` };
    const snapshot = { src_url: server.url(names.source), dst_url: server.url(names.copy) };
    const context = testContext({
      settings: { working_directory: join(folder.path, names.source), targets: { app: { snapshot } } },
    });
    const load = async (request: Partial<LoadRequest> = {}): Promise<LoadResult> =>
      withDetails(applyLoad(context, await planLoad(context, { target: 'app', cpus: 2, ...request })));
    await server.createDatabase(names.source);
    const tables: ChangedTable[] = [];
    for (const round of rounds) {
      const parent = tables.findLast(({ isParent }) => isParent)?.name ?? null;
      tables.push(randomTable(`t${round.number}`, round, parent));
    }
    const sql = [...TYPES, SPOIL, ...tables.flatMap(({ create }) => create), 'ANALYZE'].join(';\n');
    await server.psql(names.source, { sql });
    await build(context, { target: 'app' });
    await load({ keepBase: true });
    for (const change of tables.flatMap((table) => table.change)) {
      await server.psql(names.source, { sql: change }).catch((error) => {
        if (!/foreign key constraint/.test(`${error.message}${error.stderr ?? ''}`)) throw error;
      });
    }
    await build(context, { target: 'app' });
    const { difference } = await load({ keepBase: true });
    // One table alone may have to be loaded whole.
    if (rounds.length > 1) expect(difference?.method).toBe('difference');
    for (const { method } of difference?.by_table ?? []) ways[method] += 1;
    await load({ destdb: server.url(names.full) });
    const [full, copy] = await Promise.all([server.dump(names.full), server.dump(names.copy)]);
    expect(dumpDifferences(full, copy)).toEqual([]);
    for (const { name } of tables) {
      const sum = `SELECT count(*), sum(hashtextextended(t::text, 0)) FROM ${name} AS t`;
      const [expected, found] = await Promise.all(
        [names.full, names.copy].map((one) => server.psql(one, { sql: sum })),
      );
      expect(found, name).toBe(expected);
    }
    // A key finds what the rows have, and foreign keys are valid.
    await server.psql(names.copy, { sql: CONSISTENT });
    for (const name of Object.values(names))
      await server.psql('postgres', { sql: `DROP DATABASE ${name} WITH (FORCE)` });
    await server.psql('postgres', { sql: `DROP DATABASE "${names.copy}.tool-base" WITH (FORCE)` }).catch(() => {});
    await server.psql('postgres', { sql: `DROP DATABASE "${names.copy}.tool-undo" WITH (FORCE)` }).catch(() => {});
  }
});

const CONSISTENT = `CREATE EXTENSION amcheck;
  SELECT bt_index_check(indexrelid, true) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam
    WHERE m.amname = 'btree' AND c.relkind = 'i' AND indisvalid;
  DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_constraint WHERE contype = 'f' AND NOT convalidated) THEN RAISE 'a foreign key is not validated'; END IF;
    IF EXISTS (SELECT FROM pg_trigger WHERE tgname = 'spoil' AND tgenabled = 'D') THEN RAISE 'a trigger is disabled'; END IF;
  END $$;`;
