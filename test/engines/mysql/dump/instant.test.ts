import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { openSession } from '../../../../src/engines/mysql/connection/session.ts';
import { parseMysqlUrl } from '../../../../src/engines/mysql/connection/url.ts';
import { build } from '../../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../../src/operations/load/load.ts';
import { findSnapshot } from '../../../../src/operations/snapshots/snapshots.ts';
import { filesOfTable } from '../../../../src/repository/manifest/manifest.ts';
import { describeWithMysql, startMysql, testedFlavours } from '../../../helpers/mysql/mysql-server.ts';
import { eventually, temporaryFolder, testContext } from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

const BUILDS = process.env.TEST_FULL ? 20 : 2;
const PACE = 5;
const FLAVOURS = testedFlavours('mariadb');

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'a database that is written to 200 times a second' }, () => {
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startMysql(flavour));

    beforeAll(async () => {
      await server.createDatabase('source');
      await server.sql(
        'source',
        // The child's name comes first, so that a worker reads it before its parent.
        'CREATE TABLE a_child (id INT AUTO_INCREMENT PRIMARY KEY, parent_id INT NOT NULL, note CHAR(200))',
        'CREATE TABLE z_parent (id INT PRIMARY KEY, note CHAR(200))',
        'CREATE TABLE empty_one (id INT PRIMARY KEY)',
      );
    }, 240_000);

    it('cuts a table at the same places when only its estimated size has changed', async () => {
      await server.createDatabase('large');
      await server.sql(
        'large',
        'CREATE TABLE event (id INT AUTO_INCREMENT PRIMARY KEY, body TEXT NOT NULL)',
        'INSERT INTO event (body) VALUES (REPEAT("x", 1000))',
        ...Array.from({ length: 14 }, () => 'INSERT INTO event (body) SELECT body FROM event'),
        'ANALYZE TABLE event',
      );
      const snapshot = { src_url: server.url('large') };
      const context = testContext({
        settings: { working_directory: join(folder.path, 'work'), targets: { large: { snapshot } } },
      });
      const filesAfterBuild = async (): Promise<string[]> => {
        await build(context, { target: 'large' });
        const { manifest } = await findSnapshot(context, { target: 'large' });
        return manifest.tables.flatMap(filesOfTable).map(({ sha256 }) => sha256);
      };
      const first = await filesAfterBuild();
      expect(first.length).toBeGreaterThan(1);
      for (const factor of ['* 2', '/ 5']) {
        await server.sql(
          'large',
          `UPDATE mysql.innodb_table_stats SET clustered_index_size = clustered_index_size ${factor} WHERE database_name = 'large'`,
          'FLUSH TABLE event',
        );
        expect(await filesAfterBuild()).toEqual(first);
      }
    });

    it(`never gives a snapshot with a child without its parent, in ${BUILDS} builds`, async () => {
      const stop = new AbortController();
      let written = 0;
      const writing = (async () => {
        await using session = await openSession({ url: parseMysqlUrl(server.url('source')) });
        const started = performance.now();
        while (!stop.signal.aborted) {
          written += 1;
          await session.execute('START TRANSACTION');
          await session.execute(`INSERT INTO z_parent VALUES (${written}, REPEAT('p', 200))`);
          await session.execute(`INSERT INTO a_child (parent_id, note) VALUES (${written}, 'c'), (${written}, 'd')`);
          await session.execute('COMMIT');
          await eventually(async () => performance.now() - started >= written * PACE || stop.signal.aborted);
        }
      })();
      const snapshot = { src_url: server.url('source'), dst_url: server.url('copy') };
      const context = testContext({
        settings: { working_directory: join(folder.path, 'work'), targets: { app: { snapshot } } },
      });
      let parents = 0;
      try {
        await eventually(async () => written > 50);
        for (let round = 0; round < BUILDS; round += 1) {
          await build(context, { target: 'app', cpus: 2 });
          await applyLoad(context, await planLoad(context, { target: 'app', undo: false }));
          const [counted] = await server.sql<{ parents: number; children: number; orphans: number }>(
            'copy',
            `SELECT (SELECT COUNT(*) FROM z_parent) AS parents, (SELECT COUNT(*) FROM a_child) AS children,
               (SELECT COUNT(*) FROM a_child LEFT JOIN z_parent ON z_parent.id = parent_id WHERE z_parent.id IS NULL) AS orphans`,
          );
          expect(counted).toMatchObject({ orphans: 0, children: 2 * Number(counted?.parents) });
          expect(counted?.parents).toBeGreaterThan(parents);
          parents = Number(counted?.parents);
        }
      } finally {
        stop.abort();
        await writing;
      }
    }, 600_000);
  });
}
