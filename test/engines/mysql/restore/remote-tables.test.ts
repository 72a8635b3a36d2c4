import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import type { Settings } from '../../../../src/config/schema/settings.ts';
import type { Definitions } from '../../../../src/engines/mysql/catalog/definitions/definitions.ts';
import { openDatabase } from '../../../../src/engines/open-database.ts';
import { parseUrl } from '../../../../src/engines/registry.ts';
import { build } from '../../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../../src/operations/load/load.ts';
import type { LoadRequest } from '../../../../src/operations/load/planned-load.ts';
import { applySanitize, planSanitize } from '../../../../src/operations/sanitize/sanitize.ts';
import { applySubset, planSubset } from '../../../../src/operations/subset/subset.ts';
import { applyUndo, planUndo } from '../../../../src/operations/undo/undo.ts';
import type { RunEvent } from '../../../../src/results/events.ts';
import { withDetails } from '../../../helpers/databases/build-and-load.ts';
import { changeDefinitions } from '../../../helpers/databases/change-definitions.ts';
import {
  describeWithMysql,
  startMysql,
  type TestFlavour,
  testedFlavours,
} from '../../../helpers/mysql/mysql-server.ts';
import { temporaryFolder, testContext } from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

const FLAGS: Record<TestFlavour, string[]> = {
  mariadb: ['--plugin-load-add=ha_federatedx', '--plugin-load-add=ha_blackhole'],
  mysql: ['--federated'],
};

