import { chown, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  findUnwritten,
  provableStates,
  recordUnwritten,
  type TableStates,
} from '../../../../src/engines/mysql/branches/in-place/unwritten-tables.ts';
import { checksumOf } from '../../../../src/engines/mysql/branches/row-checksum.ts';
import { readTables } from '../../../../src/engines/mysql/catalog/tables.ts';
import { type MysqlSession, openSession } from '../../../../src/engines/mysql/connection/session.ts';
import { parseMysqlUrl } from '../../../../src/engines/mysql/connection/url.ts';
import { describeWithMysql, startMysql, type TestMysql, testedFlavours } from '../../../helpers/mysql/mysql-server.ts';
import { eventually } from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

/** `$` is the table, `$x` another one with equal definition and other rows. */
type Write = string[] | ((server: TestMysql, table: string) => Promise<void>);

const within = (...statements: string[]): string[] => ['START TRANSACTION', ...statements, 'COMMIT'];

const WRITES: Record<string, Write> = {
  insert: ['INSERT INTO $ (v) VALUES (9)'],
  update: ['UPDATE $ SET v = v + 1'],
  'delete of one row': ['DELETE FROM $ WHERE id = 2'],
  'at a time that a session sets': ['SET timestamp = 1700000000', 'UPDATE $ SET v = v + 1'],
  replace: ["REPLACE INTO $ VALUES (1, 7, 'x', NULL)"],
  'insert or update': ['INSERT INTO $ (id, v) VALUES (1, 3) ON DUPLICATE KEY UPDATE v = 55'],
  'insert ignore': ['INSERT IGNORE INTO $ (id, v) VALUES (1, 3), (70, 3)'],
  'update of two tables': ['UPDATE $ a, `$x` b SET a.v = 1, b.v = 1 WHERE a.id = b.id'],
  'delete by a join': ['DELETE a FROM $ a JOIN `$x` b ON a.id = b.id'],
  truncate: ['TRUNCATE $'],
  'truncate and the same rows': ['TRUNCATE $', "INSERT INTO $ VALUES (1, 1, 'a', NULL), (2, 2, 'b', NULL)"],
  'a transaction': within('UPDATE $ SET v = v + 1'),
  'a part of a transaction that stays': within(
    ...['UPDATE $ SET v = 8', 'SAVEPOINT s', 'DELETE FROM $', 'ROLLBACK TO SAVEPOINT s'],
  ),
  'a procedure': ['CREATE PROCEDURE `p $`() UPDATE $ SET v = v + 1', 'CALL `p $`()'],
  'a trigger': [
    'CREATE TRIGGER `t $` AFTER INSERT ON `$x` FOR EACH ROW UPDATE $ SET v = NEW.v',
    'INSERT INTO `$x` (v) VALUES (3)',
  ],
  'a view': ['CREATE VIEW `v $` AS SELECT * FROM $', 'UPDATE `v $` SET v = 4'],
  cascade: ['DELETE FROM parent'],
  'an event': async (server, table) => {
    await server.sql('d', `CREATE EVENT \`e ${table}\` ON SCHEDULE AT NOW() DO UPDATE ${table} SET v = 77`);
    await eventually(async () => (await server.sql('d', `SELECT 1 FROM ${table} WHERE v = 77`)).length > 0);
  },
  'a distributed transaction': ["XA START '$'", 'UPDATE $ SET v = 5', "XA END '$'", "XA PREPARE '$'", "XA COMMIT '$'"],
  'one that another session commits': async (server, table) => {
    await server.sql(
      'd',
      `XA START '${table}'`,
      `UPDATE ${table} SET v = 5`,
      `XA END '${table}'`,
      `XA PREPARE '${table}'`,
    );
    await server.sql('d', `XA COMMIT '${table}'`);
  },
  'columns dropped and added at once': [
    'ALTER TABLE $ DROP COLUMN w, ALGORITHM=INSTANT',
    'ALTER TABLE $ ADD COLUMN w INT, ALGORITHM=INSTANT',
  ],
  'a copy': ['ALTER TABLE $ MODIFY v SMALLINT, ALGORITHM=COPY', 'ALTER TABLE $ MODIFY v INT, ALGORITHM=COPY'],
  'a new table of the name': ['DROP TABLE $', 'CREATE TABLE $ LIKE `$x`'],
  'another table by renames': ['RENAME TABLE $ TO `$y`, `$x` TO $, `$y` TO `$x`'],
  'another partition': [
    'CREATE TABLE `$p` (id INT AUTO_INCREMENT PRIMARY KEY, v INT, t TEXT, w INT) PARTITION BY HASH (id) PARTITIONS 1',
    'ALTER TABLE `$p` EXCHANGE PARTITION p0 WITH TABLE $',
  ],
  'in partitions: insert': ['INSERT INTO $ (v) VALUES (9)'],
  'in partitions: delete': ['DELETE FROM $ WHERE id = 2'],
  'in partitions: truncate of one': ['ALTER TABLE $ TRUNCATE PARTITION p1'],
  'in partitions: rebuild of one': ['ALTER TABLE $ REBUILD PARTITION p1'],
  'in partitions: another one': [
    'DELETE FROM `$x` WHERE id <> 1',
    'ALTER TABLE $ EXCHANGE PARTITION p1 WITH TABLE `$x`',
  ],
  'an imported file': async (server, table) => {
    const folder = await folderOf(server);
    await using session = await open(server);
    await session.execute(`FLUSH TABLES \`${table}x\` FOR EXPORT`);
    const files = await Promise.all(['ibd', 'cfg'].map((end) => readFile(join(folder, `${table}x.${end}`))));
    await session.execute('UNLOCK TABLES');
    await session.execute(`ALTER TABLE ${table} DISCARD TABLESPACE`);
    const { uid, gid } = await stat(join(folder, `${table}x.ibd`));
    for (const [at, end] of ['ibd', 'cfg'].entries()) {
      const path = join(folder, `${table}.${end}`);
      await writeFile(path, files[at] ?? '');
      await chown(path, uid, gid);
    }
    await session.execute(`ALTER TABLE ${table} IMPORT TABLESPACE`);
  },
};

