import { beforeAll, expect, it } from 'vitest';
import { quoteName } from '../../../src/engines/mysql/connection/quote.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { applySubset, planSubset } from '../../../src/operations/subset/subset.ts';
import { describeWithMysql, startMysql, testedFlavours } from '../../helpers/mysql/mysql-server.ts';
import { temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

/** Names that end a quote, a line, a parenthesis or a command, and what a command would do. */
const PIECES = [
  "`; DROP DATABASE precious; -- '; ",
  '"\n\\! touch /tmp/owned\n',
  '\n) ENGINE=FEDERATED\n,\n  KEY `k` (`id`)\n',
  '\\',
  '\u0001\u001b[31m\u007f\t\u2028 /*!50000 ',
  `\${x}{{env "HOME"}}ünï`,
];
/** Both take minutes: MySQL in the full suite. */
const FLAVOURS = testedFlavours('mariadb');

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'a source whose names are hostile' }, () => {
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startMysql(flavour));
    /** Of a database, a table, a column and so on; no name of the server's ends with a blank. */
    const name = (kind: string, piece: string): string => `${kind}${piece}.`;

    beforeAll(async () => {
      await server.createDatabase('precious');
      await server.sql('', `CREATE DATABASE ${quoteName(name('src', '`\n\'"\\'))} CHARACTER SET utf8mb4`);
      const source = name('src', '`\n\'"\\');
      for (const piece of PIECES) {
        const [table, child, column] = [name('t', piece), name('c', piece), name('x', piece)];
        await server.sql(
          source,
          `CREATE TABLE ${quoteName(table)} (id INT PRIMARY KEY, ${quoteName(column)} VARCHAR(20) DEFAULT 'a;''b' COMMENT 'KEY \`k\` (\`id\`),\n) ENGINE=CSV', KEY ${quoteName(name('k', piece))} (${quoteName(column)}))`,
          `INSERT INTO ${quoteName(table)} VALUES (1, 'one'), (2, 'two')`,
          `CREATE TABLE ${quoteName(child)} (id INT PRIMARY KEY, ${quoteName(column)} INT, CONSTRAINT ${quoteName(name('f', piece))} FOREIGN KEY (${quoteName(column)}) REFERENCES ${quoteName(table)} (id))`,
          `INSERT INTO ${quoteName(child)} VALUES (1, 2), (2, 2), (3, 1)`,
          `CREATE VIEW ${quoteName(name('v', piece))} AS SELECT ${quoteName(column)} FROM ${quoteName(table)}`,
          `CREATE TRIGGER ${quoteName(name('g', piece))} BEFORE UPDATE ON ${quoteName(table)} FOR EACH ROW SET NEW.id = 9`,
          `CREATE FUNCTION ${quoteName(name('r', piece))}() RETURNS INT DETERMINISTIC RETURN 1`,
          `CREATE EVENT ${quoteName(name('e', piece))} ON SCHEDULE EVERY 1 YEAR STARTS '2037-01-01' DISABLE DO DELETE FROM ${quoteName(table)}`,
        );
      }
    }, 240_000);

    function contextFor(destination: string) {
      const src_url = server.url(name('src', '`\n\'"\\'));
      const tables = PIECES.map((piece) => ({
        table: `${name('src', '`\n\'"\\')}.${name('c', piece)}`,
        where: 'id = 1',
      }));
      return testContext({
        settings: {
          working_directory: folder.path,
          targets: {
            app: {
              snapshot: { src_url, dst_url: server.url(destination) },
              subset: { src_url, dst_url: server.url(destination), subset_tables: tables },
            },
          },
        },
      });
    }

    /** All but the database's own name. */
    async function dump(database: string): Promise<string> {
      const counts = await server.sql<{ kind: string; names: string }>(
        '',
        `SELECT 'column' AS kind, GROUP_CONCAT(HEX(CONCAT(TABLE_NAME, COLUMN_NAME)) ORDER BY 1 SEPARATOR ' ') AS names FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ${text(database)}
         UNION ALL SELECT 'trigger', GROUP_CONCAT(HEX(TRIGGER_NAME) ORDER BY 1) FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = ${text(database)}
         UNION ALL SELECT 'routine', GROUP_CONCAT(HEX(ROUTINE_NAME) ORDER BY 1) FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = ${text(database)}
         UNION ALL SELECT 'event', GROUP_CONCAT(HEX(EVENT_NAME) ORDER BY 1) FROM information_schema.EVENTS WHERE EVENT_SCHEMA = ${text(database)}
         UNION ALL SELECT 'key', GROUP_CONCAT(HEX(CONCAT(TABLE_NAME, INDEX_NAME)) ORDER BY 1) FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = ${text(database)}
         UNION ALL SELECT 'constraint', GROUP_CONCAT(HEX(CONCAT(TABLE_NAME, CONSTRAINT_NAME)) ORDER BY 1) FROM information_schema.TABLE_CONSTRAINTS WHERE TABLE_SCHEMA = ${text(database)}`,
      );
      return JSON.stringify(counts);
    }

    it('is built and loaded with every name as it is', async () => {
      const destination = 'dst`\n\'"\\.';
      const context = contextFor(destination);
      const built = await build(context, { target: 'app' });
      expect(built).toMatchObject({ tables: 2 * PIECES.length, rows: 5 * PIECES.length });
      await applyLoad(context, await planLoad(context, { target: 'app' }));
      await applyLoad(context, await planLoad(context, { target: 'app' }));
      expect(await dump(destination)).toBe(await dump(name('src', '`\n\'"\\')));
      expect(await server.databases()).toContain('precious');
    }, 120_000);

    it('is loaded with triggers whose heads name their database, as people write them', async () => {
      await server.createDatabase('written');
      await server.sql('written', 'CREATE TABLE t (id INT PRIMARY KEY)');
      const heads = [
        'written.a AFTER INSERT ON written.t',
        '`written` . `b` AFTER INSERT ON `written`.t',
        'c AFTER INSERT ON t',
      ];
      for (const head of heads) await server.sql('written', `CREATE TRIGGER ${head} FOR EACH ROW SET @a = 1`);
      const snapshot = { src_url: server.url('written'), dst_url: server.url('read') };
      const settings = { working_directory: folder.path, targets: { written: { snapshot } } };
      const context = testContext({ settings });
      await build(context, { target: 'written' });
      await applyLoad(context, await planLoad(context, { target: 'written' }));
      expect(await dump('read')).toBe(await dump('written'));
    });

    it('is made a subset of', async () => {
      const context = contextFor('small`\n.');
      const result = await applySubset(context, await planSubset(context, { target: 'app' }));
      expect(result).toMatchObject({ rows: 2 * PIECES.length });
      for (const piece of PIECES) {
        const rows = await server.sql('small`\n.', `SELECT id FROM ${quoteName(name('t', piece))}`);
        expect(rows, piece).toEqual([{ id: 2 }]);
      }
      expect(await server.databases()).toContain('precious');
    }, 120_000);
  });
}

function text(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