/** Both take minutes: MySQL in the full suite. */
const FLAVOURS = testedFlavours('mariadb');
for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'tables without rows of their own' }, () => {
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startMysql(flavour, FLAGS[flavour]));
    let events: RunEvent[] = [];

    const contextOf = (target: Settings['targets'][string]) =>
      testContext({ settings: { working_directory: join(folder.path, 'work'), targets: { app: target } }, events });
    const snapshotOnly = () => contextOf({ snapshot: { src_url: server.url('app'), dst_url: server.url('app_dev') } });
    const warnings = () =>
      events.flatMap((event) => (event.event === 'warning' ? [`${event.code}: ${event.message}`] : []));
    const remoteRows = () => server.sql('elsewhere', 'SELECT * FROM customer ORDER BY id');
    const logged = async (database: string) =>
      (await server.sql<{ line: string }>(database, 'SELECT line FROM logs ORDER BY id')).map(({ line }) => line);

    async function loaded(request: Partial<LoadRequest> = {}) {
      const context = snapshotOnly();
      const planned = await planLoad(context, { target: 'app', cpus: 2, ...request });
      const result = await withDetails(applyLoad(context, planned));
      return { plan: planned.plan, result };
    }

    async function undone() {
      const context = snapshotOnly();
      await applyUndo(context, await planUndo(context, { target: 'app' }));
    }

    beforeAll(async () => {
      await server.createDatabase('elsewhere');
      await server.sql(
        'elsewhere',
        'CREATE TABLE customer (id INT PRIMARY KEY, email VARCHAR(60))',
        "INSERT INTO customer VALUES (1, 'ada@example.com'), (2, 'bob@example.com')",
        'CREATE TABLE other_log (id INT NOT NULL PRIMARY KEY, line VARCHAR(20)) ENGINE = MyISAM',
        "INSERT INTO other_log VALUES (9, 'other')",
      );
      await server.createDatabase('app');
      await server.sql(
        'app',
        'CREATE TABLE person (id INT PRIMARY KEY, email VARCHAR(60))',
        "INSERT INTO person VALUES (1, 'eve@example.com'), (2, 'kim@example.com')",
        `CREATE TABLE customer (id INT PRIMARY KEY, email VARCHAR(60)) ENGINE = FEDERATED CONNECTION = 'mysql://root@127.0.0.1:${server.port}/elsewhere/customer'`,
        // The MERGE table is created before what it lists, by name.
        'CREATE TABLE z_log1 (id INT NOT NULL PRIMARY KEY, line VARCHAR(20)) ENGINE = MyISAM',
        'CREATE TABLE z_log2 LIKE z_log1',
        "INSERT INTO z_log1 VALUES (1, 'one'), (2, 'two')",
        "INSERT INTO z_log2 VALUES (3, 'three')",
        'CREATE TABLE logs (id INT NOT NULL, line VARCHAR(20), KEY (id)) ENGINE = MERGE UNION = (z_log1, z_log2) INSERT_METHOD = LAST',
        'CREATE TABLE all_logs (id INT NOT NULL, line VARCHAR(20), KEY (id)) ENGINE = MERGE UNION = (z_log1, elsewhere.other_log)',
        'CREATE TABLE discarded (id INT) ENGINE = BLACKHOLE',
        'CREATE VIEW emails AS SELECT email FROM customer',
        'CREATE VIEW upper_emails AS SELECT UPPER(email) AS email FROM emails',
        // Not a reader of the table: a column of the same name.
        'CREATE VIEW people AS SELECT id AS customer FROM person',
        'CREATE VIEW log_lines AS SELECT line FROM logs',
        'CREATE TRIGGER counted BEFORE UPDATE ON customer FOR EACH ROW SET @changed = 1',
        'CREATE TRIGGER logged BEFORE UPDATE ON z_log1 FOR EACH ROW SET @changed = 1',
      );
    }, 240_000);

    beforeEach(() => {
      events = [];
    });

    it('a build stores their definitions only, and states them', async () => {
      const row = await build(snapshotOnly(), { target: 'app', cpus: 2 });
      expect(row.definitions_only?.map(({ table, remote }) => [table, remote])).toEqual([
        ['all_logs', true],
        ['customer', true],
        ['discarded', false],
        ['logs', false],
      ]);
      expect(row).toMatchObject({ tables: 3, rows: 5 });
      const stated = /all_logs \(MRG_MyISAM\), customer \(FEDERATED\), discarded \(BLACKHOLE\), logs \(MRG_MyISAM\)/i;
      expect(warnings()).toContainEqual(expect.stringMatching(stated));
      expect(events).toContainEqual(
        expect.objectContaining({ step: 'store', state: 'done', label: expect.stringMatching(stated) }),
      );
    });

    it('a load leaves out those with rows outside the database, and a MERGE table shows the loaded ones', async () => {
      const { plan, result } = await loaded();
      expect(plan.warnings).toContainEqual({
        code: 'remote_tables_left_out',
        message: expect.stringMatching(/Not created.*all_logs \(.*\), customer \(FEDERATED\).*--remote-tables/),
      });
      expect(plan.snapshot?.definitions_only).toHaveLength(4);
      expect(result.rows).toBe(5);
      expect(warnings()).toContainEqual(expect.stringMatching(/not created: emails, upper_emails$/));
      const tables = await server.sql<{ name: string }>(
        'app_dev',
        "SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'app_dev' ORDER BY 1",
      );
      expect(tables.map(({ name }) => name).sort()).toEqual([
        ...['discarded', 'log_lines', 'logs', 'people', 'person', 'z_log1', 'z_log2'],
      ]);
      expect(await logged('app_dev')).toEqual(['one', 'two', 'three']);
      expect(await server.sql('app_dev', 'SELECT COUNT(*) AS n FROM log_lines')).toEqual([{ n: 3 }]);
      // What is inserted through it goes into the new table.
      await server.sql('app_dev', "INSERT INTO logs VALUES (4, 'four')");
      expect(await server.sql('app_dev', 'SELECT id FROM z_log2 ORDER BY id')).toEqual([{ id: 3 }, { id: 4 }]);
      expect(await logged('app')).toEqual(['one', 'two', 'three']);
      expect(await remoteRows()).toHaveLength(2);
    });

    it('the undo copy keeps a MERGE table over its own tables, and an undo brings it back', async () => {
      await loaded();
      await server.sql('app_dev', "INSERT INTO logs VALUES (4, 'four')");
      await loaded();
      expect(await logged('app_dev')).toEqual(['one', 'two', 'three']);
      expect(await logged('app_dev.tool-undo')).toEqual(['one', 'two', 'three', 'four']);
      await undone();
      expect(await logged('app_dev')).toEqual(['one', 'two', 'three', 'four']);
      await server.sql('app_dev', "INSERT INTO logs VALUES (5, 'five')");
      expect(await logged('app_dev.tool-undo')).toEqual(['one', 'two', 'three']);
    });

    it('--remote-tables creates them, and loads and undoes no row of theirs', async () => {
      const { plan } = await loaded({ remoteTables: true });
      expect(plan.warnings).toContainEqual({
        code: 'remote_tables_created',
        message: expect.stringMatching(/customer \(FEDERATED\)/),
      });
      expect(await server.sql('app_dev', 'SELECT COUNT(*) AS n FROM upper_emails')).toEqual([{ n: 2 }]);
      expect(await server.sql('app_dev', 'SELECT line FROM all_logs ORDER BY id')).toEqual([
        ...['one', 'two', 'other'].map((line) => ({ line })),
      ]);
      expect(await remoteRows()).toHaveLength(2);
      // A destination that has such a table is replaced and put back without the rows behind it.
      await loaded();
      await undone();
      expect(await server.sql('app_dev', 'SELECT COUNT(*) AS n FROM customer')).toEqual([{ n: 2 }]);
      expect(await remoteRows()).toHaveLength(2);
    });

    it('a manifest that does not name such a table has none created', async () => {
      const context = snapshotOnly();
      const { id } = await build(context, { target: 'app', cpus: 1 });
      await changeDefinitions(join(folder.path, 'work'), {
        id,
        change: ({ tables }: Definitions) =>
          tables.push({
            name: 'hidden',
            create: `CREATE TABLE \`hidden\` (\`id\` int) ENGINE=FEDERATED CONNECTION='mysql://root@127.0.0.1:${server.port}/elsewhere/customer'`,
            indexes: [],
            foreignKeys: [],
          }),
      });
      await expect(loaded({ snapshot: id, remoteTables: true })).rejects.toThrow(/does not name.*hidden \(FEDERATED\)/);
      expect(await remoteRows()).toHaveLength(2);
    });

    it('sanitizing changes no row behind them', async () => {
      const context = contextOf({
        snapshot: { src_url: server.url('app') },
        sanitize: {
          dst_url: server.url('app_safe'),
          override_query: "UPDATE person SET email = CONCAT(id, '@example.invalid'); UPDATE logs SET line = 'hidden';",
        },
      });
      await build(context, { target: 'app', cpus: 1 });
      const planned = await planSanitize(context, { target: 'app' });
      const { coverage, snapshot } = await withDetails(applySanitize(context, planned));
      expect(JSON.stringify(coverage)).not.toContain('customer');
      expect(snapshot.rows).toBe(5);
      expect(await logged('app_safe')).toEqual(['hidden', 'hidden', 'hidden']);
      expect(await remoteRows()).toEqual([
        { id: 1, email: 'ada@example.com' },
        { id: 2, email: 'bob@example.com' },
      ]);
    });

    it('a subset reads and writes no row behind them', async () => {
      const context = contextOf({
        subset: {
          src_url: server.url('app'),
          dst_url: server.url('app_small'),
          subset_tables: [{ table: 'app.person', where: 'id = 1' }],
          copy_tables: ['app.z_log1'],
        },
      });
      await withDetails(applySubset(context, await planSubset(context, { target: 'app' })));
      expect(warnings()).toContainEqual(expect.stringMatching(/^remote_tables_left_out: .*customer \(FEDERATED\)/));
      expect(await server.sql('app_small', 'SELECT id FROM person')).toEqual([{ id: 1 }]);
      expect(await logged('app_small')).toEqual(['one', 'two']);
      expect(await remoteRows()).toHaveLength(2);
    });

    it('one whose remote table is gone, and a MERGE table that cannot be opened, stop no build, load or list', async () => {
      await server.sql(
        'app',
        'CREATE TABLE broken (id INT) ENGINE = MERGE UNION = (person)',
        'RENAME TABLE elsewhere.customer TO elsewhere.gone',
      );
      try {
        const row = await build(snapshotOnly(), { target: 'app', cpus: 2 });
        expect(row.definitions_only?.map(({ table }) => table)).toContain('broken');
        expect((await loaded({ snapshot: row.id })).result.rows).toBe(5);
        const { connect } = openDatabase(snapshotOnly(), parseUrl(server.url('app')));
        expect((await connect.listTables()).map(({ name }) => name)).toEqual([
          ...['app.person', 'app.z_log1', 'app.z_log2'],
        ]);
        const sized = (await connect.listDatabases()).find(({ name }) => name === 'app');
        expect(sized?.size_bytes).toBeGreaterThan(0);
        // As a destination, with a view on it; it was a source above.
        await rm(join(folder.path, 'work', 'identities.json'), { force: true });
        await expect(
          planLoad(contextOf({ snapshot: { src_url: server.url('app_dev'), dst_url: server.url('app') } }), {
            target: 'app',
            snapshot: row.id,
          }),
        ).resolves.toMatchObject({ plan: { destination: { exists: true } } });
      } finally {
        await server.sql('app', 'RENAME TABLE elsewhere.gone TO elsewhere.customer', 'DROP TABLE broken');
      }
    });
  });
}
