import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { openSession } from '../../../../src/engines/mysql/connection/session.ts';
import { parseMysqlUrl } from '../../../../src/engines/mysql/connection/url.ts';
import { applyBack, planBack } from '../../../../src/operations/back/back.ts';
import { build } from '../../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../../src/operations/load/load.ts';
import { applyReset, planReset, type ResetRequest } from '../../../../src/operations/reset/reset.ts';
import type { RunEvent } from '../../../../src/results/events.ts';
import type { ResetPlan, ResetResult } from '../../../../src/results/load-results.ts';
import { asData } from '../../../helpers/fakes/as-data.ts';
import { itIf } from '../../../helpers/it-if.ts';
import { doubtfulTables } from '../../../helpers/mysql/doubtful-tables.ts';
import {
  describeWithMysql,
  startMysql,
  type TestFlavour,
  testedFlavours,
} from '../../../helpers/mysql/mysql-server.ts';
import { eventually, temporaryFolder, testContext } from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

const FILL = [
  `CREATE TABLE item (code VARCHAR(20) COLLATE utf8mb4_general_ci NOT NULL, number INT NOT NULL, f FLOAT, d DOUBLE, day DATE, body BLOB, text TEXT COLLATE utf8mb4_general_ci,
     kind ENUM('a', 'b'), flags SET('x', 'y'), bits BIT(9), size INT AS (LENGTH(body)) STORED, PRIMARY KEY (code, number))`,
  "INSERT INTO item (code, number, f, d, day, body, text, kind, flags, bits) VALUES ('a', 1, 0.1, 0, '0000-00-00', X'00', 'One', 'a', 'x,y', 7), ('b', 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), ('c', 2, 0, 0, '2026-02-28', X'', '', 'b', '', 0)",
  'CREATE TABLE parent (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(20) UNIQUE)',
  "INSERT INTO parent VALUES (1, 'one'), (2, 'two'), (3, 'three')",
  'CREATE TABLE child (id INT PRIMARY KEY, parent_id INT, FOREIGN KEY (parent_id) REFERENCES parent (id) ON DELETE CASCADE)',
  'INSERT INTO child VALUES (1, 1), (2, 2), (3, 3)',
  'CREATE TABLE guarded (id INT PRIMARY KEY)',
  'INSERT INTO guarded VALUES (1)',
  'CREATE VIEW names AS SELECT name FROM parent',
  'CREATE FUNCTION twice(n INT) RETURNS INT DETERMINISTIC RETURN 2 * n',
  'CREATE TRIGGER guard BEFORE DELETE ON guarded FOR EACH ROW SET @guarded = 1',
  'CREATE EVENT hourly ON SCHEDULE EVERY 1 HOUR DO DELETE FROM child WHERE id < 0',
];

/** Each equals what was there by a comparison of the server. */
const CHANGES = [
  "UPDATE item SET text = 'one' WHERE code = 'a'",
  "UPDATE item SET code = 'A' WHERE code = 'a'",
  'UPDATE item SET f = 0.10000001 WHERE number = 1 AND f IS NOT NULL',
  "UPDATE item SET day = '2026-03-01', body = NULL, bits = 1",
  'DELETE FROM parent WHERE id = 2',
  "UPDATE parent SET name = IF(id = 1, 'none', 'one') WHERE id <> 2 ORDER BY id",
  "INSERT INTO parent (name) VALUES ('four'), ('five')",
  'DELETE FROM child',
];

/** MariaDB stores it as 0. */
const OF_FLAVOUR: Record<TestFlavour, string[]> = {
  mariadb: [],
  mysql: ["UPDATE item SET d = '-0' WHERE code = 'c'"],
};

const WAITING = "SELECT 1 FROM information_schema.PROCESSLIST WHERE INFO LIKE 'LOCK TABLES%' AND STATE LIKE 'Waiting%'";

