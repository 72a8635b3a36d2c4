import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { build } from '../../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../../src/operations/load/load.ts';
import type { RunEvent } from '../../../../src/results/events.ts';
import { withDetails } from '../../../helpers/databases/build-and-load.ts';
import { itIf } from '../../../helpers/it-if.ts';
import { describeWithMysql, startMysql, type TestFlavour } from '../../../helpers/mysql/mysql-server.ts';
import { temporaryFolder, testContext } from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

const FLAVOURS: TestFlavour[] = ['mariadb', 'mysql'];
/** Values of JSON whose text is read as another type. */
const CHANGING = [
  '1.10',
  "DATE'2026-01-02'",
  "CAST('10:11:12' AS TIME(3))",
  "TIMESTAMP'2026-01-02 03:04:05'",
  "x'FF00'",
  "b'101'",
  'CAST(7 AS DECIMAL(5,0))',
];
const EQUAL = ['5', '-5', '18446744073709551615', '1e3', '0.1e0', 'TRUE', 'NULL', "'2026-01-02'", "'1.10'", "''"];

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'values that text does not carry' }, () => {
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startMysql(flavour));
    let events: RunEvent[] = [];

    const context = () =>
      testContext({
        settings: {
          working_directory: join(folder.path, 'work'),
          targets: { app: { snapshot: { src_url: server.url('app'), dst_url: server.url('app_dev') } } },
        },
        events,
      });
    /** What the build says of values, and after a load the rows of both that differ. */
    async function transferred(query: string): Promise<{ told: string[]; equal: boolean }> {
      await build(context(), { target: 'app', cpus: 1 });
      const running = context();
      const planned = await withDetails(planLoad(running, { target: 'app', cpus: 1 }));
      await withDetails(applyLoad(running, planned));
      const told = events.flatMap((event) =>
        event.event === 'warning' && event.code === 'values_lossy' ? [event.message] : [],
      );
      const equal =
        JSON.stringify(await server.sql('app', query)) === JSON.stringify(await server.sql('app_dev', query));
      return { told, equal };
    }

    beforeEach(async () => {
      events = [];
      for (const name of await server.databases()) await server.sql('', `DROP DATABASE \`${name}\``);
      await server.createDatabase('app');
    });

    itIf(flavour === 'mysql').each(CHANGING)('lossy values in JSON are found at any depth: %s', async (value) => {
      await server.sql(
        'app',
        'CREATE TABLE doc (id INT PRIMARY KEY AUTO_INCREMENT, body JSON)',
        `INSERT INTO doc (body) VALUES (JSON_ARRAY(1, ${value})), (JSON_OBJECT('a', JSON_ARRAY(JSON_ARRAY(2, JSON_OBJECT('b', ${value}))))), ('[1.5]'), (NULL)`,
      );
      const { told } = await transferred('SELECT 1');
      expect(told).toEqual([expect.stringMatching(/^doc\.body: .*DECIMAL.* \(rows: 2\)$/)]);
    });

    itIf(flavour === 'mysql')('are none of the others in JSON, which are equal', async () => {
      const lists = EQUAL.map(
        (value) => `(JSON_ARRAY(${value})), (JSON_OBJECT('a', JSON_ARRAY(JSON_ARRAY(1, ${value}))))`,
      );
      await server.sql(
        'app',
        'CREATE TABLE doc (id INT PRIMARY KEY AUTO_INCREMENT, body JSON)',
        `INSERT INTO doc (body) VALUES ${lists.join(', ')}, (JSON_ARRAY()), (NULL)`,
      );
      const query = "SELECT id, body, JSON_TYPE(JSON_EXTRACT(body, '$[0]')) AS type FROM doc ORDER BY id";
      expect(await transferred(query)).toEqual({ told: [], equal: true });
    });

    it('are the error value of an ENUM and the empty member of a SET, where there is such a member', async () => {
      await server.sql(
        'app',
        "CREATE TABLE member (id INT PRIMARY KEY, e ENUM('a', ''), s SET('x', ''), plain ENUM('b'), marks ENUM('?'))",
        "INSERT INTO member VALUES (1, 0, 2, 0, '?'), (2, 0, 0, 'b', '?'), (3, '', 'x', NULL, NULL), (4, NULL, 3, 'b', 0)",
      );
      const { told } = await transferred('SELECT 1');
      expect(told.sort()).toEqual([
        expect.stringMatching(/^member\.e: .*number 0.* \(rows: 2\)$/),
        expect.stringMatching(/^member\.s: .*empty set \(rows: 1\)$/),
      ]);
      const others =
        'SELECT id, IF(id < 3, NULL, e + 0) AS e, IF(id = 1, NULL, s + 0) AS s, plain + 0 AS p, marks + 0 AS m FROM member ORDER BY id';
      expect(JSON.stringify(await server.sql('app_dev', others))).toBe(JSON.stringify(await server.sql('app', others)));
    });

    it('are equal for zero and invalid dates, bits, floats and points', async () => {
      await server.sql(
        'app',
        "SET sql_mode = 'ALLOW_INVALID_DATES'",
        `CREATE TABLE odd (id INT PRIMARY KEY, d DATE, t DATETIME(6), s TIMESTAMP NULL, y YEAR, b BIT(64), f FLOAT, g DOUBLE,
          m FLOAT(10, 2), p POINT, h TIME(6), w SET('a', 'b', 'c'))`,
        `INSERT INTO odd VALUES (1, '0000-00-00', '0000-00-00', '0000-00-00', 0, 0, 1.1, 1.1, 1.25, ST_GeomFromText('POINT(0 0)'), '-838:59:59', 0),
          (2, '2026-02-31', '2026-00-10 00:00:00.000001', '2026-01-02', 2026, b'1000000000000000000000000000000000000000000000000000000000000001', 16777217, 5e-324, 1e7, ST_GeomFromText('POINT(1e-300 -0.1)'), '00:00:00.000001', 5),
          (3, NULL, '2026-12-00', NULL, NULL, NULL, -0e0, 1.7976931348623157e308, -0.01, NULL, NULL, 7)`,
      );
      const query =
        'SELECT id, CAST(d AS CHAR) AS d, CAST(t AS CHAR) AS t, CAST(s AS CHAR) AS s, y + 0 AS y, HEX(b) AS b, f + 0e0 AS f, g, m + 0e0 AS m, HEX(p) AS p, CAST(h AS CHAR) AS h, w + 0 AS w FROM odd ORDER BY id';
      expect(await transferred(query)).toEqual({ told: [], equal: true });
    });

    it('are equal for geometries of every kind and system of reference, and for types of one flavour', async () => {
      const own =
        flavour === 'mysql'
          ? { columns: 'v VECTOR(3)', values: ["STRING_TO_VECTOR('[1,-0.5,1e-30]')", 'NULL'] }
          : { columns: 'v UUID, n INET6', values: ["UUID(), '::1'", "NULL, 'fe80::ffff'"] };
      await server.sql(
        'app',
        `CREATE TABLE shape (id INT PRIMARY KEY, a GEOMETRY, z DOUBLE, big DECIMAL(65, 30), ${own.columns})`,
        `INSERT INTO shape VALUES (1, ST_GeomFromText('POINT(1 2)', 4326), -0e0, -0.000000000000000000000000000001, ${own.values[0]}),
          (2, ST_GeomFromText('GEOMETRYCOLLECTION(POINT(1 1), LINESTRING(0 0, 1e-9 9e99))'), 1e-308, 99999999999999999999999999999999999.999999999999999999999999999999, ${own.values[1]})`,
      );
      const columns = [...own.columns.matchAll(/(\w) [A-Z]/g)].map(([, name]) => `HEX(${name}) AS ${name}`);
      const query = `SELECT id, HEX(a) AS a, CAST(z AS CHAR) AS z, CAST(big AS CHAR) AS big, ${columns.join()} FROM shape ORDER BY id`;
      expect(await transferred(query)).toEqual({ told: [], equal: true });
    });

    it('a view whose function has no definer is named as what the server cannot read', async () => {
      await server.sql(
        'app',
        "CREATE USER gone@'%'",
        "GRANT ALL ON app.* TO gone@'%'",
        "CREATE DEFINER = gone@'%' FUNCTION uno() RETURNS INT DETERMINISTIC RETURN 1",
        'CREATE TABLE t (id INT PRIMARY KEY)',
        'CREATE VIEW unos AS SELECT id, uno() AS n FROM t',
        "DROP USER gone@'%'",
      );
      await build(context(), { target: 'app', cpus: 1 });
      const told = events.flatMap((event) => (event.event === 'warning' ? [[event.code, event.message]] : []));
      expect(told).toEqual([['definition_unreadable', expect.stringMatching(/^The view unos .*'gone'/)]]);
    });

    it.each(['ENUM', 'SET'])('keep a build from storing a member of %s that no definition can have', async (type) => {
      await server.sql(
        'app',
        `CREATE TABLE mood (id INT PRIMARY KEY, face ${type}('plain', '🐘') CHARACTER SET utf8mb4)`,
        "INSERT INTO mood VALUES (1, 'plain'), (2, '🐘')",
      );
      await expect(build(context(), { target: 'app', cpus: 1 })).rejects.toMatchObject({
        code: 'member_unwritable',
        message: expect.stringContaining('mood.face'),
      });
    });
  });
}
