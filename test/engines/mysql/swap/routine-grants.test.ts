import { beforeAll, expect, it } from 'vitest';
import { build } from '../../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../../src/operations/load/load.ts';
import { applyUndo, planUndo } from '../../../../src/operations/undo/undo.ts';
import type { RunEvent } from '../../../../src/results/events.ts';
import { describeWithMysql, startMysql, testedFlavours } from '../../../helpers/mysql/mysql-server.ts';
import { temporaryFolder, testContext } from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

/** Both take minutes: MySQL in the full suite. */
const FLAVOURS = testedFlavours('mariadb');
const READER = { name: 'reader', password: 'secret' };
const LOADER = { name: 'loader', password: 'secret' };

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'rights on the destination' }, () => {
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startMysql(flavour));

    beforeAll(async () => {
      await server.sql(
        '',
        "CREATE USER reader@'%' IDENTIFIED BY 'secret'",
        "CREATE USER loader@'%' IDENTIFIED BY 'secret'",
        'CREATE ROLE clerk',
        "GRANT clerk TO reader@'%'",
      );
      for (const name of ['source', 'copy']) {
        await server.createDatabase(name);
        await server.sql(
          name,
          'CREATE TABLE item (id INT PRIMARY KEY, secret INT)',
          'INSERT INTO item VALUES (1, 2)',
          'CREATE TABLE other (id INT PRIMARY KEY)',
          'CREATE VIEW seen AS SELECT id FROM item',
          'CREATE FUNCTION one() RETURNS INT DETERMINISTIC RETURN 1',
          'CREATE PROCEDURE two() SELECT 2',
        );
      }
      await server.sql('copy', 'CREATE PROCEDURE only_here() SELECT 3');
      await server.sql(
        'copy',
        "GRANT SELECT (id) ON item TO reader@'%'",
        "GRANT SELECT ON other TO reader@'%'",
        "GRANT SELECT ON seen TO reader@'%'",
        "GRANT EXECUTE ON FUNCTION one TO reader@'%' WITH GRANT OPTION",
        'GRANT EXECUTE ON PROCEDURE two TO clerk',
        "GRANT EXECUTE ON PROCEDURE only_here TO reader@'%'",
        "GRANT ALL ON `copy%`.* TO loader@'%'",
        "GRANT SELECT, SHOW VIEW, TRIGGER, EVENT, EXECUTE, LOCK TABLES ON source.* TO loader@'%'",
      );
      await build(contextFor(), { target: 'app' });
    }, 240_000);

    function contextFor(events: RunEvent[] = [], user?: { name: string; password: string }) {
      const snapshot = { src_url: server.url('source'), dst_url: server.url('copy', user) };
      return testContext({ settings: { working_directory: folder.path, targets: { app: { snapshot } } }, events });
    }

    /** What the server's tables of rights say of the reader and the role. */
    async function grants(): Promise<string[]> {
      const lines = [
        ...(await server.sql('', "SHOW GRANTS FOR reader@'%'")),
        ...(await server.sql('', 'SHOW GRANTS FOR clerk')),
      ];
      return lines.flatMap((line) => Object.values(line as Record<string, string>)).sort();
    }

    it('are the same after a load and after its undo, by table, column, routine, role and database', async () => {
      const before = await grants();
      expect(before).toHaveLength(flavour === 'mariadb' ? 9 : 9);
      const events: RunEvent[] = [];
      const context = contextFor(events);
      await applyLoad(context, await planLoad(context, { target: 'app' }));
      expect(await grants()).toEqual(before.filter((line) => !line.includes('only_here')));
      expect(events).toContainEqual(
        expect.objectContaining({ code: 'not_carried_over', message: expect.stringContaining('only_here') }),
      );
      await applyUndo(contextFor(), await planUndo(contextFor(), { target: 'app' }));
      expect(await grants()).toEqual(before);
    });

    it('unreadable grants are a warning, before the load and in it', async () => {
      const events: RunEvent[] = [];
      const context = contextFor(events, LOADER);
      const planned = await planLoad(context, { target: 'app' });
      expect(planned.plan.warnings).toContainEqual(expect.objectContaining({ code: 'not_carried_over' }));
      await applyLoad(context, planned);
      expect(events).toContainEqual(expect.objectContaining({ code: 'not_carried_over' }));
      expect(await server.sql('copy', 'SELECT `one`() AS n')).toEqual([{ n: 1 }]);
    });

    it('let the reader in as they say', async () => {
      const url = server.url('copy', READER);
      const { openSession } = await import('../../../../src/engines/mysql/connection/session.ts');
      const { parseMysqlUrl } = await import('../../../../src/engines/mysql/connection/url.ts');
      await using session = await openSession({ url: parseMysqlUrl(url) });
      expect(await session.query('SELECT id FROM item')).toEqual([{ id: 1 }]);
      expect(await session.query('SELECT id FROM seen')).toEqual([{ id: 1 }]);
      await expect(session.query('SELECT secret FROM item')).rejects.toMatchObject({ name: 'SqlError' });
    });
  });
}
