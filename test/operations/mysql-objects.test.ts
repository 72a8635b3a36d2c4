import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Context } from '../../src/context.ts';
import type { RunEvent, WarningEvent } from '../../src/events.ts';
import { build } from '../../src/operations/build.ts';
import { load, planLoad } from '../../src/operations/load/load.ts';
import { withDetails } from '../helpers/build-and-load.ts';
import { differencesOf, piecesOfDump } from '../helpers/mysql-dump.ts';
import { mysqlObjects } from '../helpers/mysql-objects.ts';
import { describeWithMysql, startMysql, type TestFlavour, type TestMysql } from '../helpers/mysql-server.ts';
import { temporaryFolder, testContext } from '../helpers/postgres-server.ts';

const FLAVOURS: TestFlavour[] = process.env.TOOL_TEST_FULL ? ['mariadb', 'mysql'] : ['mariadb'];
const LIMIT = 120_000;

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'a database with every kind of object' }, () => {
    let server: TestMysql;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;

    beforeAll(async () => {
      folder = await temporaryFolder();
      server = await startMysql(flavour);
      await server.createDatabase('objects_source');
      await server.script('objects_source', mysqlObjects(flavour));
    }, LIMIT);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    function contextFor(database: string, events: RunEvent[] = []): Context {
      const snapshot = { src_url: server.url(database), dst_url: server.url('objects_copy') };
      const settings = { working_directory: join(folder.path, 'work'), targets: { app: { snapshot } } };
      return testContext({ settings, events });
    }

    /** Rows with history begin when they are loaded, as those of a dump; a view that is not valid is not made. */
    async function comparable(database: string): Promise<string[]> {
      const pieces = await piecesOfDump(server, database);
      return pieces.filter((piece) => !/^LOCK TABLES `versioned_|`invalid_(?:table|over|column|function)`/.test(piece));
    }

    it(
      'is loaded as the dump of its own server says it is',
      async () => {
        const events: RunEvent[] = [];
        const context = contextFor('objects_source', events);
        await withDetails(build(context, { target: 'app' }));
        await withDetails(planLoad(context, { target: 'app' }).then((plan) => load(context, plan)));
        const [source, copy] = [await comparable('objects_source'), await comparable('objects_copy')];
        expect(source.length).toBeGreaterThan(300);
        expect(differencesOf(source, copy)).toEqual([]);
        console.log(
          events.filter((event): event is WarningEvent => event.event === 'warning').map(({ message }) => message),
        );
      },
      LIMIT,
    );
  });
}
