import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { haveRows } from '../../../../src/engines/mysql/branches/base/base-changes.ts';
import { readBaseRecord } from '../../../../src/engines/mysql/branches/base/base-record.ts';
import { MARK, quoteName } from '../../../../src/engines/mysql/connection/quote.ts';
import { openSession } from '../../../../src/engines/mysql/connection/session.ts';
import { parseMysqlUrl } from '../../../../src/engines/mysql/connection/url.ts';
import { BASE } from '../../../../src/engines/mysql/server/names.ts';
import { applyBranchCreate, planBranchCreate } from '../../../../src/operations/branch/create/create.ts';
import { applyBranchDrop, planBranchDrop } from '../../../../src/operations/branch/drop/drop.ts';
import { openBranches } from '../../../../src/operations/branch/open-branches.ts';
import {
  applyBranchReset,
  type BranchResetRequest,
  planBranchReset,
} from '../../../../src/operations/branch/reset/reset.ts';
import { build } from '../../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../../src/operations/load/load.ts';
import { withoutMark } from '../../../helpers/databases/branch-servers.ts';
import { asData } from '../../../helpers/fakes/as-data.ts';
import { itIf } from '../../../helpers/it-if.ts';
import { doubtfulTables } from '../../../helpers/mysql/doubtful-tables.ts';
import { describeWithMysql, startMysql, type TestMysql, testedFlavours } from '../../../helpers/mysql/mysql-server.ts';
import { eventually, temporaryFolder, testContext } from '../../../helpers/postgres/postgres-server.ts';

const FILL = [
  'CREATE TABLE person (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(20) UNIQUE)',
  "INSERT INTO person VALUES (1, 'one'), (2, 'two'), (3, 'three')",
  'CREATE TABLE pet (id INT PRIMARY KEY, person_id INT, FOREIGN KEY (person_id) REFERENCES person (id) ON DELETE CASCADE)',
  'INSERT INTO pet VALUES (1, 1), (2, 2), (3, 3)',
  'CREATE TABLE log (id INT PRIMARY KEY, line TEXT)',
  "INSERT INTO log VALUES (1, 'first')",
  'CREATE TABLE part (id INT PRIMARY KEY, v INT) PARTITION BY HASH (id) PARTITIONS 3',
  'INSERT INTO part VALUES (1, 1), (2, 2), (3, 3)',
  'CREATE VIEW names AS SELECT name FROM person',
  'CREATE TRIGGER logged AFTER INSERT ON log FOR EACH ROW SET @logged = 1',
];
const CHANGE = ['DELETE FROM person WHERE id = 2', "INSERT INTO person (name) VALUES ('four')"];

