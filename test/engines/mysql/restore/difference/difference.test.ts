import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { build } from '../../../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../../../src/operations/load/load.ts';
import type { LoadRequest } from '../../../../../src/operations/load/planned-load.ts';
import { applyReset, planReset } from '../../../../../src/operations/reset/reset.ts';
import { applyUndo, planUndo } from '../../../../../src/operations/undo/undo.ts';
import type { LoadPlan, LoadResult } from '../../../../../src/results/load-results.ts';
import { withDetails } from '../../../../helpers/databases/build-and-load.ts';
import { asData } from '../../../../helpers/fakes/as-data.ts';
import {
  describeWithMysql,
  startMysql,
  type TestMysql,
  testedFlavours,
} from '../../../../helpers/mysql/mysql-server.ts';
import { temporaryFolder, testContext } from '../../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../../helpers/suite-resource.ts';

/** Numbers from 0, without features of one flavour. */
const NUMBERS = [
  'CREATE TABLE digit (n INT PRIMARY KEY)',
  'INSERT INTO digit VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)',
];
const SEQUENCE = 'SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n AS n FROM digit a, digit b, digit c, digit d';

const FILL = [
  ...NUMBERS,
  'CREATE TABLE same (id INT PRIMARY KEY, body CHAR(200), KEY (body))',
  `INSERT INTO same SELECT n, REPEAT(SHA2(n, 256), 3) FROM (${SEQUENCE}) s`,
  // Two keys of different text are equal; a trigger would spoil rows.
  `CREATE TABLE person (code VARCHAR(40) COLLATE utf8mb4_general_ci NOT NULL, id INT NOT NULL AUTO_INCREMENT, body VARCHAR(200),
     size INT AS (CHAR_LENGTH(body)) STORED, bits BIT(7), score FLOAT, PRIMARY KEY (code), UNIQUE KEY (id), KEY by_body (body(20)))`,
  `INSERT INTO person (code, id, body, bits, score) SELECT CONCAT('code ', n), n + 1, REPEAT(SHA2(n, 256), 3), n % 128, n / 3 FROM (${SEQUENCE}) s`,
  'CREATE TABLE pair (a VARBINARY(8) NOT NULL, b DOUBLE NOT NULL, body TEXT, UNIQUE KEY (a, b), person_id INT, FOREIGN KEY (person_id) REFERENCES person (id) ON DELETE CASCADE)',
  `INSERT INTO pair SELECT UNHEX(LPAD(HEX(n), 8, '0')), n / 7, REPEAT(SHA2(n, 256), 3), 1 + n FROM (${SEQUENCE}) s`,
  'CREATE TABLE keyless (n INT, body CHAR(100))',
  `INSERT INTO keyless SELECT n % 100, SHA2(n, 256) FROM (${SEQUENCE}) s`,
  'CREATE TABLE altered (id INT PRIMARY KEY, body CHAR(200))',
  `INSERT INTO altered SELECT n, REPEAT(SHA2(n, 256), 3) FROM (${SEQUENCE}) s`,
  "CREATE TRIGGER spoil BEFORE INSERT ON person FOR EACH ROW SET NEW.body = IF(DATABASE() = 'source', NEW.body, 'spoilt')",
];
const CHANGE = [
  "UPDATE person SET code = 'CODE 17' WHERE code = 'code 17'",
  'DELETE FROM pair WHERE person_id > 9990',
  'DELETE FROM person WHERE id > 9995',
  'ALTER TABLE person AUTO_INCREMENT = 9996',
  "INSERT INTO person (code, body) VALUES ('code\\t\\\\\\n', NULL), ('ende', 'x')",
  'UPDATE person SET score = score + 1 WHERE id % 100 = 3',
  "INSERT INTO pair VALUES (X'00090A5C', -0.1, NULL, 5)",
  'INSERT INTO keyless VALUES (1, NULL), (1, NULL)',
  'ALTER TABLE altered ADD note INT, ADD KEY (body)',
  'ALTER TABLE same DROP KEY body, ADD KEY other (body(10))',
  'INSERT INTO digit VALUES (10)',
];

for (const flavour of testedFlavours('mariadb')) {
  describeWithMysql(flavour, { name: 'a load of what differs from the base copy' }, () => {
    let server: TestMysql;
    const folder = suiteResource(() => temporaryFolder());

    beforeAll(async () => {
      // Rows are replaced where a server is slow to take them.
      server = await startMysql(flavour, ['--local-infile=OFF']);
      await server.createDatabase('source');
      await server.sql('source', ...FILL);
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
    });

    const context = () =>
      testContext({
        settings: {
          working_directory: join(folder.path, 'work'),
          targets: { app: { snapshot: { src_url: server.url('source'), dst_url: server.url('copy') } } },
        },
      });
    const plan = async (request: Partial<LoadRequest> = {}): Promise<LoadPlan> =>
      asData(await planLoad(context(), { target: 'app', ...request })).plan;
    const load = async (request: Partial<LoadRequest> = {}): Promise<LoadResult> =>
      withDetails(applyLoad(context(), await planLoad(context(), { target: 'app', ...request })));

    it('copies equal tables from the base copy, and replaces rows by key', async () => {
      await build(context(), { target: 'app' });
      await load({ keepBase: true });
      const older = await server.dump('copy');
      await server.sql('source', ...CHANGE);
      await build(context(), { target: 'app' });
      const { difference } = await load();
      expect(difference).toMatchObject({ method: 'difference', saved_tables: 1 });
      const ways = new Map(difference?.by_table?.map((way) => [way.table.split('.')[1], way]));
      expect(ways.get('person')).toMatchObject({ method: 'rows', deleted: 106, inserted: 103 });
      expect(ways.get('pair')).toMatchObject({ method: 'rows', deleted: 10, inserted: 1 });
      expect(ways.get('keyless')).toMatchObject({
        method: 'whole',
        reason: 'it has no primary or unique key that is NOT NULL',
      });
      expect(ways.get('altered')).toMatchObject({ method: 'whole' });
      expect(ways.get('digit')).toMatchObject({ method: 'whole', reason: 'it is small' });
      const newer = await server.dump('copy');

      await applyUndo(context(), await planUndo(context(), { target: 'app' }));
      expect(await server.dump('copy')).toBe(older);
      await applyUndo(context(), await planUndo(context(), { target: 'app' }));
      await server.sql('copy', 'DELETE FROM same', 'DELETE FROM pair');
      await applyReset(context(), asData(await planReset(context(), { target: 'app' })));
      expect(await server.dump('copy')).toBe(newer);
      expect((await plan({ full: true })).difference).toMatchObject({ method: 'full' });
      await load({ full: true });
      expect(await server.dump('copy')).toBe(newer);
    });
  });
}