/** After these the rows are the same, and seen to be. */
const OTHERS: Record<string, string[]> = {
  nothing: [],
  'a transaction that is rolled back': ['START TRANSACTION', 'DELETE FROM $', 'ROLLBACK'],
  'an update to the same values': ['UPDATE $ SET v = v'],
  'a rename there and back': ['RENAME TABLE $ TO e.$', 'RENAME TABLE e.$ TO $'],
  'FLUSH TABLES': ['FLUSH TABLES'],
  'in partitions: nothing': [],
  statistics: ['ANALYZE TABLE $'],
};

function open(server: TestMysql): Promise<MysqlSession> {
  return openSession({ url: parseMysqlUrl(server.url('d')) });
}

async function folderOf(server: TestMysql): Promise<string> {
  const found = await readdir(server.directory, { recursive: true, withFileTypes: true });
  return found.find(({ name, parentPath }) => /^t0\.ibd$/.test(name) && parentPath.endsWith('/d'))?.parentPath ?? '';
}

for (const flavour of testedFlavours('mariadb')) {
  describeWithMysql(flavour, { name: 'tables that are proved to be unwritten' }, () => {
    const server = suiteResource(() => startMysql(flavour, ['--event-scheduler=ON']));
    let session: MysqlSession;
    const tables = new Map([...Object.keys(WRITES), ...Object.keys(OTHERS)].map((what, at) => [what, `t${at}`]));
    const parted = new Set([...tables].flatMap(([what, name]) => (what.startsWith('in partitions') ? [name] : [])));
    const SPECIAL = 'x-`y/z.$ 語';

    beforeAll(async () => {
      await server.createDatabase('d');
      await server.createDatabase('e');
      const columns = '(id INT AUTO_INCREMENT PRIMARY KEY, v INT, t TEXT, w INT)';
      for (const table of [...tables.values()].flatMap((name) => [name, `${name}x`])) {
        if (table === tables.get('cascade')) continue;
        const isInParts = parted.has(table) ? ' PARTITION BY HASH (id) PARTITIONS 3' : '';
        await server.sql(
          'd',
          `CREATE TABLE ${table} ${columns}${isInParts}`,
          `INSERT INTO ${table} VALUES (1, 1, 'a', NULL), (2, 2, 'b', NULL)`,
        );
      }
      await server.sql(
        'd',
        ...['CREATE TABLE parent (id INT PRIMARY KEY)', 'INSERT INTO parent VALUES (1)'],
        `CREATE TABLE ${tables.get('cascade')} (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES parent (id) ON DELETE CASCADE)`,
        `INSERT INTO ${tables.get('cascade')} VALUES (1, 1)`,
        `CREATE TABLE \`${SPECIAL.replaceAll('`', '``')}\` (id INT PRIMARY KEY)`,
        `INSERT INTO \`${SPECIAL.replaceAll('`', '``')}\` VALUES (1)`,
      );
      session = await openSession({ url: parseMysqlUrl(server.url('')) });
    }, 240_000);

    afterAll(async () => {
      await session?.close();
    });

    const record = (states: TableStates) => recordUnwritten(session, { database: 'e', base: 'b', states });
    const unwritten = () => findUnwritten(session, { destination: 'd', database: 'e', base: 'b' });

    // The server renews its list of transactions 0.1 s after the last query of it.
    const proved = (name: string) =>
      eventually(
        async () => {
          await session.execute('DO SLEEP(0.11)');
          return (await provableStates(session, 'd')).has(name);
        },
        { deadline: 30_000 },
      );

    it('are not those of any write', { timeout: 60_000 }, async () => {
      for (const name of [...tables.values(), SPECIAL]) await proved(name);
      await record(await provableStates(session, 'd'));
      for (const [what, writes] of Object.entries<Write>({ ...WRITES, ...OTHERS })) {
        const table = tables.get(what) ?? '';
        if (typeof writes === 'function') await writes(server, table);
        else await server.sql('d', ...writes.map((statement) => statement.replaceAll('$', table)));
      }
      const found = await unwritten();
      expect([...tables].flatMap(([what, name]) => (found.has(name) ? [what] : []))).toEqual(Object.keys(OTHERS));
      expect(found.has(SPECIAL)).toBe(true);
    });

    it('have another sum when two rows exchange values by which that of CRC32 stays', async () => {
      const sum = (id: number, value: number): number => crc32(`${id},${crc32(`value ${value}`)}`);
      const found = Array.from({ length: 400_000 }, (_, at) => [at % 601, 601 + (at % 599), at, at + 7] as const).find(
        ([a, b, x, y]) => sum(a, x) + sum(b, y) === sum(a, y) + sum(b, x),
      );
      const [a, b, x, y] = found ?? [0, 0, 0, 0];
      expect(x).not.toBe(y);
      await server.sql('e', 'CREATE TABLE pair (id INT PRIMARY KEY, value VARCHAR(20))');
      const sums = async (ofA: number, ofB: number) => {
        await server.sql('e', `REPLACE INTO pair VALUES (${a}, 'value ${ofA}'), (${b}, 'value ${ofB}')`);
        const table = (await readTables(session, 'e')).find(({ name }) => name === 'pair');
        if (!table) throw new Error('the table is missing');
        return {
          earlier: await checksumOf(session, 'e', { ...table, checksum: '0' }),
          present: await checksumOf(session, 'e', { ...table, checksum: null }),
        };
      };
      const [before, after] = [await sums(x, y), await sums(y, x)];
      expect(before.earlier).toBe(String(sum(a, x) + sum(b, y)));
      expect(after.earlier).toBe(before.earlier);
      expect(after.present).not.toBe(before.present);
      expect(await sums(x, y)).toEqual(before);
    });

    it('are none in the seconds after a write, and in which a transaction began that is still open', {
      timeout: 60_000,
    }, async () => {
      const name = tables.get('update') ?? '';
      await using other = await open(server);
      const now = async () => (await other.query<{ at: string }>('SELECT CAST(NOW(0) AS CHAR) AS at'))[0]?.at;
      let second: string | undefined;
      await eventually(async () => {
        second = await now();
        await other.execute('START TRANSACTION WITH CONSISTENT SNAPSHOT');
        await server.sql('d', `UPDATE ${name} SET v = v + 1`);
        const isSame = second === (await now());
        if (!isSame) await other.execute('ROLLBACK');
        return isSame;
      });
      expect((await provableStates(session, 'd')).has(name)).toBe(false);
      await eventually(async () => second !== (await now()));
      await server.sql('d', 'UPDATE t0x SET v = v + 1');
      await proved('t0x');
      expect((await provableStates(session, 'd')).has(name)).toBe(false);
      await other.execute('COMMIT');
      await proved(name);
    });

    it('are none of another base copy, and none without the right to see transactions', async () => {
      await record(await provableStates(session, 'd'));
      expect((await unwritten()).size).toBeGreaterThan(0);
      expect(await findUnwritten(session, { destination: 'd', database: 'e', base: 'c' })).toEqual(new Map());
      await server.sql(
        '',
        "CREATE USER weak IDENTIFIED BY 'weak'",
        'GRANT ALL ON d.* TO weak',
        'GRANT ALL ON e.* TO weak',
      );
      await using weak = await openSession({ url: parseMysqlUrl(server.url('', { name: 'weak', password: 'weak' })) });
      expect(await provableStates(weak, 'd')).toEqual(new Map());
      expect(await findUnwritten(weak, { destination: 'd', database: 'e', base: 'b' })).toEqual(new Map());
    });

    it('are none when the server has forgotten the time of writes', async () => {
      await session.close();
      await server.crash();
      session = await openSession({ url: parseMysqlUrl(server.url('')) });
      expect(await unwritten()).toEqual(new Map());
    });
  });
}
