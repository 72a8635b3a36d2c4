import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { readCode } from '../../../../src/engines/mysql/catalog/definitions/read-definitions.ts';
import { type MysqlSession, openSession } from '../../../../src/engines/mysql/connection/session.ts';
import { SqlError } from '../../../../src/engines/mysql/connection/session-errors.ts';
import { parseMysqlUrl } from '../../../../src/engines/mysql/connection/url.ts';
import { build } from '../../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../../src/operations/load/load.ts';
import { applySanitize, planSanitize } from '../../../../src/operations/sanitize/sanitize.ts';
import { applyUndo, planUndo } from '../../../../src/operations/undo/undo.ts';
import type { RunEvent } from '../../../../src/results/events.ts';
import { withDetails } from '../../../helpers/databases/build-and-load.ts';
import { itIf } from '../../../helpers/it-if.ts';
import {
  describeWithMysql,
  startMysql,
  TESTED_SETUPS,
  type TestMysql,
  testedFlavours,
} from '../../../helpers/mysql/mysql-server.ts';
import { temporaryFolder, testContext } from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

const FLAVOURS = testedFlavours('mysql');
/** A zone without transitions is enough for an event. */
const ZONE = [
  "INSERT INTO mysql.time_zone (Time_zone_id, Use_leap_seconds) VALUES (901, 'N')",
  "INSERT INTO mysql.time_zone_name (Name, Time_zone_id) VALUES ('Europe/Berlin', 901)",
  "INSERT INTO mysql.time_zone_transition_type (Time_zone_id, Transition_type_id, `Offset`, Is_DST, Abbreviation) VALUES (901, 0, 3600, 0, 'CET')",
];
const NO_ZONE = ['time_zone', 'time_zone_name', 'time_zone_transition_type'].map(
  (table) => `DELETE FROM mysql.${table} WHERE Time_zone_id = 901`,
);
const OWN = [
  'CREATE TABLE own (id INT PRIMARY KEY, note VARCHAR(20))',
  "CREATE TRIGGER own_trigger BEFORE INSERT ON own FOR EACH ROW SET NEW.note = 'own'",
  'INSERT INTO own (id) VALUES (1), (2)',
  'CREATE VIEW own_view AS SELECT note FROM own',
];

