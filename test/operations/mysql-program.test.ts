import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Context } from '../../src/context.ts';
import type { RunEvent } from '../../src/events.ts';
import { build } from '../../src/operations/build.ts';
import { load, planLoad } from '../../src/operations/load/load.ts';
import { planUndo, undo } from '../../src/operations/load/undo.ts';
import { findSnapshot } from '../../src/operations/snapshots/snapshots.ts';
import { verify } from '../../src/operations/snapshots/verify.ts';
import { withDetails } from '../helpers/build-and-load.ts';
import { withPrograms } from '../helpers/mysql-programs.ts';
import { describeWithMysql, startMysql, type TestFlavour, type TestMysql } from '../helpers/mysql-server.ts';
import { temporaryFolder, testContext } from '../helpers/postgres-server.ts';

const FIXTURES: Record<TestFlavour, string[]> = {
  mariadb: ['every-type.sql', 'mariadb-only.sql'],
  mysql: ['every-type.sql'],
};

for (const flavour of ['mariadb', 'mysql'] as const) {
  describeWithMysql(flavour, { name: "snapshots by the vendor's own program" }, () => {
    let server: TestMysql;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    const events: RunEvent[] = [];
    let context: Context;

    beforeAll(async () => {
      server = await startMysql(flavour, ['--local-infile=OFF']);
      folder = await temporaryFolder();
      await server.createDatabase('source');
      for (const name of FIXTURES[flavour]) {
        await server.file('source', new URL(`../engines/mysql/fixtures/${name}`, import.meta.url).pathname);
      }
      await server.sql(
        'source',
        'CREATE TABLE `odd ``;\n-- x` (id INT PRIMARY KEY, `a; (b` VARCHAR(40))',
        "INSERT INTO `odd ``;\n-- x` VALUES (1, 'a\\nINSERT INTO x;'), (2, 'it''s; -- \\\\'), (3, NULL)",
        "CREATE TRIGGER odd BEFORE INSERT ON `odd ``;\n-- x` FOR EACH ROW BEGIN SET NEW.`a; (b` = 'x;;\n'; /* ;; */ SET @x = 1; END",
        'CREATE PROCEDURE tricky() BEGIN -- delimiter ;\n SELECT 1 AS delimiter ; SELECT "\\\\"; END',
        'CREATE EVENT daily ON SCHEDULE EVERY 1 DAY DO DELETE FROM `odd ``;\n-- x` WHERE id > 100',
        'CREATE VIEW second AS SELECT 1 AS one',
        'CREATE VIEW first AS SELECT * FROM second',
      );
      const snapshot = { src_url: server.url('source'), dst_url: server.url('copy') };
      const settings = {
        working_directory: join(folder.path, 'work'),
        targets: { app: { snapshot, program: true } },
      };
      context = await withPrograms(testContext({ settings, events }), flavour, folder.path);
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    it('round-trips every type and every kind of object, and are marked', async () => {
      const row = await withDetails(build(context, { target: 'app' }));
      const name = flavour === 'mariadb' ? 'mariadb-dump' : 'mysqldump';
      expect(row).toMatchObject({ program: expect.stringMatching(new RegExp(`^(${name}|mysqldump) \\d+\\.`)) });
      expect((await verify(context, { target: 'app' })).ok).toBe(true);
      const planned = await planLoad(context, { target: 'app' });
      expect(planned.plan.snapshot).toMatchObject({ program: row.program });
      await withDetails(load(context, planned));
      expect(comparable(await server.dump('copy'))).toEqual(comparable(await server.dump('source')));
    });

    it('store nothing twice, and one table again when it has changed', async () => {
      expect((await build(context, { target: 'app' })).stored_bytes).toBe(0);
      await server.sql('source', "INSERT INTO words VALUES ('new', 'row')");
      const { manifest: before } = await findSnapshot(context, { target: 'app' });
      await build(context, { target: 'app' });
      const { manifest: after } = await findSnapshot(context, { target: 'app' });
      const changed = after.tables.filter(({ file }, at) => file.sha256 !== before.tables[at]?.file.sha256);
      expect(changed.map(({ name }) => name)).toEqual(['source.words']);
    });

    it('are undone, and loaded in part', async () => {
      await load(context, await planLoad(context, { target: 'app', tables: ['source.words'] }));
      expect(await server.sql('copy', 'SELECT COUNT(*) AS n FROM words')).toEqual([{ n: 7 }]);
      expect(await server.sql('copy', 'SELECT COUNT(*) AS n FROM parent')).toEqual([{ n: 0 }]);
      await undo(context, await planUndo(context, { target: 'app' }));
      expect(await server.sql('copy', 'SELECT COUNT(*) AS n FROM parent')).toEqual([{ n: 4 }]);
    });
  });
}

/** A dump without what an event's copy or a moved counter may differ in. */
function comparable(dump: string): string[] {
  return dump.replaceAll(/`(source|copy)`\./g, '').split('\n');
}
