import { afterAll, beforeAll, expect, it } from 'vitest';
import { type MysqlSession, openSession } from '../../../../src/engines/mysql/connection/session.ts';
import { parseMysqlUrl } from '../../../../src/engines/mysql/connection/url.ts';
import { isAsMarked, readChangeMark } from '../../../../src/engines/mysql/swap/change-mark.ts';
import { asData } from '../../../helpers/fakes/as-data.ts';
import { describeWithMysql, startMysql, testedFlavours } from '../../../helpers/mysql/mysql-server.ts';
import { eventually } from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

const FILL = [
  'CREATE TABLE item (id INT PRIMARY KEY)',
  'INSERT INTO item VALUES (1)',
  'CREATE TABLE other LIKE item',
  'INSERT INTO other VALUES (2)',
  'CREATE TABLE none (id INT PRIMARY KEY)',
  'CREATE VIEW names AS SELECT id FROM item',
];

const WRITES: Record<string, string[]> = {
  'an update': ['UPDATE item SET id = 3'],
  TRUNCATE: ['TRUNCATE item'],
  'another table by renames': ['RENAME TABLE item TO t, other TO item, t TO other'],
  'the first row of a table': ['INSERT INTO none VALUES (1)'],
  'a new table': ['CREATE TABLE new (id INT PRIMARY KEY)'],
};

for (const flavour of testedFlavours('mariadb')) {
  describeWithMysql(flavour, { name: 'a mark of the changes to a database' }, () => {
    const server = suiteResource(() => startMysql(flavour));
    let session: MysqlSession;
    const databases = [...Object.keys(WRITES), 'nothing', 'a sequence', 'an older transaction'].map(
      (what, at) => [what, `d${at}`] as const,
    );
    const of = (what: string) => databases.find(([name]) => name === what)?.[1] ?? '';

    beforeAll(async () => {
      for (const [, database] of databases) {
        await server.createDatabase(database);
        await server.sql(database, ...FILL);
      }
      if (flavour === 'mariadb') await server.sql(of('a sequence'), 'CREATE SEQUENCE s NOCACHE', 'SELECT NEXTVAL(s)');
      session = await openSession({ url: parseMysqlUrl(server.url('')) });
    }, 240_000);

    afterAll(async () => {
      await session?.close();
    });

    const read = async (database: string) =>
      asData(await readChangeMark({ signal: new AbortController().signal }, parseMysqlUrl(server.url(database))));
    const isAs = (database: string, mark: unknown) => isAsMarked(session, database, mark);
    /** A table that was just written to is not known to be as before. */
    const marked = async (database: string) => {
      let mark: unknown;
      await eventually(
        async () => {
          mark = await read(database);
          return isAs(database, mark);
        },
        { deadline: 30_000 },
      );
      return mark;
    };

    it('sees each write after it, and nothing else', { timeout: 60_000 }, async () => {
      await server.sql(of('nothing'), 'INSERT INTO item VALUES (5)');
      expect(await isAs(of('nothing'), await read(of('nothing')))).toBe(false);
      const marks = new Map<string, unknown>();
      for (const [what, database] of databases) marks.set(what, await marked(database));
      for (const [what, writes] of Object.entries(WRITES)) {
        await server.sql(of(what), ...writes);
        expect(await isAs(of(what), marks.get(what)), what).toBe(false);
      }
      if (flavour === 'mariadb') await server.sql(of('a sequence'), 'SELECT NEXTVAL(s)');
      expect(await isAs(of('a sequence'), marks.get('a sequence'))).toBe(flavour === 'mysql');
      await server.sql(of('nothing'), 'FLUSH TABLES', 'ANALYZE TABLE item', 'SELECT * FROM item');
      expect(await isAs(of('nothing'), marks.get('nothing'))).toBe(true);
      expect(await isAs(of('nothing'), null)).toBe(false);
    });

    it('sees the commit of a transaction that began in the second of the last write', { timeout: 60_000 }, async () => {
      const database = of('an older transaction');
      await using older = await openSession({ url: parseMysqlUrl(server.url(database)) });
      const now = async () => (await older.query<{ at: string }>('SELECT CAST(NOW(0) AS CHAR) AS at'))[0]?.at;
      let second: string | undefined;
      await eventually(async () => {
        await older.execute('ROLLBACK');
        second = await now();
        await older.execute('START TRANSACTION WITH CONSISTENT SNAPSHOT');
        await server.sql(database, 'UPDATE item SET id = id + 1');
        return second === (await now());
      });
      // Until that second is over for certain.
      await eventually(async () => second !== (await now()));
      await server.sql(of('nothing'), 'INSERT INTO item VALUES (9)');
      await marked(of('nothing'));
      const mark = await read(database);
      await older.execute('UPDATE item SET id = id + 1');
      await older.execute('COMMIT');
      expect(await isAs(database, mark)).toBe(false);
    });
  });
}
