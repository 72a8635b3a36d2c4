import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { withExplainedErrors } from '../../../src/engines/mysql/connection/explain-errors.ts';
import { openSession } from '../../../src/engines/mysql/connection/session.ts';
import { parseMysqlUrl } from '../../../src/engines/mysql/connection/url.ts';
import { readChangeMark } from '../../../src/engines/mysql/swap/change-mark.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { diff } from '../../../src/operations/snapshots/diff/diff.ts';
import { applySubset, planSubset } from '../../../src/operations/subset/subset.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { describeWithMysql, startMysql, testedFlavours } from '../../helpers/mysql/mysql-server.ts';
import { temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const GUEST = { name: 'guest', password: 'guest' };
const REFUSED = /were dropped or renamed during the build: z$|^A view has taken the place of table z in /;
/** Code with the rights of who calls it, which reads what the guest may not. */
const CAUGHT = `CREATE FUNCTION caught() RETURNS INT READS SQL DATA SQL SECURITY INVOKER BEGIN
  DECLARE found INT; SELECT max(id) INTO found FROM secret.s; DO GET_LOCK(concat('caught ', found), 0); RETURN found; END`;

for (const flavour of testedFlavours('mariadb')) {
  describeWithMysql(flavour, { name: 'a view that a guest puts in place of a table while it is read' }, () => {
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startMysql(flavour));
    let context: Context;

    beforeAll(async () => {
      await server.sql('', "CREATE USER guest@'%' IDENTIFIED BY 'guest'");
      for (const name of ['secret', 'loot', 'theirs', 'copy', 'small']) await server.createDatabase(name);
      await server.sql('', 'CREATE TABLE secret.s (id INT)', 'INSERT INTO secret.s VALUES (4711)');
      for (const name of ['loot', 'theirs', 'copy']) await server.sql('', `GRANT ALL ON ${name}.* TO guest@'%'`);
      const guest = await openSession({ url: parseMysqlUrl(server.url('loot', GUEST)) });
      await guest.execute(CAUGHT);
      await guest.close();
      await server.sql(
        'theirs',
        'CREATE TABLE a (id INT PRIMARY KEY)',
        'CREATE TABLE z (id INT)',
        'INSERT INTO a VALUES (1), (2)',
        'INSERT INTO z VALUES (1), (2)',
        'CREATE TRIGGER t BEFORE INSERT ON a FOR EACH ROW SET NEW.id = NEW.id',
      );
      const snapshot = { src_url: server.url('theirs'), dst_url: server.url('copy') };
      const subset_tables = [
        { table: 'theirs.a', where: 'id = 1' },
        { table: 'theirs.z', where: 'id = 1' },
      ];
      const subset = { src_url: server.url('theirs'), dst_url: server.url('small'), subset_tables };
      const settings = { working_directory: join(folder.path, 'work'), targets: { app: { snapshot, subset } } };
      context = testContext({ settings });
      await build(context, { target: 'app', cpus: 1 });
      await applyLoad(context, await planLoad(context, { target: 'app' }));
    }, 240_000);

    it('runs nothing with the rights of the user that builds', async () => {
      await refuses('theirs', () => build(context, { target: 'app', cpus: 1 }));
    });

    it('runs nothing with the rights of the user that compares the destination', async () => {
      await refuses('copy', () => diff(context, { target: 'app', a: 0 }));
    });

    it('runs nothing with the rights of the user that makes a subset', async () => {
      const planned = await planSubset(context, { target: 'app' });
      await refuses('theirs', () => applySubset(context, planned));
    });

    it('runs nothing with the rights of the user that replaces rows, without an undo', async () => {
      const planned = await planLoad(context, {
        target: 'app',
        tables: ['theirs.a', 'theirs.z'],
        only: true,
        undo: false,
      });
      await refuses('copy', () => applyLoad(context, planned), 'READ');
    });

    it('runs nothing with the rights of the user that reads what has changed', async () => {
      const url = parseMysqlUrl(server.url('copy'));
      // Only tables that were just written to are read.
      for (const table of ['a', 'z']) await server.sql('copy', `INSERT INTO ${table} VALUES (9)`);
      await refuses('copy', () => withExplainedErrors({ context, url }, () => readChangeMark(context, url)));
    });

    /** Renames z, and puts the view in its place, when the work waits for the table before it. */
    async function refuses(database: string, work: () => Promise<unknown>, lock = 'WRITE'): Promise<void> {
      const url = parseMysqlUrl(server.url(database, GUEST));
      await using holder = await openSession({ url });
      await using guest = await openSession({ url });
      await holder.execute(`LOCK TABLES a ${lock}`);
      const ended = work();
      ended.catch(() => {});
      const waits = "SELECT 1 FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Waiting for table%'";
      await expect.poll(async () => (await server.sql('', waits)).length, { timeout: 10_000 }).toBeGreaterThan(0);
      await guest.execute('RENAME TABLE z TO former');
      await guest.execute('CREATE SQL SECURITY INVOKER VIEW z AS SELECT id FROM former WHERE loot.caught() > 0');
      await holder.execute('UNLOCK TABLES');
      try {
        await expect(ended).rejects.toMatchObject({ message: expect.stringMatching(REFUSED) });
      } finally {
        await server.sql(database, 'DROP VIEW z', 'RENAME TABLE former TO z');
      }
    }
  });
}
