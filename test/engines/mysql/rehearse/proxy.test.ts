import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import mysql2 from 'mysql2/promise';
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { openSession } from '../../../../src/engines/mysql/connection/session.ts';
import { parseMysqlUrl } from '../../../../src/engines/mysql/connection/url.ts';
import { startProxy } from '../../../../src/engines/mysql/rehearse/proxy.ts';
import { modeText, STRONG_MODES } from '../../../../src/engines/mysql/rehearse/read-locks.ts';
import type { LoopbackProxy } from '../../../../src/engines/shared/rehearse/loopback-proxy.ts';
import { createRecorder, type Recorder } from '../../../../src/engines/shared/rehearse/recorder.ts';
import {
  describeWithMysql,
  startMysql,
  type TestFlavour,
  testedFlavours,
} from '../../../helpers/mysql/mysql-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

const USER = { name: 'app', password: 'word-for-tests' };

for (const flavour of testedFlavours('mariadb')) {
  describeWithMysql(flavour, { name: 'the proxy of a rehearsal' }, () => proxyOn(flavour));
}

function proxyOn(flavour: TestFlavour): void {
  const server = suiteResource(() => startMysql(flavour, ['--local-infile=ON', '--max-allowed-packet=64M']));
  let proxy: LoopbackProxy;
  let recorder: Recorder<string>;

  beforeAll(async () => {
    await server.createDatabase('branch');
    await server.createDatabase('other');
    await server.sql(
      '',
      `CREATE USER '${USER.name}'@'%' IDENTIFIED BY '${USER.password}'`,
      `GRANT ALL ON *.* TO '${USER.name}'@'%'`,
    );
  }, 60_000);

  beforeEach(async () => {
    await start('branch');
    await server.sql('branch', 'CREATE TABLE items (id int PRIMARY KEY, note longtext)');
  });

  afterEach(async () => {
    await proxy[Symbol.asyncDispose]();
    await server.sql('branch', 'DROP TABLE items');
  });

  async function start(database: string, parameters = ''): Promise<void> {
    recorder = createRecorder({ relations: new Map(), strongModes: STRONG_MODES, modeText });
    const url = parseMysqlUrl(`${server.url(database, USER)}${parameters}`);
    // The server keeps the password in its cache then, as after the tool's own session.
    await (await openSession({ url })).close();
    proxy = await startProxy({ url, recorder, sqlMode: '', look: async () => {} });
  }

  const options = () => ({
    ...{ host: '127.0.0.1', port: proxy.port, user: USER.name, password: USER.password, database: 'branch' },
    multipleStatements: true,
  });
  const seen = () =>
    recorder.end().statements.map(({ text, inTransaction, affected, error }) => ({
      ...{ text, inTransaction, affected, error: error?.code ?? null },
    }));

  it('notes plain and prepared statements with their rows, transactions and errors', async () => {
    const client = await mysql2.createConnection(options());
    await client.query('INSERT INTO items VALUES (1, "a"), (2, "b")');
    await client.query('START TRANSACTION');
    const [rows] = await client.execute('SELECT id, note FROM items WHERE id > ?', [0]);
    expect(rows).toHaveLength(2);
    await client.execute('UPDATE items SET note = ?', ['ann@example.com']);
    await client.query('COMMIT; SELECT 1; DELETE FROM items WHERE id = 2');
    const wrong = client.query('INSERT INTO items VALUES (1, NULL)');
    await expect(wrong).rejects.toMatchObject({ errno: 1062 });
    await expect(client.execute('SELEC ?', [1])).rejects.toMatchObject({ errno: 1064 });
    await client.end();
    expect(seen()).toEqual([
      { text: 'INSERT INTO items VALUES (1, "a"), (2, "b")', inTransaction: false, affected: [2], error: null },
      { text: 'START TRANSACTION', inTransaction: false, affected: [0], error: null },
      { text: 'SELECT id, note FROM items WHERE id > ?', inTransaction: true, affected: [0], error: null },
      { text: 'UPDATE items SET note = ?', inTransaction: true, affected: [2], error: null },
      {
        text: 'COMMIT; SELECT 1; DELETE FROM items WHERE id = 2',
        inTransaction: true,
        affected: [0, 0, 1],
        error: null,
      },
      { text: 'INSERT INTO items VALUES (1, NULL)', inTransaction: false, affected: [], error: '1062' },
      { text: 'SELEC ?', inTransaction: false, affected: [], error: '1064' },
    ]);
    expect(recorder.end().statements[5]?.error?.message).toBe(
      `Duplicate entry '***' for key ${flavour === 'mysql' ? "'items.PRIMARY'" : "'PRIMARY'"}`,
    );
  });

  it('passes on values of more than a packet, files of LOAD DATA LOCAL and many rows unchanged', async () => {
    const url = parseMysqlUrl(`mysql://${USER.name}:${USER.password}@127.0.0.1:${proxy.port}/branch`);
    const session = await openSession({ url, settings: [] });
    await session.execute(`INSERT INTO items VALUES (1, REPEAT('ab', ${9 * 2 ** 20}))`);
    const [long] = await session.query<{ note: string }>('SELECT note FROM items');
    expect(long?.note).toHaveLength(18 * 2 ** 20);
    const lines = Array.from({ length: 20_000 }, (_, at) => `${at + 2}\tDROP TABLE items;\n`).join('');
    async function* content() {
      for (let at = 0; at < lines.length; at += 1000) yield Buffer.from(lines.slice(at, at + 1000));
    }
    const load = "LOAD DATA LOCAL INFILE 'rows' INTO TABLE items";
    expect(await session.load(load, content())).toMatchObject({ rows: 20_000 });
    expect(await session.query('SELECT id FROM items')).toHaveLength(20_001);
    await session.execute('DO 1');
    await session.close();
    const texts = seen().map(({ text }) => text);
    expect(texts).toEqual([
      expect.stringMatching(/^INSERT/),
      'SELECT note FROM items',
      load,
      'SELECT id FROM items',
      'DO 1',
    ]);
  });

  it('leads to no other database or user, and reports no value of a password', async () => {
    const refused = { errno: 1044, message: 'this address leads to database "branch" as "app" only' };
    for (const other of [{ database: 'other' }, { user: 'root', password: '' }, { database: '' }]) {
      await expect(mysql2.createConnection({ ...options(), ...other })).rejects.toMatchObject(refused);
    }
    const wrong = mysql2.createConnection({ ...options(), password: 'wrong' });
    await expect(wrong).rejects.toMatchObject({ errno: 1045 });
    const changed = await mysql2.createConnection(options());
    await expect(changed.changeUser({ user: 'root', password: '' })).rejects.toBeDefined();
    const client = await mysql2.createConnection(options());
    await client.query('USE `branch`');
    await client.end();
    expect(seen().map(({ text }) => text)).toEqual(['USE `branch`']);
  });

  it('refuses statements that change another database, and leaves it as it is', async () => {
    await server.sql('other', 'CREATE TABLE IF NOT EXISTS users (id int PRIMARY KEY)', 'REPLACE INTO users VALUES (1)');
    const message =
      'a rehearsal changes its branch only, and this changes database "other". Name tables without their database, or with the name of the branch.';
    const refused = { errno: 1044, message };
    const behind = `SELECT '${' '.repeat(70_000)}'; DELETE FROM other.users`;
    const leaving = [
      'USE other',
      '/* here */ use `other`',
      'SELECT 1; USE other; DELETE FROM users',
      'DROP DATABASE other',
    ];
    for (const statement of ['DELETE FROM other.users', behind, ...leaving]) {
      const client = await mysql2.createConnection(options());
      await expect(client.query(statement)).rejects.toMatchObject(refused);
      const next = await mysql2.createConnection(options());
      await expect(next.execute(statement)).rejects.toMatchObject(refused);
    }
    const quoted = await mysql2.createConnection(options());
    await quoted.query("SET sql_mode = 'NO_BACKSLASH_ESCAPES'");
    await expect(quoted.query("SELECT '\\'; DELETE FROM other.users; -- '")).rejects.toMatchObject(refused);
    expect(seen()[0]).toMatchObject({ text: 'DELETE FROM other.users', error: '1044' });
    const reading = await mysql2.createConnection(options());
    const [rows] = await reading.query('SELECT id FROM other.users');
    expect(rows).toEqual([{ id: 1 }]);
    await reading.query('INSERT INTO items SELECT id, NULL FROM other.users; SELECT * FROM information_schema.tables');
    await reading.end();
  });

  it('serves the client program', async () => {
    const words = ['--no-defaults', '--protocol=TCP', '--host=127.0.0.1', `--port=${proxy.port}`, '--batch'];
    const statement = 'ALTER TABLE items FORCE; SELECT 7 AS seven';
    const { stdout } = await promisify(execFile)(
      'mariadb',
      [...words, `--user=${USER.name}`, 'branch', `--execute=${statement}`],
      { env: { ...process.env, MYSQL_PWD: USER.password } },
    );
    expect(stdout).toContain('seven\n7');
    expect(seen().map(({ text }) => text.trim())).toEqual(
      expect.arrayContaining(['ALTER TABLE items FORCE', 'SELECT 7 AS seven']),
    );
  });

  it('encrypts to the server where its URL requires it, and refuses to do without', async () => {
    await proxy[Symbol.asyncDispose]();
    await start('branch', '?tls=required').catch(() => {});
    const connected = mysql2.createConnection(options());
    if (flavour === 'mariadb') {
      await expect(connected).rejects.toBeDefined();
      return;
    }
    const client = await connected;
    const [rows] = await client.query("SHOW STATUS LIKE 'Ssl_cipher'");
    expect(rows).toMatchObject([{ Value: expect.stringMatching(/^TLS/) }]);
    await client.end();
    expect(seen()).toHaveLength(1);
  });
}
