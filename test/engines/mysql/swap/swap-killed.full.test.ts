import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type MysqlSession, openSession } from '../../../../src/engines/mysql/connection/session.ts';
import { parseMysqlUrl } from '../../../../src/engines/mysql/connection/url.ts';
import { describeWithMysql, startMysql, type TestFlavour } from '../../../helpers/mysql/mysql-server.ts';
import { eventually, temporaryFolder } from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';
import { type Tool, toolIn } from '../../../helpers/terminal/tool-process.ts';
import { trials } from '../../../helpers/trials.ts';

const FLAVOURS: TestFlavour[] = ['mariadb', 'mysql'];
/** Up to so many milliseconds after the journal was written: some kills come before the packet, some after it. */
const SPAN = 90;

const PROGRAMS = 12;
const many = (make: (number: number) => string): string[] => Array.from({ length: PROGRAMS }, (_, at) => make(at));
const OLDER = [
  'CREATE TABLE parent (id INT PRIMARY KEY, name VARCHAR(40))',
  'CREATE TABLE child (id INT PRIMARY KEY, parent_id INT, FOREIGN KEY (parent_id) REFERENCES parent (id))',
  "INSERT INTO parent VALUES (1, 'one'), (2, 'two')",
  'INSERT INTO child VALUES (1, 1), (2, 2)',
  'CREATE VIEW behind AS SELECT name FROM parent',
  'CREATE VIEW ahead AS SELECT name FROM behind',
  ...many((at) => `CREATE FUNCTION old_${at}(n INT) RETURNS INT DETERMINISTIC RETURN n + ${at}`),
  ...many(
    (at) => `CREATE TRIGGER old_${at} BEFORE INSERT ON parent FOR EACH ROW BEGIN SET NEW.name = 'old ${at}'; END`,
  ),
  "CREATE EVENT nightly ON SCHEDULE EVERY 1 DAY STARTS '2035-01-01 00:00:00' DO DELETE FROM child",
];
const NEWER = [
  'DROP VIEW ahead',
  'DROP VIEW behind',
  // A table where a view was, and the other way round.
  'CREATE TABLE ahead (id INT PRIMARY KEY)',
  'CREATE VIEW z_last_of_all AS SELECT name FROM parent',
  'CREATE VIEW a_first AS SELECT name FROM z_last_of_all',
  ...many((at) => `DROP FUNCTION old_${at}`),
  ...many((at) => `DROP TRIGGER old_${at}`),
  ...many((at) => `CREATE PROCEDURE new_${at}() BEGIN SELECT ${at}; SELECT 'ü;'; END`),
  ...many(
    (at) => `CREATE TRIGGER new_${at} AFTER DELETE ON child FOR EACH ROW BEGIN SET @n = ${at}; SET @m = '\\\\;'; END`,
  ),
  "UPDATE parent SET name = 'three' WHERE id = 2",
];

/** So many that the swap exchanges their rows. */
const TABLES = Array.from({ length: 55 }, (_, at) => `t${at}`);

const SCENARIOS = [
  {
    swap: 'swap',
    what: 'tables and programs',
    isShort: false,
    older: OLDER,
    newer: NEWER,
    words: ['old_11', 'new_11'],
  },
  {
    swap: 'row-swap',
    what: 'rows of many tables',
    // Its packet: the server has run it before anybody sees that its client is gone.
    isShort: true,
    older: [
      ...TABLES.map((table) => `CREATE TABLE ${table} (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40))`),
      ...TABLES.map((table) => `INSERT INTO ${table} (name) VALUES ('older'), ('${table}')`),
    ],
    newer: [
      ...TABLES.slice(5).map((table) => `UPDATE ${table} SET name = 'newer' WHERE id = 1`),
      ...TABLES.slice(5).map((table) => `INSERT INTO ${table} (name) VALUES ('newest')`),
      'CREATE VIEW seen AS SELECT name FROM t7',
    ],
    words: ['older', 'newest'],
  },
] as const;

