import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import type { LoadRequest } from '../../../src/operations/load/planned-load.ts';
import { loadSummary } from '../../../src/operations/load/text.ts';
import type { LoadPlan, LoadResult } from '../../../src/results/load-results.ts';
import { describeWithMysql, startMysql, testedFlavours } from '../../helpers/mysql/mysql-server.ts';
import { temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

for (const flavour of testedFlavours('mysql')) {
  describeWithMysql(flavour, { name: 'a load of an SQL file' }, () => {
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startMysql(flavour, ['--local-infile=1', '--event-scheduler=OFF']));

    beforeAll(async () => {
      await server.createDatabase('prod');
      await server.sql('prod', 'CREATE TABLE orders (id INT PRIMARY KEY)', 'INSERT INTO orders VALUES (1)');
    }, 240_000);

    beforeEach(async () => {
      for (const name of await server.databases()) {
        if (name.startsWith('copy')) await server.sql('mysql', `DROP DATABASE \`${name}\``);
      }
      await server.createDatabase('copy');
      await server.sql('copy', 'CREATE TABLE mine (id INT PRIMARY KEY)', 'INSERT INTO mine VALUES (7)');
    });

    async function load(
      sql: string | Buffer,
      request: Partial<LoadRequest> = {},
    ): Promise<{ plan: LoadPlan; result: LoadResult }> {
      const file = join(folder.path, 'script.sql');
      await writeFile(file, sql);
      const snapshot = { src_url: server.url('prod'), dst_url: server.url('copy') };
      const settings = { working_directory: join(folder.path, 'work'), targets: { app: { snapshot } } };
      const context = testContext({ settings, events: [] });
      const planned = await planLoad(context, { target: 'app', file, ...request });
      return { plan: planned.plan, result: await applyLoad(context, planned) };
    }

    it('keeps its rows on a server without autocommit', async () => {
      await server.sql('', 'SET GLOBAL autocommit = 0');
      await load('CREATE TABLE made (id INT PRIMARY KEY); INSERT INTO made VALUES (1);').finally(() =>
        server.sql('', 'SET autocommit = 1', 'SET GLOBAL autocommit = 1'),
      );
      expect(await server.sql('copy', 'SELECT id FROM made')).toEqual([{ id: 1 }]);
    });

    const canary = (): string => join(folder.path, 'canary');

    async function expectProdUntouched(): Promise<void> {
      expect(await server.sql('prod', 'SELECT id FROM orders')).toEqual([{ id: 1 }]);
      expect(await server.sql('prod', 'SHOW TABLES')).toHaveLength(1);
      expect(await readdir(folder.path)).not.toContain('canary');
    }

    async function expectUntouched(): Promise<void> {
      await expectProdUntouched();
      expect(await server.sql('copy', 'SELECT id FROM mine')).toEqual([{ id: 7 }]);
      expect(await server.sql('copy', 'SHOW TABLES')).toHaveLength(1);
      expect((await server.databases()).filter((name) => /copy|prod/.test(name))).toEqual(['copy', 'prod']);
    }

    it.each([
      { what: 'USE in the middle of a line', sql: 'create table a(i int); use prod; drop table orders;', at: '1:24' },
      { what: 'USE behind a comment', sql: '/* a */ # b\n-- c\nUse/**/`prod`; drop table orders;', at: '3:1' },
      { what: 'USE in a version comment', sql: '/*!50000 use */ prod;', at: '1:1' },
      { what: 'USE behind a version comment of another server', sql: '/*!999999 select */ use prod;', at: '1:1' },
      { what: 'USE behind another delimiter', sql: 'DELIMITER //\nSELECT 1// USE prod//', at: '2:12' },
      { what: 'USE behind a name with a backslash', sql: 'SELECT 1 `\\`; USE prod; -- `', at: '1:15' },
      {
        what: 'USE behind a version comment whose quote hides its end',
        sql: "/*!999999 ' */ USE prod; -- ' */;",
        at: '1:1',
      },
      { what: 'USE in a version comment of MariaDB', sql: '/*M!100000 /* */ USE prod; -- */ */;', at: '1:1' },
      { what: 'USE behind the digits of a version', sql: '/*!50000USE prod*/;', at: '1:1' },
      { what: 'DROP behind the digits of a version', sql: '/*!50000DROP*/ DATABASE prod;', at: '1:1' },
      { what: 'USE behind many words of a version', sql: `/*!999999 ${'a '.repeat(40)} */ USE prod;`, at: '1:1' },
      {
        what: 'DROP DATABASE behind many words of a version',
        sql: `/*!999999 INSERT ${'a '.repeat(400)} */ DROP DATABASE prod;`,
        at: '1:1',
      },
      { what: 'DROP DATABASE', sql: 'DROP /*!50000 DATABASE */ prod;', at: '1:1' },
      { what: 'CREATE DATABASE', sql: 'CREATE DATABASE /*!32312 IF NOT EXISTS*/ other;', at: '1:1' },
      { what: '\\u in the middle of a line', sql: 'select 1; \\u prod\ndrop table orders;', at: '1:11' },
      { what: '\\r', sql: '\\r prod', at: '1:1' },
      { what: '\\!', sql: 'select 1 \\! touch CANARY', at: '1:10' },
      { what: '\\.', sql: '\\. other.sql', at: '1:1' },
      { what: 'system', sql: 'select 1;\nsystem touch CANARY', at: '2:1' },
      { what: 'source', sql: '  source other.sql', at: '1:3' },
      { what: 'tee', sql: 'tee CANARY', at: '1:1' },
      { what: 'pager', sql: 'pager touch CANARY', at: '1:1' },
      { what: 'connect', sql: 'connect prod', at: '1:1' },
      {
        what: 'LOAD DATA LOCAL',
        sql: "LOAD DATA LOW_PRIORITY LOCAL INFILE '/etc/passwd' INTO TABLE mine (@a);",
        at: '1:1',
      },
      {
        what: 'LOAD DATA LOCAL in a version comment',
        sql: "LOAD DATA /*!50000 LOCAL */ INFILE '/etc/passwd' INTO TABLE mine (@a);",
        at: '1:1',
      },
      { what: 'a command in a sandbox line that is another one', sql: '/*M!999999\\! touch CANARY */', at: '1:11' },
      { what: 'DELIMITER with a backslash', sql: 'DELIMITER \\\n', at: '1:1' },
      { what: 'a quote without an end', sql: "select 1;\nselect 'open", at: '2:8' },
      { what: 'a version comment without an end', sql: '/*!50000 select 1; select 2;', at: '1:1' },
      { what: 'a character set with backslashes in characters', sql: "/*!40101 SET NAMES 'sjis' */;", at: '1:1' },
    ])('refuses $what before it runs anything', async ({ sql, at }) => {
      const [line, column] = at.split(':');
      const text = sql.replaceAll('CANARY', canary());
      for (const request of [{}, { noDrop: true }, { source: true }]) {
        await expect(load(`CREATE TABLE early (i INT);\n${text}`, request)).rejects.toMatchObject({
          code: 'script_refused',
          exit: 5,
          message: expect.stringContaining(`script.sql:${Number(line) + 1}:${column}: `),
        });
        await expectUntouched();
      }
    });

    it('runs what only looks like a command, in strings, names, comments and bodies', async () => {
      const { result } = await load(
        [
          'CREATE TABLE `\\u prod` (t TEXT, `use prod;` INT);',
          `INSERT INTO \`\\u prod\` VALUES ('\\\\u prod; use prod;\\'', 1), ("\\\\! touch ${canary()}", 2), ('it''s;', 3);`,
          `-- \\! touch ${canary()}`,
          `# \\! touch ${canary()}`,
          `/* use prod; \\u prod */`,
          'DELIMITER $$',
          `CREATE PROCEDURE p() BEGIN SELECT ';$'; SELECT '\\\\u prod'; /* ; */ END$$`,
          'delimiter ;',
          'SELECT 1--1, 2 FROM `\\u prod` WHERE `use prod;` = 1;',
        ].join('\n'),
      );
      expect(result).toMatchObject({ statements: 4 });
      expect(await server.sql('copy', 'SELECT t FROM `\\u prod` ORDER BY `use prod;`')).toEqual([
        { t: "\\u prod; use prod;'" },
        { t: `\\! touch ${canary()}` },
        { t: "it's;" },
      ]);
      await expectProdUntouched();
    });

    it('loads a dump with triggers, routines, events and views of its own dump program', async () => {
      await server.file('prod', await objects());
      const dump = await server.dump('prod');
      const whole = await server.plainDump('prod');
      expect(whole.includes('DELIMITER ;;')).toBe(true);
      const sandbox = Buffer.from('/*M!999999\\- enable the sandbox mode */ \n');
      await load(whole.subarray(0, 10).equals(sandbox.subarray(0, 10)) ? whole : Buffer.concat([sandbox, whole]), {
        events: true,
      });
      expect(await server.dump('copy')).toBe(dump);
      await server.sql('prod', 'DROP VIEW v', 'DROP PROCEDURE p', 'DROP EVENT e', 'DROP TABLE odd');
    });

    it('does not let the server request a file', async () => {
      await expect(
        load("SET @a = 1;\n/*! LOAD */ /*! DATA */ INFILE 'x' INTO TABLE mine;", { noDrop: true }),
      ).rejects.toMatchObject({ code: 'script_failed' });
      const hidden = "EXECUTE IMMEDIATE 'LOAD DATA LOCAL INFILE ''/etc/passwd'' INTO TABLE mine (@a) SET id = 9';";
      await expect(load(hidden, { noDrop: true })).rejects.toMatchObject({ code: 'script_failed' });
      await expectUntouched();
    });

    it('stops at a statement that leaves the database, however it is written', async () => {
      const hidden = "EXECUTE IMMEDIATE 'USE prod';\nDROP TABLE orders;";
      await expect(load(hidden, { noDrop: true })).rejects.toMatchObject({
        code: expect.stringMatching(/^script_(left|failed)$/),
        message: expect.stringContaining('script.sql:1:1'),
      });
      await expect(load(hidden)).rejects.toMatchObject({ code: expect.stringMatching(/^script_(left|failed)$/) });
      await expect(load(`/*!999999 INSERT */ ${hidden}`)).rejects.toMatchObject({
        code: expect.stringMatching(/^script_(left|failed)$/),
      });
      await expectUntouched();
    });

    it('sets the collation of its own database where a dump names that of the source', async () => {
      await load('ALTER DATABASE `prod` CHARACTER SET latin1 COLLATE latin1_swedish_ci ;\nCREATE TABLE t (c TEXT);');
      const collations = `SELECT SCHEMA_NAME AS name, DEFAULT_COLLATION_NAME AS collation FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = `;
      expect(await server.sql('', `${collations} 'copy'`)).toEqual([{ name: 'copy', collation: 'latin1_swedish_ci' }]);
      expect(await server.sql('', `${collations} 'prod'`)).toEqual([
        { name: 'prod', collation: expect.stringMatching(/^utf8mb4/) },
      ]);
    });

    it('reports the line and number of the failed statement', async () => {
      await expect(load('CREATE TABLE t (i INT);\n\n  SELECT nothing FROM nowhere;\n')).rejects.toMatchObject({
        code: 'script_failed',
        message: expect.stringContaining('script.sql:3:3: statement 2 failed'),
        details: [expect.stringContaining('error 1146')],
      });
      await expectUntouched();
    });

    it('reports the statements and their reach, and mentions no manifest', async () => {
      const { plan, result } = await load('CREATE TABLE t (i INT);\nSELECT 1;\n');
      expect(loadSummary(result, plan).details).toEqual([expect.stringContaining('Ran 2 statements')]);
      expect(plan.steps[0]).toContain('2 statements');
      expect(plan.warnings).toEqual([expect.objectContaining({ code: 'script_reach' })]);
    });

    async function objects(): Promise<string> {
      const file = join(folder.path, 'objects.sql');
      await writeFile(
        file,
        `CREATE TABLE odd (id INT PRIMARY KEY AUTO_INCREMENT, t TEXT, b BLOB, u INT DEFAULT 3) ENGINE = InnoDB
           PARTITION BY HASH (id) PARTITIONS 2;
         INSERT INTO odd (t, b) VALUES ('use prod;', x'00ff275c0a'), ('\\\\u prod\\n\\'', NULL), ('größe; -- "', '*/');
         CREATE VIEW v AS SELECT id, '; use prod' AS c FROM odd;
         DELIMITER ;;
         CREATE TRIGGER tr BEFORE INSERT ON odd FOR EACH ROW BEGIN SET NEW.t = CONCAT(NEW.t, ';'); SET NEW.u = 1; END;;
         CREATE PROCEDURE p() BEGIN SELECT 'a;b'; -- it's
           SELECT 2; END;;
         CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO BEGIN DELETE FROM odd; SELECT ';'; END;;
         DELIMITER ;
        `,
      );
      return file;
    }
  });
}
