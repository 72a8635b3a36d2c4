import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type MysqlSession, openSession } from '../../../../src/engines/mysql/connection/session.ts';
import { parseMysqlUrl } from '../../../../src/engines/mysql/connection/url.ts';
import { build } from '../../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../../src/operations/load/load.ts';
import { applyUndo, planUndo } from '../../../../src/operations/undo/undo.ts';
import { describeWithMysql, startMysql, testedFlavours } from '../../../helpers/mysql/mysql-server.ts';
import { temporaryFolder, testContext } from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

/** With those of the destination above 100 names. */
const TABLES = Array.from({ length: 52 }, (_, at) => `t${String(at).padStart(2, '0')}`);
const ODD = [
  "CREATE TABLE `o'dd ``name` (`a\tb` FLOAT, g INT AS (length(c)) STORED, c VARCHAR(9) COLLATE utf8mb4_bin, v BIT(5), KEY (c)) COMMENT=' ENGINE=InnoDB AUTO_INCREMENT=9 '",
  "INSERT INTO `o'dd ``name` (`a\tb`, c, v) VALUES (0.1, 'x', 3), (0.1, 'x', 3), (NULL, NULL, NULL)",
  'CREATE TABLE zero (id INT AUTO_INCREMENT PRIMARY KEY, at TIMESTAMP NULL, d DATE)',
  "INSERT INTO zero VALUES (0, '2001-01-01 00:00:00', '0000-00-00'), (7, NULL, '2020-02-31')",
];