for (const [flavour, setup] of FLAVOURS.flatMap((flavour) => TESTED_SETUPS.map((setup) => [flavour, setup] as const))) {
  describeWithMysql(flavour, { name: `a swap that the server refuses in part (${setup})` }, () => {
    let server: TestMysql;
    const folder = suiteResource(() => temporaryFolder());
    let events: RunEvent[] = [];

    const contextOf = (user?: { name: string; password: string }) =>
      testContext({
        settings: {
          working_directory: join(folder.path, 'work'),
          targets: {
            app: {
              snapshot: { src_url: server.url('app'), dst_url: server.url('app_dev', user) },
              sanitize: { dst_url: server.url('app_safe'), override_query: "UPDATE m SET name = 'nobody'" },
            },
          },
        },
        events,
      });
    async function load(user?: { name: string; password: string }): Promise<void> {
      const running = contextOf(user);
      const planned = await withDetails(planLoad(running, { target: 'app', cpus: 1 }));
      await withDetails(applyLoad(running, planned));
    }
    async function undo(): Promise<void> {
      const running = contextOf();
      await withDetails(applyUndo(running, await planUndo(running, { target: 'app' })));
    }
    /** Forgets the zone, also in the memory of the server. */
    async function withoutZone(): Promise<void> {
      await server.sql('', ...NO_ZONE);
      await server.crash();
    }
    const databases = async () => (await server.databases()).filter((name) => name.startsWith('app_dev'));

    beforeAll(async () => {
      // What is committed outlives the process.
      server = await startMysql(flavour, ['--innodb-flush-log-at-trx-commit=2'], setup);
    }, 240_000);

    beforeEach(async () => {
      events = [];
      await server.sql('', ...NO_ZONE);
      for (const name of await server.databases()) await server.sql('', `DROP DATABASE \`${name}\``);
      await server.createDatabase('app');
      await server.sql('app', 'CREATE TABLE t (id INT PRIMARY KEY)', 'INSERT INTO t VALUES (7)');
      await server.createDatabase('app_dev');
      await server.sql('app_dev', ...OWN);
    });

    afterAll(async () => {
      await server?.stop();
    });

    it('leaves the destination unchanged when an event has a time zone that the server does not know', async () => {
      await server.sql(
        'app',
        ...ZONE,
        "SET time_zone = 'Europe/Berlin'",
        "CREATE EVENT nightly ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01' DO DELETE FROM t",
      );
      await build(contextOf(), { target: 'app', cpus: 1 });
      // MySQL does not start with such an event.
      await server.sql('app', 'DROP EVENT nightly');
      await withoutZone();
      const before = await server.dump('app_dev');
      for (const _ of [1, 2]) await expect(load()).rejects.toThrow(/nightly: .*time zone: 'Europe\/Berlin'/);
      expect(await server.dump('app_dev')).toBe(before);
      expect(await databases()).toEqual(['app_dev']);
    });

    it('leaves the destination unchanged when an undo would restore such an event', async () => {
      await server.sql(
        'app_dev',
        ...ZONE,
        "SET time_zone = 'Europe/Berlin'",
        "CREATE EVENT nightly ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01' DO DELETE FROM own",
      );
      await build(contextOf(), { target: 'app', cpus: 1 });
      const old = await server.dump('app_dev');
      await load();
      const loaded = await server.dump('app_dev');
      await withoutZone();
      await expect(undo()).rejects.toThrow(/nightly: .*time zone/);
      expect(await server.dump('app_dev')).toBe(loaded);
      await server.sql('', ...ZONE);
      await undo();
      expect(await server.dump('app_dev')).toBe(old);
      expect(await databases()).toEqual(['app_dev', 'app_dev.tool-undo']);
    });

    it('leaves the destination unchanged when the user may create triggers in the shadow database only', async () => {
      await server.sql('app', 'CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW SET NEW.id = NEW.id + 1');
      await build(contextOf(), { target: 'app', cpus: 1 });
      const user = { name: 'narrow', password: 'Secret-1' };
      const own = ['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'CREATE', 'DROP', 'ALTER', 'INDEX', 'REFERENCES'];
      await server.sql(
        '',
        "DROP USER IF EXISTS narrow@'%'",
        "CREATE USER narrow@'%' IDENTIFIED BY 'Secret-1'",
        "GRANT ALL ON `app\\_dev.tool%`.* TO narrow@'%'",
        `GRANT ${own.join(', ')}, SHOW VIEW, CREATE VIEW, LOCK TABLES ON app_dev.* TO narrow@'%'`,
        "GRANT PROCESS, SUPER ON *.* TO narrow@'%'",
      );
      await server.sql('app_dev', 'DROP TRIGGER own_trigger');
      const before = await server.dump('app_dev');
      await expect(load(user)).rejects.toMatchObject({ message: expect.stringMatching(/TRIGGER/) });
      expect(await server.dump('app_dev')).toBe(before);
      expect(await databases()).toEqual(['app_dev']);
      await server.sql('', "DROP USER narrow@'%'");
    });

    itIf(flavour === 'mysql' || setup === 'strict')(
      'names objects that a binary log or a required key refuses, before the rows',
      async () => {
        const user = { name: 'plain', password: 'Secret-1' };
        await server.sql(
          '',
          "DROP USER IF EXISTS plain@'%'",
          "CREATE USER plain@'%' IDENTIFIED BY 'Secret-1'",
          "GRANT ALL ON `app\\_dev%`.* TO plain@'%'",
          "GRANT PROCESS ON *.* TO plain@'%'",
        );
        await server.sql('app', 'CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW SET @made = 1');
        await build(contextOf(), { target: 'app', cpus: 1 });
        const before = await server.dump('app_dev');
        const attempt = load(user);
        if (setup === 'lean') await attempt;
        else {
          await expect(attempt).rejects.toMatchObject({
            message: expect.stringMatching(/trigger tr/),
            cause: { code: 'objects_refused', hint: expect.stringContaining('log_bin_trust_function_creators') },
          });
          expect(await server.dump('app_dev')).toBe(before);
        }
        await server.sql('', "DROP USER plain@'%'");
      },
    );

    itIf(flavour === 'mysql' && setup === 'strict')('names tables without a key where one is required', async () => {
      await server.sql('app', 'SET sql_require_primary_key = 0', 'CREATE TABLE keyless (id INT)');
      await build(contextOf(), { target: 'app', cpus: 1 });
      const before = await server.dump('app_dev');
      await expect(load()).rejects.toMatchObject({
        message: expect.stringMatching(/keyless$/),
        cause: { code: 'objects_refused' },
      });
      expect(await server.dump('app_dev')).toBe(before);
    });

    it('does not treat a temporary error as an unreadable definition', async () => {
      await using real = await openSession({ url: parseMysqlUrl(server.url('app_dev')) });
      const failing = (errno: number): MysqlSession =>
        Object.create(real, {
          bytes: { value: () => Promise.reject(new SqlError('refused', errno)) },
        });
      const unreadable: string[] = [];
      const read = (errno: number) => readCode(failing(errno), 'app_dev', (what) => unreadable.push(what));
      await expect(read(1105)).rejects.toMatchObject({ errno: 1105 });
      expect((await read(1142)).views).toEqual([]);
      expect(unreadable).toEqual(['view own_view', 'trigger own_trigger']);
    });

    it('sanitizes again and again where tables have triggers and others no transactions', async () => {
      await server.sql(
        'app',
        'CREATE TABLE m (id INT PRIMARY KEY, name VARCHAR(20)) ENGINE = MyISAM',
        "INSERT INTO m VALUES (3, 'Ada')",
        'CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW SET @made = 1',
      );
      await build(contextOf(), { target: 'app', cpus: 1 });
      for (const _ of [1, 2]) {
        const running = contextOf();
        await withDetails(applySanitize(running, await planSanitize(running, { target: 'app' })));
        expect(await server.sql('app_safe', 'SELECT name FROM m')).toEqual([{ name: 'nobody' }]);
      }
    });

    it('loads after an undo whose trial was interrupted, which leaves its trigger on the undo copy', async () => {
      await build(contextOf(), { target: 'app', cpus: 1 });
      await load();
      const trial = 'CREATE TRIGGER `app_dev.tool-undo`.own_trigger BEFORE INSERT ON `app_dev.tool-undo`.own';
      await server.sql('', `${trial} FOR EACH ROW SET NEW.note = 'own'`);
      await load();
      await undo();
      expect(await server.dump('app_dev')).toBe(await server.dump('app'));
    });

    it('exchanges tables with triggers beside tables without transactions', async () => {
      const mixed = ['CREATE TABLE m (id INT PRIMARY KEY) ENGINE = MyISAM', 'INSERT INTO m VALUES (3)'];
      await server.sql('app', ...mixed, 'CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW SET @made = 1');
      await server.sql('app_dev', ...mixed, 'CREATE TRIGGER of_m BEFORE INSERT ON m FOR EACH ROW SET @made = 1');
      const old = await server.dump('app_dev');
      await build(contextOf(), { target: 'app', cpus: 1 });
      for (const _ of [1, 2]) {
        await load();
        expect(await server.dump('app_dev')).toBe(await server.dump('app'));
      }
      await undo();
      expect(await server.dump('app_dev')).toBe(await server.dump('app'));
      await server.sql('', 'DROP DATABASE app_dev', 'DROP DATABASE `app_dev.tool-undo`');
      await server.createDatabase('app_dev');
      await server.sql(
        'app_dev',
        ...OWN,
        ...mixed,
        'CREATE TRIGGER of_m BEFORE INSERT ON m FOR EACH ROW SET @made = 1',
      );
      await load();
      await undo();
      expect(await server.dump('app_dev')).toBe(old);
    });

    it('gathers statistics without a word in the binary log, if there is one', async () => {
      await build(contextOf(), { target: 'app', cpus: 1 });
      await load();
      const [{ on } = {}] = await server.sql('', 'SELECT @@log_bin AS `on`');
      const logs = on === 1 ? await server.sql('', 'SHOW BINARY LOGS') : [];
      const texts: unknown[] = [];
      for (const { Log_name } of logs) {
        texts.push(...(await server.sql('', `SHOW BINLOG EVENTS IN '${Log_name}'`)).map(({ Info }) => Info));
      }
      expect(texts.some((text) => /CREATE TABLE/.test(String(text)))).toBe(on === 1);
      expect(texts.filter((text) => /ANALYZE/i.test(String(text)))).toEqual([]);
    });
  });
}