for (const flavour of testedFlavours('mariadb')) {
  describeWithMysql(flavour, { name: 'a reset in place' }, () => {
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startMysql(flavour));
    let pristine: string;
    const events: RunEvent[] = [];

    beforeAll(async () => {
      await server.createDatabase('source');
      await server.sql('source', "SET sql_mode = ''", ...FILL);
      await build(context(), { target: 'app' });
      await applyLoad(context(), await planLoad(context(), { target: 'app', keepBase: true }));
      pristine = await server.dump('copy');
    }, 240_000);

    const context = (before: 'load'[] = []) =>
      testContext({
        settings: {
          saves: { keep: 20, max_duration: 10, before },
          working_directory: join(folder.path, 'work'),
          targets: { app: { snapshot: { src_url: server.url('source'), dst_url: server.url('copy') } } },
        },
        events,
      });
    const planned = async (request: Partial<ResetRequest> = {}) =>
      planReset(context(), { target: 'app', undo: false, ...request });
    const plan = async (request: Partial<ResetRequest> = {}): Promise<ResetPlan> => asData(await planned(request)).plan;
    const reset = async (request: Partial<ResetRequest> = {}): Promise<ResetResult> =>
      applyReset(context(), asData(await planned(request)));

    it('changes the rows that differ in any value, and ends no session', async () => {
      await server.sql('copy', "SET sql_mode = ''", ...CHANGES);
      expect(await plan()).toMatchObject({ way_reason: 'definitions are the same, and few rows have changed' });
      const done = await reset();
      expect(events.filter((event) => event.event === 'warning' && event.code === 'reset_by_copy')).toEqual([]);
      expect(done).toMatchObject({
        way: 'in_place',
        changes: {
          tables: [
            { table: 'copy.child', delete: 0, insert: 3 },
            { table: 'copy.item', delete: 3, insert: 3 },
            { table: 'copy.parent', delete: 4, insert: 3 },
          ],
        },
      });
      expect(await server.dump('copy')).toBe(pristine);
      for (const change of [...CHANGES, ...OF_FLAVOUR[flavour]]) {
        await server.sql('copy', "SET sql_mode = ''", change);
        const { way, changes } = await reset();
        expect([way, (changes?.tables.length ?? 0) > 0], change).toEqual(['in_place', true]);
        expect((await server.dump('copy')) === pristine, change).toBe(true);
      }
      expect(await reset()).toMatchObject({ way: 'in_place', changes: { tables: [] } });
    });

    const doubtful = async (seen?: unknown) => {
      const found = await doubtfulTables(server, { destination: 'copy', seen });
      return typeof found === 'string' ? found : found.compared.map(({ name }) => name);
    };

    it('reads only tables that were written to, or whose counter is another', async () => {
      await eventually(async () => (await reset()).way === 'in_place' && (await doubtful()).length === 0);
      await server.sql('copy', 'DELETE FROM parent WHERE id = 2');
      expect(await doubtful()).toEqual(['child', 'parent']);
      await server.sql('copy', 'START TRANSACTION', "INSERT INTO item (code, number) VALUES ('z', 1)", 'ROLLBACK');
      expect(await reset()).toMatchObject({ way: 'in_place', changes: { tables: [{ insert: 1 }, { insert: 1 }] } });
      expect(await server.dump('copy')).toBe(pristine);
      await eventually(async () => (await reset()).way === 'in_place' && (await doubtful()).length === 0);
      await server.sql('copy', 'START TRANSACTION', "INSERT INTO parent (name) VALUES ('none')", 'ROLLBACK');
      expect(await doubtful()).toEqual(['parent']);
      expect(await reset()).toMatchObject({ way: 'in_place', changes: { tables: [{ delete: 0, insert: 0 }] } });
      expect(await server.dump('copy')).toBe(pristine);
    });

    it('reads tables without evidence before it locks them, unless a commit may be under way', async () => {
      await server.sql('copy.tool-base', 'DROP TABLE IF EXISTS `tool-unwritten`');
      const all = ['child', 'guarded', 'item', 'parent'];
      expect(await doubtful()).toEqual(all);
      await eventually(async () => (await doubtful((await planned()).seen)).length === 0);
      await using writer = await openSession({ url: parseMysqlUrl(server.url('copy')) });
      await writer.execute('START TRANSACTION');
      await writer.execute('DELETE FROM child WHERE id = 1');
      expect(await doubtful((await planned()).seen)).toEqual(all);
      await writer.execute('ROLLBACK');
      await server.sql('copy', 'DELETE FROM child WHERE id = 1');
      const { seen } = await planned();
      expect(await doubtful(seen)).toEqual(['child']);
      await server.sql('copy', 'DELETE FROM parent WHERE id = 3');
      expect(await doubtful(seen)).toEqual(['child', 'parent']);
      expect(await reset()).toMatchObject({ way: 'in_place', changes: { tables: [{ insert: 2 }, { insert: 1 }] } });
      expect(await server.dump('copy')).toBe(pristine);
    });

    it('is refused at once while a transaction that XA has prepared holds a table', async () => {
      const changes = ["XA START 'mine', 'part', 7", 'DELETE FROM child WHERE id = 1', "XA END 'mine', 'part', 7"];
      const before = asData(await planned({ copy: true }));
      await server.sql('copy', ...changes, "XA PREPARE 'mine', 'part', 7");
      const left = 'SELECT 1 FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id = 0';
      await eventually(async () => (await server.sql('', 'DO SLEEP(0.11)', left)).length > 0);
      const refused = {
        code: 'sessions_stay',
        message: 'A prepared XA transaction holds copy.child, so copy cannot be replaced',
        details: ["prepared: 'mine', 'part', 7"],
      };
      try {
        for (const copy of [false, true]) await expect(planned({ copy })).rejects.toMatchObject(refused);
        await expect(applyReset(context(), before)).rejects.toMatchObject(refused);
      } finally {
        await server.sql('', "XA ROLLBACK 'mine', 'part', 7");
      }
      expect(await reset()).toMatchObject({ way: 'in_place' });
    });

    itIf(process.env.TEST_FULL)(
      'is refused after seconds while a session has a transaction that XA has prepared',
      { timeout: 60_000 },
      async () => {
        await using holder = await openSession({ url: parseMysqlUrl(server.url('copy')) });
        for (const part of ['START', 'END', 'PREPARE']) {
          await holder.execute(`XA ${part} 'held'`);
          if (part === 'START') await holder.execute('DELETE FROM child WHERE id = 1');
        }
        const started = performance.now();
        try {
          await expect(reset()).rejects.toMatchObject({
            code: 'sessions_stay',
            details: expect.arrayContaining(["prepared: 'held'"]),
          });
          expect(performance.now() - started).toBeLessThan(40_000);
        } finally {
          await server.sql('', "XA ROLLBACK 'held'");
        }
        expect(await server.dump('copy')).toBe(pristine);
      },
    );

    it('sees what is written while it waits for a lock, and ends no session', async () => {
      await eventually(async () => (await reset()).way === 'in_place' && (await doubtful()).length === 0);
      await using first = await openSession({ url: parseMysqlUrl(server.url('copy')) });
      await using second = await openSession({ url: parseMysqlUrl(server.url('copy')) });
      await first.execute('START TRANSACTION');
      await first.execute('DELETE FROM child WHERE id = 1');
      const running = reset();
      await eventually(async () => (await server.sql('', WAITING)).length > 0);
      await second.execute('DELETE FROM parent WHERE id = 3');
      await first.execute('COMMIT');
      expect(await running).toMatchObject({
        way: 'in_place',
        changes: {
          tables: [
            { table: 'copy.child', insert: 2 },
            { table: 'copy.parent', insert: 1 },
          ],
        },
      });
      expect(await server.dump('copy')).toBe(pristine);
      expect(await first.query('SELECT 1')).toHaveLength(1);
    });

    it('saves the present state first unless that is not wanted, and a return restores it', async () => {
      await server.sql('copy', "UPDATE parent SET name = 'mine' WHERE id = 1");
      const before = await server.dump('copy');
      const saving = () => context(['load']);
      const planned = asData(await planReset(saving(), { target: 'app' }));
      expect(planned.plan).toMatchObject({ way: 'in_place', automatic_saves: [{ database: 'copy', before: 'load' }] });
      expect(await applyReset(saving(), planned)).toMatchObject({ way: 'in_place', undo_database: null });
      expect(await server.dump('copy')).toBe(pristine);
      await applyBack(context(), await planBack(context(), { target: 'app' }));
      expect(await server.dump('copy')).toBe(before);
      await applyLoad(context(), await planLoad(context(), { target: 'app', keepBase: true }));
    });

    it('replaces a value that is longer than a packet', async () => {
      const value = (end: string) => `CONCAT(REPEAT('ab', 25000), '${end}')`;
      await server.sql('source', `UPDATE item SET text = ${value('c')} WHERE code = 'b'`);
      await build(context(), { target: 'app' });
      await applyLoad(context(), await planLoad(context(), { target: 'app', keepBase: true }));
      const loaded = await server.dump('copy');
      await server.sql('copy', `UPDATE item SET text = ${value('d')} WHERE code = 'b'`);
      await server.sql('', 'SET GLOBAL max_allowed_packet = 32768');
      try {
        expect(await reset()).toMatchObject({ way: 'in_place', changes: { tables: [{ delete: 1, insert: 1 }] } });
      } finally {
        await server.sql('', 'SET GLOBAL max_allowed_packet = 67108864');
      }
      expect(await server.dump('copy')).toBe(loaded);
      pristine = loaded;
    });

    it('restores the time of the last write that a restarted server has forgotten', { timeout: 60_000 }, async () => {
      await server.sql('', 'SET GLOBAL innodb_flush_log_at_trx_commit = 1');
      await reset({ copy: true });
      await server.crash();
      expect(await doubtful()).toEqual(['child', 'guarded', 'item', 'parent']);
      // The triggers of one could not be turned off.
      await eventually(async () => (await reset()).way === 'in_place' && (await doubtful()).length === 1);
      expect(await doubtful()).toEqual(['guarded']);
      expect(await server.dump('copy')).toBe(pristine);
    });

    it.each([
      ['ALTER TABLE child ADD note INT', 'definitions of tables differ'],
      ['DROP VIEW names', 'definitions of views differ'],
      ['ALTER DATABASE copy CHARACTER SET latin1', 'the collation of the database differs'],
      [
        "SET sql_mode = ''; ALTER DATABASE copy CHARACTER SET latin1; DROP FUNCTION twice; CREATE FUNCTION twice(n INT) RETURNS INT DETERMINISTIC RETURN 2 * n; ALTER DATABASE copy CHARACTER SET utf8mb4",
        'definitions of routines differ',
      ],
      ['ALTER EVENT hourly DO SELECT 1', 'definitions of events differ'],
      ['INSERT INTO guarded VALUES (2)', 'guarded has triggers, which no transaction turns off'],
    ])('is by copy after %s', async (change, reason) => {
      await server.sql('copy', ...change.split('; '));
      expect(await plan()).toMatchObject({ way: 'copy', way_reason: reason });
      expect(await reset()).toMatchObject({ way: 'copy' });
      expect(await server.dump('copy')).toBe(pristine);
    });
  });
}
