import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openSession } from '../../../src/engines/mysql/connection/session.ts';
import { parseMysqlUrl } from '../../../src/engines/mysql/connection/url.ts';
import { createTemporaryUser } from '../../../src/engines/mysql/restore/temporary-user.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import type { LoadRequest } from '../../../src/operations/load/planned-load.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { describeWithMysql, startMysql, testedFlavours } from '../../helpers/mysql/mysql-server.ts';
import { temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const FLAVOURS = testedFlavours('mysql');
const USERS = "SELECT User AS name FROM mysql.user WHERE User LIKE 'tool-load-%'";

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'the content of a snapshot' }, () => {
    const server = suiteResource(() => startMysql(flavour, ['--local-infile=ON']));
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let outside: string;

    beforeAll(async () => {
      outside = await mkdtemp('/tmp/tool-test-outside-');
      await server.sql(
        '',
        "CREATE USER plain@'%' IDENTIFIED BY 'plain'",
        "GRANT ALL ON *.* TO plain@'%'",
        "REVOKE CREATE USER ON *.* FROM plain@'%'",
      );
    }, 120_000);

    beforeEach(async () => {
      await folder?.[Symbol.asyncDispose]();
      folder = await temporaryFolder();
      await server.sql('', 'DROP DATABASE IF EXISTS source', 'DROP DATABASE IF EXISTS copy', 'CREATE DATABASE source');
      await server.sql('', 'CREATE DATABASE copy', 'CREATE TABLE copy.precious (id INT)');
    });

    afterAll(async () => {
      await folder?.[Symbol.asyncDispose]();
      await rm(outside, { recursive: true, force: true });
    });

    function contextFor(user?: { name: string; password: string }): Context {
      const snapshot = { src_url: server.url('source'), dst_url: server.url('copy', user) };
      return testContext({ settings: { working_directory: folder.path, targets: { app: { snapshot } } } });
    }

    async function load(request: Partial<LoadRequest> = {}, user?: { name: string; password: string }) {
      const context = contextFor(user);
      const planned = await planLoad(context, { target: 'app', cpus: 2, ...request });
      return { plan: planned.plan, result: await applyLoad(context, planned) };
    }

    it('is restored by a user whom the server refuses everything outside the shadow database', async () => {
      await server.sql('', 'CREATE DATABASE `copy.tool-new-00000000`');
      const context = contextFor();
      const url = parseMysqlUrl(server.url('copy'));
      await using root = await openSession({ url });
      {
        await using user = await createTemporaryUser(context, root, { url, shadow: 'copy.tool-new-00000000' });
        await using session = await openSession({ url: user.url });
        await session.execute("CREATE TABLE own (id INT, word VARCHAR(9) DEFAULT 'x')");
        await session.execute('CREATE VIEW seen AS SELECT * FROM own');
        expect(await session.query("SELECT LOAD_FILE('/etc/passwd') AS content")).toEqual([{ content: null }]);
        for (const statement of [
          `SELECT 1 INTO OUTFILE '${outside}/written'`,
          `CREATE TABLE outside (id INT) ENGINE=MyISAM DATA DIRECTORY='${outside}'`,
          "LOAD DATA INFILE '/etc/passwd' INTO TABLE own (word)",
          'CREATE DATABASE other',
          'DROP DATABASE copy',
          'DROP TABLE copy.precious',
          'CREATE TABLE copy.more (id INT)',
          'CREATE VIEW other AS SELECT * FROM copy.precious',
          'CREATE TRIGGER copy.t BEFORE INSERT ON copy.precious FOR EACH ROW SET @a = 1',
          'CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DO INSERT INTO own VALUES (1)',
          'CREATE EVENT copy.e ON SCHEDULE EVERY 1 SECOND DO INSERT INTO copy.precious VALUES (1)',
          "CREATE USER other@'%'",
          'GRANT SELECT ON `copy.tool-new-00000000`.* TO plain',
          'CREATE DEFINER=root@localhost VIEW other AS SELECT 1',
          'SET GLOBAL general_log = 1',
          'SELECT * FROM mysql.user',
          "CREATE FUNCTION f RETURNS STRING SONAME 'x.so'",
          'SHUTDOWN',
        ]) {
          await expect(session.execute(statement), statement).rejects.toMatchObject({ name: 'SqlError' });
        }
        await user.permitEvents();
        await using later = await openSession({ url: user.url });
        await later.execute('CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DISABLE DO INSERT INTO own VALUES (1)');
        await expect(
          later.execute('CREATE EVENT copy.e ON SCHEDULE EVERY 1 SECOND DO INSERT INTO copy.precious VALUES (1)'),
        ).rejects.toMatchObject({ name: 'SqlError' });
      }
      expect(await server.sql('', USERS)).toEqual([]);
      expect(existsSync(`${outside}/written`)).toBe(false);
      await server.sql('', 'DROP DATABASE `copy.tool-new-00000000`');
    }, 60_000);

    it('is created by that user, all of it, and the plan says so', async () => {
      await server.sql(
        'source',
        'CREATE TABLE parent (id INT PRIMARY KEY AUTO_INCREMENT, note TEXT, d DATETIME DEFAULT CURRENT_TIMESTAMP, size INT AS (LENGTH(note)) STORED)',
        'CREATE TABLE child (id INT, parent INT, KEY (parent), CONSTRAINT c FOREIGN KEY (parent) REFERENCES parent (id))',
        "INSERT INTO parent (note) VALUES ('one'), ('two')",
        'INSERT INTO child VALUES (1, 1)',
        'CREATE FUNCTION f(a INT) RETURNS INT DETERMINISTIC RETURN a + 1',
        'CREATE PROCEDURE p() SELECT 1',
        'CREATE VIEW v AS SELECT f(id) AS next FROM parent',
        'CREATE TRIGGER t BEFORE INSERT ON child FOR EACH ROW SET NEW.id = f(NEW.id)',
        'CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO DELETE FROM child',
      );
      await build(contextFor(), { target: 'app', cpus: 1 });
      await server.sql(
        '',
        "SET GLOBAL log_output = 'TABLE'",
        'TRUNCATE mysql.general_log',
        'SET GLOBAL general_log = ON',
      );
      const { plan } = await load();
      await server.sql('', 'SET GLOBAL general_log = OFF');
      expect(plan).toMatchObject({ restored_by: 'temporary_user' });
      const log = await server.sql<{ who: string; what: string; id: number }>(
        '',
        `SELECT CONVERT(user_host USING utf8mb4) AS who, CONVERT(argument USING utf8mb4) AS what, thread_id AS id FROM mysql.general_log
         WHERE CONVERT(argument USING utf8mb4) REGEXP '^(CREATE TABLE .(parent|child)|LOAD DATA|INSERT INTO .(parent|child)|CREATE.* VIEW|CREATE.*EVENT)'`,
      );
      const first = [
        'CREATE TABLE `parent`',
        'CREATE TABLE `child`',
        'LOAD DATA LOCAL',
        'CREATE ALGORITHM',
        'CREATE EVENT',
      ];
      for (const beginning of first) {
        const found = log.find(
          ({ what }) => what.startsWith(beginning) || (beginning === 'CREATE ALGORITHM' && / VIEW /.test(what)),
        );
        expect(found?.who, beginning).toMatch(/tool-load-[0-9a-f]{8}-[0-9a-f]{8}/);
      }
      const counts = await server.sql(
        'copy',
        'SELECT (SELECT COUNT(*) FROM parent) AS parents, f(1) AS f, (SELECT MAX(next) FROM v) AS next',
      );
      expect(counts.map((row) => Object.values(row).map(Number))).toEqual([[2, 2, 3]]);
      const definers = await server.sql<{ definer: string }>(
        'copy',
        `SELECT DEFINER AS definer FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'copy' UNION SELECT DEFINER FROM information_schema.VIEWS WHERE TABLE_SCHEMA = 'copy'
         UNION SELECT DEFINER FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = 'copy' UNION SELECT DEFINER FROM information_schema.EVENTS WHERE EVENT_SCHEMA = 'copy'`,
      );
      expect(definers.map(({ definer }) => definer.replace(/@.*/, ''))).toEqual(['root']);
      expect(await server.sql('', USERS)).toEqual([]);
      expect((await server.databases()).filter((name) => name.includes('tool-new'))).toEqual([]);
    }, 60_000);

    it('is restored by the loading user where that may create no user, and the plan says so', async () => {
      await server.sql('source', 'CREATE TABLE a (id INT)');
      await build(contextFor(), { target: 'app', cpus: 1 });
      const { plan } = await load({}, { name: 'plain', password: 'plain' });
      expect(plan).toMatchObject({ restored_by: 'loading_user', restored_by_reason: 'the user may not create users' });
    }, 60_000);

    it('is restored by the loading user on request, and the plan shows it', async () => {
      await server.sql('source', 'CREATE TABLE a (id INT)');
      await build(contextFor(), { target: 'app', cpus: 1 });
      const { plan } = await load({ allowSuperuser: true });
      expect(plan).toMatchObject({ restored_by: 'loading_user', restored_by_reason: '--allow-superuser was given' });
    }, 60_000);

    it('leaves no user when the load fails, and drops that of a killed one', async () => {
      await server.sql('source', 'CREATE TABLE a (id INT)');
      await build(contextFor(), { target: 'app', cpus: 1 });
      const url = parseMysqlUrl(server.url('copy'));
      await using root = await openSession({ url });
      const killed = await createTemporaryUser(contextFor(), root, { url, shadow: 'copy' });
      expect(killed.url.user).toMatch(/^tool-load-/);
      expect(await server.sql('', USERS)).toHaveLength(1);
      await load();
      expect(await server.sql('', USERS)).toEqual([]);
    }, 60_000);
  });
}
