import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { build } from '../../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../../src/operations/load/load.ts';
import { applySubset, planSubset } from '../../../../src/operations/subset/subset.ts';
import { applyUndo, planUndo } from '../../../../src/operations/undo/undo.ts';
import type { RunEvent, WarningEvent } from '../../../../src/results/events.ts';
import type { Context } from '../../../../src/runtime/context.ts';
import { withDetails } from '../../../helpers/databases/build-and-load.ts';
import { itIf } from '../../../helpers/it-if.ts';
import { differencesOf, piecesOfDump } from '../../../helpers/mysql/mysql-dump.ts';
import { mysqlObjects } from '../../../helpers/mysql/mysql-objects.ts';
import { describeWithMysql, startMysql, testedFlavours } from '../../../helpers/mysql/mysql-server.ts';
import { temporaryFolder, testContext } from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

const FLAVOURS = testedFlavours('mariadb');
const LIMIT = 240_000;
const INVALID = ['invalid_column', 'invalid_function', 'invalid_over', 'invalid_table'];

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'a database with every kind of object' }, () => {
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startMysql(flavour));

    beforeAll(async () => {
      await server.createDatabase('objects_source');
      await server.script('objects_source', mysqlObjects(flavour));
    }, LIMIT);

    function contextFor(events: RunEvent[] = []): Context {
      const src_url = server.url('objects_source');
      const targets = {
        app: {
          snapshot: { src_url, dst_url: server.url('objects_copy') },
          subset: {
            src_url,
            dst_url: server.url('objects_small'),
            subset_tables: [
              { table: 'objects_source.orphan', where: 'id = 1' },
              { table: 'objects_source.case1', where: 'id = 1' },
            ],
            copy_tables: ['objects_source.checks'],
          },
        },
      };
      return testContext({ settings: { working_directory: join(folder.path, 'work'), targets }, events });
    }

    const warningsOf = (events: RunEvent[], code: string): string[] =>
      events
        .filter((event): event is WarningEvent => event.event === 'warning' && event.code === code)
        .map(({ message }) => message);

    /** Rows with history begin when they are loaded, as those of a dump; a view that is not valid is not created. */
    async function comparable(database: string): Promise<string[]> {
      const views = new RegExp(`\`(?:${INVALID.join('|')})\``);
      const pieces = await piecesOfDump(server, database);
      return pieces.filter((piece) => !/^LOCK TABLES `versioned_/.test(piece) && !views.test(piece));
    }

    it(
      'is loaded as the dump of its own server says it is',
      async () => {
        const events: RunEvent[] = [];
        const context = contextFor(events);
        await withDetails(build(context, { target: 'app' }));
        await withDetails(planLoad(context, { target: 'app' }).then((plan) => applyLoad(context, plan)));
        const [source, copy] = [await comparable('objects_source'), await comparable('objects_copy')];
        expect(source.length).toBeGreaterThan(300);
        expect(differencesOf(source, copy)).toEqual([]);
        const invalid = warningsOf(events, 'view_invalid');
        expect(invalid.filter((message) => INVALID.every((name) => message.includes(name)))).toHaveLength(3);
        const history = warningsOf(events, 'history_left_out');
        expect(history).toEqual(flavour === 'mariadb' ? [expect.stringContaining('versioned_named')] : []);
      },
      LIMIT,
    );

    itIf(process.env.TEST_FULL)(
      'is loaded over a database that has the table which a foreign key misses, and put back by an undo',
      async () => {
        const context = contextFor();
        await server.sql('objects_copy', 'CREATE TABLE missing (id int PRIMARY KEY)', 'INSERT INTO missing VALUES (2)');
        const before = await comparable('objects_copy');
        await withDetails(planLoad(context, { target: 'app' }).then((plan) => applyLoad(context, plan)));
        const loaded = await comparable('objects_copy');
        expect(differencesOf(await comparable('objects_source'), loaded)).toEqual([]);
        await applyUndo(context, await planUndo(context, { target: 'app' }));
        expect(differencesOf(before, await comparable('objects_copy'))).toEqual([]);
        await applyUndo(context, await planUndo(context, { target: 'app' }));
        expect(differencesOf(loaded, await comparable('objects_copy'))).toEqual([]);
      },
      LIMIT,
    );

    it(
      'is made a subset of, without the foreign keys to missing tables',
      async () => {
        const context = contextFor();
        const planned = await planSubset(context, { target: 'app' });
        expect(planned.plan.warnings).toContainEqual(expect.objectContaining({ code: 'reference_dangling' }));
        await withDetails(applySubset(context, planned));
        const counts = await server.sql(
          'objects_small',
          'SELECT (SELECT COUNT(*) FROM orphan) AS orphans, (SELECT COUNT(*) FROM `case1`) AS cases, (SELECT COUNT(*) FROM checks) AS checks',
        );
        expect(Object.values(counts[0] ?? {}).map(Number)).toEqual([1, 1, 4]);
        const [orphan] = await server.sql<Record<string, string>>('objects_small', 'SHOW CREATE TABLE orphan');
        expect(orphan?.['Create Table']).toContain('REFERENCES `missing` (`id`)');
      },
      LIMIT,
    );
  });
}