for (const flavour of testedFlavours('mariadb')) {
  describeWithMysql(flavour, { name: 'a branch that is reset in place' }, () => {
    let server: TestMysql;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let pristine: string;

    beforeAll(async () => {
      [server, folder] = await Promise.all([startMysql(flavour), temporaryFolder()]);
      await server.createDatabase('source');
      await server.sql('source', ...FILL);
      await build(context(), { target: 'app' });
      await load();
      const planned = await planBranchCreate(context(), { target: 'app', name: 'b', count: 2 });
      await applyBranchCreate(context(), planned);
      pristine = await dumpOf(1);
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    const context = () =>
      testContext({
        settings: {
          working_directory: join(folder.path, 'work'),
          targets: { app: { snapshot: { src_url: server.url('source'), dst_url: server.url('copy') } } },
        },
      });
    const load = async () => applyLoad(context(), await planLoad(context(), { target: 'app', keepBase: true }));
    const planned = async (request: Partial<BranchResetRequest> = {}) =>
      asData(await planBranchReset(context(), { target: 'app', name: 'b_1', ...request }));
    const reset = async (request: Partial<BranchResetRequest> = {}) =>
      (await applyBranchReset(context(), await planned(request))).branches;
    const dumpOf = async (branch: number) => withoutMark(await server.dump(`copy_b_${branch}`));
    const doubtful = async () => {
      const found = await doubtfulTables(server, { destination: 'copy', database: 'copy_b_1' });
      return typeof found === 'string' ? found : found.compared.map(({ name }) => name);
    };

    it('has the rows of the base copy, several at once, and ends no session', async () => {
      await using client = await openSession({ url: parseMysqlUrl(server.url('copy_b_1')) });
      for (const branch of [1, 2]) await server.sql(`copy_b_${branch}`, ...CHANGE);
      const { steps } = (await planned()).plan;
      expect(steps[0]).toMatch(/^Replace copy_b_1 .*, unless few rows have changed: these are exchanged in place$/);
      expect(await reset({ name: 'b', all: true })).toMatchObject([
        { name: 'b_1', way: 'in_place', way_reason: null, swap_ms: null },
        { name: 'b_2', way: 'in_place' },
      ]);
      for (const branch of [1, 2]) expect(await dumpOf(branch)).toBe(pristine);
      expect(await client.query('SELECT 1')).toHaveLength(1);
      const { database } = await openBranches(context(), { target: 'app' });
      expect((await database.branches.list()).every(({ resetAt }) => resetAt !== null)).toBe(true);
    });

    it('is read only where it was written to', async () => {
      await eventually(async () => (await reset())[0]?.way === 'in_place' && (await doubtful()).length === 0);
      await server.sql('copy_b_1', 'DELETE FROM person WHERE id = 2');
      await server.sql('copy_b_1', 'UPDATE part SET v = 4 WHERE id = 1');
      expect(await doubtful()).toEqual(['part', 'person', 'pet']);
      expect(await reset()).toMatchObject([{ way: 'in_place' }]);
      expect(await dumpOf(1)).toBe(pristine);
    });

    it('would be no spare while a partitioned table is not proved to be unwritten, whatever the sums of its rows', async () => {
      await using session = await openSession({ url: parseMysqlUrl(server.url('')) });
      const record = await readBaseRecord(session, { database: 'copy.tool-base', table: BASE, of: 'copy' });
      if (!record) throw new Error('there is no base copy');
      const tables = { database: 'copy_b_2', of: 'copy_b_2' };
      const others = record.tables.filter(({ name }) => name !== 'part');
      expect(await haveRows(session, { ...tables, record: { ...record, tables: others } })).toBe(true);
      expect(await haveRows(session, { ...tables, record })).toBe(false);
    });

    it('is served over sessions that stay, and are opened again when they are lost', async () => {
      const { database } = await openBranches(context(), { target: 'app' });
      await using open = await database.branches.keepOpen('b_1');
      const createdAt = (await database.branches.list()).find(({ name }) => name === 'b_1')?.createdAt ?? '';
      const sessions = () =>
        server.sql<{ id: number }>(
          '',
          "SELECT ID AS id FROM information_schema.PROCESSLIST WHERE DB = 'copy_b_1' AND ID <> CONNECTION_ID() ORDER BY 1",
        );
      let before: { id: number }[] = [];
      for (let round = 0; round < 4; round += 1) {
        await server.sql('copy_b_1', ...CHANGE);
        const done = await open.reset({ createdAt, accept: () => {} });
        expect(done).toMatchObject({ tables: [{ table: 'copy_b_1.person' }, { table: 'copy_b_1.pet' }] });
        expect(await dumpOf(1)).toBe(pristine);
        const now = await sessions();
        if (round > 0) expect(now).toEqual(before);
        before = now;
      }
      await server.sql('', ...before.map(({ id }) => `KILL ${Number(id)}`));
      await server.sql('copy_b_1', ...CHANGE);
      expect(await open.reset({ createdAt, accept: () => {} })).toMatchObject({ sequences: 0 });
      expect(await dumpOf(1)).toBe(pristine);
      // The lock is free between the resets.
      expect(await reset({ copy: true })).toMatchObject([{ way: 'copy' }]);
    });

    it('is served with errors that say what the server has refused, and goes on', async () => {
      const { database } = await openBranches(context(), { target: 'app' });
      await using open = await database.branches.keepOpen('b_1');
      const createdAt = (await database.branches.list()).find(({ name }) => name === 'b_1')?.createdAt ?? '';
      await server.sql('copy_b_1', ...CHANGE);
      const locking = await openSession({ url: parseMysqlUrl(server.url('copy_b_1')) });
      await locking.execute(`LOCK TABLES ${quoteName(MARK)} READ`);
      await expect(open.reset({ createdAt, accept: () => {} })).rejects.toMatchObject({
        code: 'statement_refused',
        details: [expect.stringMatching(/^1205: Lock wait timeout exceeded/)],
      });
      await locking.close();
      expect(await open.reset({ createdAt, accept: () => {} })).toMatchObject({ sequences: 0 });
      expect(await dumpOf(1)).toBe(pristine);
    });

    it.each([
      [[], { copy: true }, '--copy was given'],
      [['ALTER TABLE pet ADD note INT'], {}, 'definitions of tables differ'],
      [["INSERT INTO log VALUES (2, 'second')"], {}, 'log has triggers, which no transaction turns off'],
    ])('is replaced by a copy after %j with %j', async (changes, request, way_reason) => {
      await server.sql('copy_b_1', 'DO 1', ...changes);
      expect(await reset(request)).toMatchObject([{ way: 'copy', way_reason }]);
      expect(await dumpOf(1)).toBe(pristine);
      await server.sql('copy_b_1', ...CHANGE);
      expect(await reset()).toMatchObject([{ way: 'in_place' }]);
      expect(await dumpOf(1)).toBe(pristine);
    });

    itIf(flavour === 'mysql')('is replaced by a copy where rows are in other partitions than their own', async () => {
      const exchange = [1, 2].flatMap((part) => [
        'CREATE TABLE other (id INT PRIMARY KEY, v INT)',
        `INSERT INTO other VALUES (${3 - part}, ${3 - part})`,
        `ALTER TABLE part EXCHANGE PARTITION p${part} WITH TABLE other WITHOUT VALIDATION`,
        'DROP TABLE other',
      ]);
      await server.sql('copy_b_1', ...exchange);
      const found = () => server.sql('copy_b_1', 'SELECT v FROM part WHERE id = 1');
      expect(await found()).toEqual([]);
      const way_reason = 'part has rows in other partitions than their own';
      expect(await reset()).toMatchObject([{ way: 'copy', way_reason }]);
      expect(await found()).toEqual([{ v: 1 }]);
    });

    it('is replaced by a copy of a later load, and leaves no record when it is dropped', async () => {
      await load();
      expect(await reset()).toMatchObject([{ way: 'copy', way_reason: 'it is no copy of the present base copy' }]);
      await server.sql('copy_b_1', ...CHANGE);
      expect(await reset()).toMatchObject([{ way: 'in_place' }]);
      await server.sql('copy_b_2', ...CHANGE);
      const records = async () => (await server.sql('copy.tool-base', "SHOW TABLES LIKE 'tool-unwritten-%'")).length;
      expect(await records()).toBe(1);
      await applyBranchDrop(context(), await planBranchDrop(context(), { target: 'app', names: ['b_1'] }));
      expect(await records()).toBe(0);
    });
  });
}