const FLAVOURS = testedFlavours('mariadb');

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'a swap of many small tables' }, () => {
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startMysql(flavour));
    let session: MysqlSession;
    let source = '';
    const context = (user?: { name: string; password: string }) =>
      testContext({
        settings: {
          working_directory: join(folder.path, 'work'),
          targets: { app: { snapshot: { src_url: server.url('source'), dst_url: server.url('copy', user) } } },
        },
      });

    async function load(): Promise<void> {
      await applyLoad(context(), await planLoad(context(), { target: 'app' }));
    }

    async function undo(): Promise<void> {
      await applyUndo(context(), await planUndo(context(), { target: 'app' }));
    }

    beforeAll(async () => {
      session = await openSession({ url: parseMysqlUrl(server.url('')), several: true });
      await server.createDatabase('source');
      await server.sql(
        'source',
        'SET foreign_key_checks = 0',
        ...TABLES.map(
          (table, at) =>
            `CREATE TABLE ${table} (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40), parent_id INT, CONSTRAINT fk_${table} FOREIGN KEY (parent_id) REFERENCES ${TABLES[at >> 1]} (id))`,
        ),
        ...TABLES.map((table) => `INSERT INTO ${table} (name, parent_id) VALUES ('one', 1), ('two', 1)`),
        ...ODD,
        'CREATE VIEW names AS SELECT name FROM t00',
      );
      await build(context(), { target: 'app' });
      source = await server.dump('source');
    }, 240_000);

    beforeEach(async () => {
      await session.execute('DROP DATABASE IF EXISTS `copy.tool-undo`');
      await session.execute('DROP DATABASE IF EXISTS copy');
      await load();
    }, 60_000);

    afterAll(async () => {
      await session?.close();
    });

    /** A RENAME TABLE moves the table that the server numbers so. */
    async function numbers(database = 'copy'): Promise<string[]> {
      const catalog = flavour === 'mariadb' ? 'INNODB_SYS_TABLES' : 'INNODB_TABLES';
      const rows = await session.query<{ id: number }>(
        `SELECT TABLE_ID AS id FROM information_schema.${catalog} WHERE NAME LIKE '${database}/%' AND NAME NOT LIKE '%kept' ORDER BY NAME`,
      );
      return rows.map(({ id }) => String(id));
    }

    const CHANGES = [
      "UPDATE t03 SET name = 'changed' WHERE id = 2",
      "INSERT INTO t04 (name) VALUES ('three')",
      'DELETE FROM t35',
      "INSERT INTO `o'dd ``name` (c) VALUES ('more')",
      'ALTER TABLE t06 AUTO_INCREMENT = 1000',
      'DELETE FROM zero WHERE id = 0',
    ];

    it('exchanges their rows: the tables are the same ones, and undo restores the previous rows and counters', async () => {
      await server.sql('copy', ...CHANGES);
      const changed = await server.dump('copy');
      const before = await numbers();
      await load();
      expect(await server.dump('copy')).toBe(source);
      expect(await numbers()).toEqual(before);

      await undo();
      expect(await server.dump('copy')).toBe(changed);
      expect(await numbers()).toEqual(before);
      await undo();
      expect(await server.dump('copy')).toBe(source);

      // From now on there is an undo copy, which takes the rows.
      const undoNumbers = await numbers('copy@002etool@002dundo');
      expect(undoNumbers).toHaveLength(before.length);
      await server.sql('copy', ...CHANGES);
      await load();
      expect(await server.dump('copy')).toBe(source);
      expect(await numbers('copy@002etool@002dundo')).toEqual(undoNumbers);
      await undo();
      expect(await server.dump('copy')).toBe(changed);
      expect(await numbers()).toEqual(before);
      expect((await server.databases()).filter((name) => name.startsWith('copy'))).toEqual(['copy', 'copy.tool-undo']);
    }, 120_000);

    it('shows a reader the old rows or the new ones, never both', async () => {
      await server.sql('copy', ...TABLES.map((table) => `UPDATE ${table} SET name = 'old'`));
      const seen = new Set<string>();
      let longest = 0;
      let ended = false;
      const reading = (async () => {
        const first = `SELECT name FROM copy.${TABLES[0]} WHERE id = 1`;
        const last = `SELECT name FROM copy.${TABLES.at(-1)} WHERE id = 1`;
        while (!ended) {
          const started = performance.now();
          const [row] = await session.query<{ a: string; z: string }>(`SELECT (${first}) AS a, (${last}) AS z`);
          longest = Math.max(longest, performance.now() - started);
          seen.add(`${row?.a} ${row?.z}`);
        }
      })();
      await load();
      ended = true;
      await reading;
      expect([...seen].sort()).toEqual(['old old', 'one one']);
    }, 120_000);

    it.each([
      ['another definition', 'ALTER TABLE t07 ADD COLUMN more INT'],
      ['a trigger', 'CREATE TRIGGER t BEFORE INSERT ON t08 FOR EACH ROW SET NEW.name = 1'],
    ])(
      'exchanges the tables where the destination has %s',
      async (_, change) => {
        await server.sql('copy', 'SET foreign_key_checks = 0', change);
        const before = await numbers();
        await load();
        expect(await server.dump('copy')).toBe(source);
        const after = await numbers();
        expect(after.filter((id) => before.includes(id))).toEqual([]);
      },
      120_000,
    );

    it('fires no trigger that the user may not see', async () => {
      const user = { name: 'loader', password: 'secret' };
      await server.sql(
        'copy',
        'CREATE DATABASE IF NOT EXISTS elsewhere',
        'CREATE TABLE IF NOT EXISTS elsewhere.log (name VARCHAR(40))',
        'DELETE FROM elsewhere.log',
        "UPDATE t11 SET name = 'changed'",
        'CREATE TRIGGER hidden AFTER INSERT ON t11 FOR EACH ROW INSERT INTO elsewhere.log VALUES (NEW.name)',
        "CREATE USER IF NOT EXISTS loader@'%' IDENTIFIED BY 'secret'",
        "GRANT ALL ON `copy%`.* TO loader@'%'",
        "GRANT ALL ON source.* TO loader@'%'",
        "REVOKE TRIGGER ON `copy%`.* FROM loader@'%'",
      );
      const changed = await server.dump('copy');
      const loading = async () => applyLoad(context(user), await planLoad(context(user), { target: 'app' }));
      await expect(loading()).rejects.toMatchObject({ name: expect.stringContaining('Error') });
      expect(await server.dump('copy')).toBe(changed);
      expect(await session.query('SELECT name FROM elsewhere.log')).toEqual([]);
    }, 120_000);

    it('waits seconds for a transaction, then exchanges the tables', async () => {
      const other = await openSession({ url: parseMysqlUrl(server.url('copy')) });
      await other.execute('START TRANSACTION');
      await other.execute("UPDATE t10 SET name = 'not committed' WHERE id = 1");
      const before = await numbers();
      await load();
      await other.close();
      expect(await server.dump('copy')).toBe(source);
      expect((await numbers()).filter((id) => before.includes(id))).toEqual([]);
    }, 120_000);
  });
}
