import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { applyBranchCreate, planBranchCreate } from '../../../src/operations/branch/create/create.ts';
import { applyBranchDrop, planBranchDrop } from '../../../src/operations/branch/drop/drop.ts';
import { applyBranchSwitch, planBranchSwitch } from '../../../src/operations/branch/switch/switch.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { applyUndo, planUndo } from '../../../src/operations/undo/undo.ts';
import type { LoadResult } from '../../../src/results/load-results.ts';
import { type AnyServer, startAnyServer } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { testedFlavours } from '../../helpers/mysql/mysql-server.ts';
import { temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';

const FILL = [
  'CREATE TABLE customer (id INT PRIMARY KEY, name VARCHAR(40))',
  `CREATE TABLE orders (id INT PRIMARY KEY AUTO_INCREMENT, customer INT, amount DECIMAL(8,2), doubled DECIMAL(9,2) AS (amount * 2) STORED,
    facts JSON, bytes VARBINARY(8), FOREIGN KEY (customer) REFERENCES customer (id), CONSTRAINT positive CHECK (amount > 0))`,
  'CREATE TABLE item (id INT PRIMARY KEY AUTO_INCREMENT, orders INT NOT NULL, CONSTRAINT of_order FOREIGN KEY (orders) REFERENCES orders (id) ON DELETE CASCADE)',
  'CREATE TABLE part (id INT PRIMARY KEY, note TEXT) PARTITION BY HASH (id) PARTITIONS 3',
  'CREATE TABLE heard (id INT PRIMARY KEY AUTO_INCREMENT, what VARCHAR(20))',
  'CREATE TABLE owner (id INT PRIMARY KEY)',
  'CREATE TABLE loud (id INT PRIMARY KEY AUTO_INCREMENT, owner INT, FOREIGN KEY (owner) REFERENCES owner (id))',
  "CREATE TRIGGER noted AFTER INSERT ON loud FOR EACH ROW INSERT INTO heard (what) VALUES ('loud')",
  'CREATE TABLE echo (id INT PRIMARY KEY, loud INT, FOREIGN KEY (loud) REFERENCES loud (id) ON DELETE CASCADE)',
  // Locked with the table: what its triggers write, and what its foreign keys change.
  "CREATE TRIGGER again AFTER INSERT ON loud FOR EACH ROW BEGIN INSERT INTO heard (what) VALUES ('again'); UPDATE owner SET id = id; END",
  "SET sql_mode = 'NO_BACKSLASH_ESCAPES'",
  "CREATE TRIGGER slash BEFORE INSERT ON loud FOR EACH ROW BEGIN IF '\\' = '\\x' THEN DELETE FROM heard; END IF; END",
  "SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'",
  "CREATE TRIGGER gone AFTER DELETE ON loud FOR EACH ROW INSERT INTO heard (what) VALUES ('gone')",
  'CREATE TABLE old (id INT PRIMARY KEY) ENGINE = MyISAM',
  'CREATE VIEW totals AS SELECT COUNT(*) AS amount FROM orders',
  "INSERT INTO customer VALUES (1, 'Ada'), (2, 'Bea')",
  'INSERT INTO owner VALUES (1), (2)',
  'INSERT INTO loud (owner) VALUES (1), (2)',
  'INSERT INTO echo VALUES (1, 1)',
  'TRUNCATE heard',
  `INSERT INTO orders (customer, amount, facts, bytes) VALUES (1, 10, '{"a": [1, null]}', X'00FF0A'), (2, 20, NULL, NULL), (NULL, 30, '"text"', X'5C')`,
  'INSERT INTO item (orders) VALUES (1), (2), (3)',
  "INSERT INTO part VALUES (1, 'a\\n'), (2, NULL), (3, '')",
];

for (const kind of testedFlavours('mysql')) {
  describeWithKind(kind, 'a load of only the rows of some tables', () => {
    let server: AnyServer;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let context: ReturnType<typeof testContext>;

    beforeAll(async () => {
      [server, folder] = await Promise.all([startAnyServer(kind, 'defaults'), temporaryFolder()]);
      await server.create('source');
      await server.run('source', FILL);
      const [src_url, dst_url] = [server.url('source'), server.url('copy')];
      const targets = { app: { snapshot: { src_url, dst_url } } };
      context = testContext({ settings: { working_directory: folder.path, targets } });
      await build(context, { target: 'app' });
    }, 240_000);

    beforeEach(async () => {
      await load({ undo: false });
    }, 60_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    async function load(request: Partial<Parameters<typeof planLoad>[1]>): Promise<LoadResult> {
      return applyLoad(context, await planLoad(context, { target: 'app', ...request }));
    }

    const only = (...tables: string[]): Promise<LoadResult> => load({ tables, only: true });

    async function undo(): Promise<LoadResult> {
      return applyUndo(context, await planUndo(context, { target: 'app' }));
    }

    const change = (...statements: string[]): Promise<void> => server.run('copy', statements);
    const column = async (query: string): Promise<string> => (await server.column('copy', query)).join(' ');
    const content = (): Promise<string> => server.content('copy');

    it('replaces their rows and nothing else, and undo puts the previous ones back, twice', {
      timeout: 120_000,
    }, async () => {
      const before = await content();
      await change(
        "UPDATE orders SET amount = 99, bytes = 'x' WHERE id = 2",
        'INSERT INTO orders (amount) VALUES (4), (5)',
        "INSERT INTO customer VALUES (3, 'Cid')",
        "UPDATE part SET note = 'changed'",
      );
      const changed = await content();
      const result = await only('source.orders', 'source.part');
      expect(result).toMatchObject({
        swap_ms: null,
        undo_database: 'copy.tool-undo',
        only_rows: {
          tables: [
            { table: 'source.orders', rows_before: 5, rows: 3 },
            { table: 'source.part', rows: 3 },
          ],
        },
      });
      expect(await column('SELECT COUNT(*) FROM item')).toBe('3');
      expect(await column('SELECT COUNT(*) FROM customer')).toBe('3');
      await change('DELETE FROM customer WHERE id = 3');
      expect(await content()).toBe(before);
      await change("INSERT INTO customer VALUES (3, 'Cid')");
      const plan = await planUndo(context, { target: 'app' });
      expect(plan.plan).toMatchObject({ tables: ['source.orders', 'source.part'] });
      await undo();
      expect(await content()).toBe(changed);
      await undo();
      expect(await column('SELECT SUM(amount) FROM orders')).toBe('60.00');
      expect((await server.databases()).filter((name) => name.startsWith('copy'))).toEqual(['copy', 'copy.tool-undo']);
      await load({});
      expect((await planUndo(context, { target: 'app' })).plan.tables).toBeUndefined();
    });

    it('fires no trigger, and leaves the triggers and their order as they are', { timeout: 120_000 }, async () => {
      const before = await content();
      await change('DELETE FROM loud WHERE id = 2', 'INSERT INTO loud VALUES (7, 1), (8, NULL)');
      const changed = await content();
      await only('source.loud', 'source.part');
      expect(await column('SELECT GROUP_CONCAT(id ORDER BY id) FROM loud')).toBe('1,2');
      await undo();
      expect(await content()).toBe(changed);
      await undo();
      await change('TRUNCATE heard');
      expect(await content()).toBe(before);

      await change('DELETE FROM loud WHERE id = 2', 'DELETE FROM owner WHERE id = 2');
      const without = await content();
      expect(await only('source.loud').catch((error) => error)).toMatchObject({
        code: 'rows_would_dangle',
        details: [expect.stringMatching('source.loud \\(owner\\) → source.owner: 1 row,')],
      });
      expect(await content()).toBe(without);
      expect(await server.databases()).toEqual(['copy', 'copy.tool-undo', 'source']);
    });

    it('runs no code of an undo copy whose tables somebody has replaced by views', { timeout: 120_000 }, async () => {
      await only('source.part');
      await change(
        'CREATE FUNCTION evil() RETURNS INT DETERMINISTIC MODIFIES SQL DATA BEGIN INSERT INTO heard (what) VALUES (CURRENT_USER()); RETURN 1; END',
        'DROP TABLE `copy.tool-undo`.part',
        "CREATE SQL SECURITY INVOKER VIEW `copy.tool-undo`.part AS SELECT copy.evil() AS id, 'x' AS note",
      );
      const outcome = await undo().catch((error) => error);
      expect(await column('SELECT COUNT(*) FROM heard')).toBe('0');
      expect(outcome).toMatchObject({ code: 'nothing_to_undo' });
      await change(
        'DROP TABLE `copy.tool-undo`.`tool-kept`',
        'CREATE SQL SECURITY INVOKER VIEW `copy.tool-undo`.`tool-kept` AS SELECT copy.evil() AS id, copy.evil() AS json',
      );
      await undo().catch(() => {});
      expect(await column('SELECT COUNT(*) FROM heard')).toBe('0');
      await change('DROP DATABASE `copy.tool-undo`', 'DROP FUNCTION evil');
    });

    it('puts no rows back into another branch than the one that they come from', { timeout: 120_000 }, async () => {
      await load({ keepBase: true });
      const target = 'app';
      await applyBranchCreate(context, await planBranchCreate(context, { target, name: 'b', count: 2 }));
      const switchTo = async (name: string) =>
        applyBranchSwitch(context, await planBranchSwitch(context, { target, name }));
      await switchTo('b_1');
      await change('DELETE FROM part');
      await only('source.part');
      await switchTo('b_2');
      // Reverts the switch, and then puts the rows of the branch back.
      await undo();
      await undo();
      expect(await column('SELECT COUNT(*) FROM part')).toBe('0');
      await switchTo('b_2');
      await applyBranchDrop(context, await planBranchDrop(context, { target, names: ['b_1'] }));
      await expect(undo()).rejects.toMatchObject({
        code: 'nothing_to_undo',
        message: 'The previous rows are of another database than the present copy',
      });
      expect(await column('SELECT COUNT(*) FROM part')).toBe('3');
    });

    it('stops where a row elsewhere would dangle, and changes nothing', { timeout: 120_000 }, async () => {
      await change('INSERT INTO orders (id, amount) VALUES (50, 1)', 'INSERT INTO item (orders) VALUES (50), (50)');
      const before = await content();
      const failure = await only('source.orders').catch((error) => error);
      expect(failure).toMatchObject({
        code: 'rows_would_dangle',
        details: ['source.item (orders) → source.orders: 2 rows, foreign key of_order: 4; 5'],
        hint: 'The destination is unchanged. Add the rows of: source.item',
      });
      expect(await content()).toBe(before);
      await only('source.orders', 'source.item');
      expect(await column('SELECT COUNT(*) FROM item')).toBe('3');
    });

    it('refuses other definitions, triggers of another collation and engines without transactions', {
      timeout: 120_000,
    }, async () => {
      await change('ALTER TABLE orders ADD extra INT');
      const failure = await only('source.orders').catch((error) => error);
      expect(failure).toMatchObject({ code: 'definitions_differ' });
      expect(failure.details.join('\n')).toContain('`extra` int');
      await server.run('', ["CREATE USER limited IDENTIFIED BY 'pw'", 'GRANT ALL ON `copy%`.* TO limited']);
      const limited = new URL(server.url('copy'));
      Object.assign(limited, { username: 'limited', password: 'pw' });
      const snapshot = { src_url: server.url('source'), dst_url: String(limited) };
      const settings = { working_directory: folder.path, targets: { app: { snapshot } } };
      const planned = await planLoad(testContext({ settings }), { target: 'app', tables: ['source.loud'], only: true });
      const before = await content();
      expect(await applyLoad(testContext({ settings }), planned).catch((error) => error)).toMatchObject({
        code: 'rows_not_replaceable',
        message: expect.stringContaining('the user may not create them again'),
      });
      expect(await content()).toBe(before);
      expect((await server.databases()).join()).not.toContain('tool-new');
      await change('ALTER DATABASE copy COLLATE utf8mb4_bin');
      expect(await only('source.loud').catch((error) => error)).toMatchObject({
        code: 'rows_not_replaceable',
        details: [expect.stringContaining('again on loud')],
      });
      expect(await only('source.old').catch((error) => error)).toMatchObject({ code: 'rows_not_replaceable' });
    });

    it('refuses when another session keeps rows locked', { timeout: 120_000 }, async () => {
      const before = await content();
      await server.writer('copy', async (execute) => {
        await execute('START TRANSACTION');
        await execute('UPDATE orders SET amount = 1 WHERE id = 1');
        await execute('UPDATE loud SET owner = 2 WHERE id = 1');
        for (const table of ['source.orders', 'source.loud'])
          expect(await only(table).catch((error) => error)).toMatchObject({ code: 'tables_locked' });
        await execute('ROLLBACK');
      });
      expect(await content()).toBe(before);
    });
  });
}
