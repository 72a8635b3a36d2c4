import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { build } from '../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../src/operations/load/load.ts';
import type { LoadRequest } from '../../src/operations/load/planned-load.ts';
import { applyReset, planReset } from '../../src/operations/reset/reset.ts';
import type { LoadResult } from '../../src/results/load-results.ts';
import { withDetails } from '../helpers/databases/build-and-load.ts';
import { dumpDifferences } from '../helpers/databases/dump-differences.ts';
import { describeWithMysql, startMysql, type TestMysql } from '../helpers/mysql/mysql-server.ts';
import { type ChangedTable, DIGITS, randomTable } from '../helpers/mysql/random-changes.ts';
import { temporaryFolder, testContext } from '../helpers/postgres/postgres-server.ts';
import { type Round, trials } from '../helpers/trials.ts';

/** Tables in one database, each a round. */
const BATCH = 10;

const isPlain = ({ number }: Round): boolean => number % (2 * BATCH) < BATCH;

for (const flavour of ['mariadb', 'mysql'] as const) {
  const part = trials(`data/rows-${flavour}`);

  describeWithMysql(flavour, { name: 'pairs of snapshots with random tables' }, () => {
    let server: TestMysql;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let databases = 0;
    const ways = { rows: 0, whole: 0, in_place: 0, copy: 0 };

    beforeAll(async () => {
      if (part.isEmpty) return;
      folder = await temporaryFolder();
      // Rows are replaced where a server is slow to take them.
      server = await startMysql(flavour, ['--local-infile=OFF']);
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    it.skipIf(part.isEmpty)(
      part.title('are loaded from the base copy as by a full load, and reset by a copy'),
      { timeout: part.timeout },
      async () => {
        await part.eachBatch(BATCH, check, { alike: isPlain });
        if (part.isLong)
          expect(
            [ways.rows, ways.whole, ways.copy].every((count) => count > 0),
            JSON.stringify(ways),
          ).toBe(true);
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
      await server.sql(names.source, ...DIGITS);
      const tables: ChangedTable[] = rounds.map((round) =>
        randomTable(`t${round.number}`, { ...round, plain: isPlain(round) }),
      );
      for (const { create } of tables) await server.sql(names.source, "SET sql_mode = ''", ...create);
      await build(context, { target: 'app' });
      await load({ keepBase: true });
      for (const { change } of tables) await changed(names.source, change);
      await build(context, { target: 'app' });
      const { difference } = await load({ keepBase: true });
      for (const { method } of difference?.by_table ?? []) ways[method] += 1;
      await load({ destdb: server.url(names.full) });
      const full = await server.dump(names.full);
      expect(dumpDifferences(full, await server.dump(names.copy))).toEqual([]);
      for (const round of rounds) {
        const { change } = tables.find(({ name }) => name === `t${round.number}`) ?? { change: [] };
        await changed(
          names.copy,
          change.filter((statement) => round.random() < 0.3 && !/^ALTER/.test(statement)),
        );
      }
      const { way } = await applyReset(context, await planReset(context, { target: 'app', undo: false }));
      ways[way] += 1;
      expect(dumpDifferences(full, await server.dump(names.copy)), way).toEqual([]);
      for (const name of await server.databases()) await server.sql('', `DROP DATABASE \`${name}\``);
    }

    async function changed(database: string, statements: string[]): Promise<void> {
      for (const statement of statements) {
        await server.sql(database, "SET sql_mode = ''", statement).catch((error) => {
          // A key forbids it.
          if (!/Duplicate entry/.test(error.message)) throw error;
        });
      }
    }
  });
}
