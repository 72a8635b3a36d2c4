import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectToServer } from '../../../../../src/engines/mysql/connection/connect.ts';
import { parseMysqlUrl } from '../../../../../src/engines/mysql/connection/url.ts';
import { readCode } from '../../../../../src/engines/mysql/definitions/read-definitions.ts';
import { writeJournal } from '../../../../../src/engines/mysql/restore/swap/journal.ts';
import { sweepLeftovers } from '../../../../../src/engines/mysql/restore/swap/leftovers.ts';
import { describeWithMysql, startMysql, type TestMysql } from '../../../../helpers/mysql-server.ts';
import { testContext } from '../../../../helpers/postgres-server.ts';

const WORK = 'app.tool-new-00000000';
const OLD = [
  'CREATE TABLE t (id INT PRIMARY KEY, note VARCHAR(20))',
  "CREATE TRIGGER first_one BEFORE INSERT ON t FOR EACH ROW SET NEW.note = 'old'",
  'CREATE VIEW seen AS SELECT note FROM t',
];
const NEW = [
  'CREATE TABLE t (id INT PRIMARY KEY, note VARCHAR(20))',
  "CREATE TRIGGER other_one BEFORE INSERT ON t FOR EACH ROW SET NEW.note = 'new'",
  'CREATE VIEW found AS SELECT id FROM t',
  'CREATE FUNCTION one() RETURNS INT DETERMINISTIC RETURN 1',
];

describeWithMysql('mariadb', { name: 'a swap that was killed' }, () => {
  let server: TestMysql;

  beforeAll(async () => {
    server = await startMysql('mariadb');
    await server.createDatabase('new');
    await server.sql('new', ...NEW);
  }, 120_000);

  afterAll(async () => server?.stop());

  /** The destination, a journal beside it, and what of the swap had been done. */
  async function killed(options: {
    done?: string[];
    made?: boolean;
  }): Promise<{ before: string; swept: () => Promise<string> }> {
    const { done = [], made = false } = options;
    await server.sql('', 'DROP DATABASE IF EXISTS app');
    await server.createDatabase('app');
    await server.sql('app', ...OLD);
    const before = await server.dump('app');
    const url = parseMysqlUrl(server.url('app'));
    const context = testContext({ settings: {} });
    await server.createDatabase(WORK);
    await using session = await connectToServer(context, url);
    const [old, fresh] = [await readCode(session, 'app', fail), await readCode(session, 'new', fail)];
    await writeJournal(session, WORK, { made, before: old, after: fresh, definers: 'mine', obsolete: null });
    await server.sql('app', ...done);
    return {
      before,
      async swept() {
        await using again = await connectToServer(context, url);
        await sweepLeftovers(context, { server: again, url });
        return server.dump('app');
      },
    };
  }

  it('before the tables moved is taken back: triggers and views are made again', async () => {
    const { before, swept } = await killed({ done: ['DROP TRIGGER first_one', 'DROP VIEW seen'] });
    expect(await swept()).toBe(before);
    expect(await server.databases()).toEqual(['app', 'new']);
  });

  it('after the tables moved is finished: what belongs to the new ones is made, what belonged to the old ones goes', async () => {
    const { swept } = await killed({
      done: [
        'DROP TRIGGER first_one',
        `RENAME TABLE \`${WORK}\`.\`tool-journal\` TO \`${WORK}\`.\`tool-journal-moved\``,
      ],
    });
    expect(await swept()).toBe(await server.dump('new'));
    expect(await server.databases()).toEqual(['app', 'new']);
  });

  it('into a destination that was to be made drops nothing that somebody has made there since', async () => {
    const { before, swept } = await killed({ made: true });
    expect(await swept()).toBe(before);
  });

  it('halfway through what belongs to the new tables is finished all the same', async () => {
    const { swept } = await killed({
      done: [
        `RENAME TABLE \`${WORK}\`.\`tool-journal\` TO \`${WORK}\`.\`tool-journal-moved\``,
        'DROP TRIGGER first_one',
        'CREATE FUNCTION one() RETURNS INT DETERMINISTIC RETURN 1',
        'CREATE VIEW found AS SELECT id FROM t',
      ],
    });
    expect(await swept()).toBe(await server.dump('new'));
  });
});

function fail(what: string, why: string): never {
  throw new Error(`${what}: ${why}`);
}
