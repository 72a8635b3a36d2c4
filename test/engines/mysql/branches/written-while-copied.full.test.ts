import { afterAll, beforeAll, expect, it } from 'vitest';
import { createBase } from '../../../../src/engines/mysql/branches/base/base-copies.ts';
import { readBaseRecord } from '../../../../src/engines/mysql/branches/base/base-record.ts';
import { findUnwritten, provableStates } from '../../../../src/engines/mysql/branches/in-place/unwritten-tables.ts';
import { readDependents } from '../../../../src/engines/mysql/catalog/definitions/foreign-keys.ts';
import { type MysqlSession, openSession } from '../../../../src/engines/mysql/connection/session.ts';
import { parseMysqlUrl } from '../../../../src/engines/mysql/connection/url.ts';
import { BASE } from '../../../../src/engines/mysql/server/names.ts';
import { readAuxiliaryNames } from '../../../../src/engines/mysql/server/server.ts';
import { describeWithMysql, startMysql, type TestMysql } from '../../../helpers/mysql/mysql-server.ts';
import { eventually, testContext } from '../../../helpers/postgres/postgres-server.ts';

describeWithMysql('mariadb', { name: 'a base copy' }, () => {
  let server: TestMysql;

  beforeAll(async () => {
    // Rows that are copied are locked then, so that another session can halt it.
    server = await startMysql('mariadb', ['--log-bin=binlog', '--server-id=1', '--binlog-format=STATEMENT']);
  }, 240_000);

  afterAll(() => server?.stop());

  it('is no evidence of tables that were written to after they were compared', { timeout: 90_000 }, async () => {
    await server.createDatabase('copy');
    await server.createDatabase('shadow');
    const context = testContext({ settings: {} });
    const url = parseMysqlUrl(server.url('copy'));
    for (const table of ['early', 'other', 'slow'])
      await server.sql('shadow', `CREATE TABLE ${table} (id INT PRIMARY KEY)`, `INSERT INTO ${table} VALUES (1)`);
    await using session = await openSession({ url });
    // The server renews its list of transactions 0.1 s after the last query of it.
    const proved = (by: MysqlSession, name: string) =>
      eventually(
        async () => {
          await by.execute('DO SLEEP(0.11)');
          return (await provableStates(by, 'shadow')).has(name);
        },
        { deadline: 30_000 },
      );
    await proved(session, 'slow');
    await using holding = await openSession({ url: parseMysqlUrl(server.url('shadow')) });
    await holding.execute('START TRANSACTION');
    await holding.query('SELECT id FROM slow FOR UPDATE');
    const code = await readDependents(session, 'shadow', () => {});
    const base = { spare: false, snapshot: null, partial: false };
    const making = createBase(context, session, {
      ...{ url, shadow: 'shadow', base },
      dependents: { code, definers: 'theirs' },
    });
    await using watching = await openSession({ url });
    const running = `FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND INFO IS NOT NULL AND DB LIKE 'copy.tool-new-%'`;
    await eventually(async () => {
      const rows = await watching.query<{ statement: string }>(`SELECT INFO AS statement ${running}`);
      return rows.length === 1 && /^INSERT INTO .*`slow`/.test(rows[0]?.statement ?? '');
    });
    const now = async () => (await watching.query<{ at: string }>('SELECT CAST(NOW(0) AS CHAR) AS at'))[0]?.at;
    // Not in the second in which the open transactions began.
    const halted = await now();
    await eventually(async () => (await now()) !== halted);
    await server.sql('shadow', 'INSERT INTO early VALUES (2)');
    await proved(watching, 'early');
    await watching.execute('DO SLEEP(0.2)');
    await holding.execute('ROLLBACK');
    const { database } = await making;
    const { of } = await readAuxiliaryNames(session, 'copy');
    const record = await readBaseRecord(session, { database, table: BASE, of });
    const found = await findUnwritten(session, { destination: 'shadow', database, base: record?.id ?? '' });
    expect([...found.keys()].sort()).toEqual(['other', 'slow']);
  });
});