for (const [flavour, { swap, what, isShort, older: olderSql, newer: newerSql, words }] of FLAVOURS.flatMap((flavour) =>
  SCENARIOS.map((scenario) => [flavour, scenario] as const),
)) {
  const part = trials(`kills/${swap}-${flavour}`);
  describeWithMysql(flavour, { name: `a load or an undo that is killed within the swap of ${what}` }, () => {
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startMysql(flavour));
    let watcher: MysqlSession;
    let tool: Tool;

    beforeAll(async () => {
      const [src_url, dst_url] = [server.url('source'), server.url('copy')];
      tool = await toolIn(folder.path, {
        working_directory: folder.path,
        targets: { app: { snapshot: { src_url, dst_url } } },
      });
      await server.createDatabase('source');
      for (const statements of [olderSql, newerSql]) {
        await server.sql('source', ...statements);
        await tool.done(['build', 'app']);
      }
      watcher = await openSession({ url: parseMysqlUrl(server.url('')) });
    }, 240_000);

    afterAll(async () => {
      await watcher?.close();
    });

    /**
     * MySQL may have kept the semicolon of the packet at the end of a body without a client to remove it; a transaction
     * that is rolled back leaves counters higher.
     */
    async function dump(): Promise<string> {
      return (await server.dump('copy'))
        .replaceAll(/\s*;?\s*(\*\/)?\s*;;$/gm, (_, end = '') => ` ${end};;`)
        .replaceAll(/ AUTO_INCREMENT=\d+/g, '');
    }

    async function others(): Promise<number> {
      const rows = await watcher.query(
        "SELECT 1 FROM information_schema.PROCESSLIST WHERE USER = 'root' AND ID <> CONNECTION_ID()",
      );
      return rows.length;
    }

    async function journal(): Promise<boolean> {
      const rows = await watcher.query(
        "SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA LIKE 'copy.tool-new-%' AND TABLE_NAME LIKE 'tool-journal%'",
      );
      return rows.length > 0;
    }

    it(part.title('leaves the destination whole as it was, or whole as it is to be, with nobody to repair it'), {
      timeout: part.timeout,
    }, async () => {
      for (const index of ['1', '0']) await tool.done(['load', 'app', index]);
      const newer = await dump();
      expect(newer).toContain(words[1]);
      await tool.done(['undo', 'app']);
      const older = await dump();
      expect(older).toContain(words[0]);

      let present = older;
      const counts = { unchanged: 0, swapped: 0, serverWentOn: 0 };
      await part.each(async ({ number, fraction }) => {
        const wanted = present === older ? newer : older;
        const run = tool.start(number % 3 === 2 ? ['undo', 'app'] : ['load', 'app', wanted === older ? '1' : '0']);
        const { child } = run;
        // What the run before has left is there until this run removes it.
        while (child.exitCode === null && (await journal())) await setTimeout(1);
        while (child.exitCode === null && !(await journal())) await setTimeout(0);
        await setTimeout(SPAN * fraction);
        run.killGroup();
        await run.ended;
        if ((await others()) > 0) counts.serverWentOn += 1;
        await eventually(async () => (await others()) === 0, { deadline: 60_000 });
        const now = await dump();
        if (now !== present) expect(now, `${SPAN * fraction} ms after the journal: a state between`).toBe(wanted);
        counts[now === present ? 'unchanged' : 'swapped'] += 1;
        present = now;
      });
      // Kills that all fall before the packet, or after it, would show nothing.
      if (part.isLong || (!isShort && part.count > 2)) expect(counts.swapped).toBeGreaterThan(0);
      if (!isShort && part.count > 2) expect(counts.serverWentOn).toBeGreaterThan(0);

      await tool.done(['load', 'app', '0']);
      expect(await dump()).toBe(newer);
      expect(await server.databases()).toEqual(['copy', 'copy.tool-undo', 'source']);
    });
  });
}
